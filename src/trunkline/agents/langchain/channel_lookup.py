"""Where a middleware finds its channel.

In a session, and inside ``acp_agent``, the channel travels in a context variable. In somebody's own
``ainvoke`` it is found by the run: by the context that was given with it, or by the switchboard that
``acp_middleware`` gave its middlewares.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Protocol

from trunkline.agents.langchain.channel import CHANNEL, Channel

__all__ = ["ChannelSource", "TrunklineContext", "is_nested", "use_run_channel", "find_channel"]


@dataclass(kw_only=True)
class TrunklineContext:
    """Says for one invocation whom the agent talks to; the ``context`` of a run.

    It is never part of a checkpoint, so one agent serves many clients. Your own context may be a
    subclass of it.
    """

    transport: Any = field(default=None, repr=False)
    thread_id: str | None = None
    run_id: str | None = None


class ChannelSource(Protocol):
    """Gives the channel of a run, the same one for as long as the run lasts."""

    def connect(self, context: TrunklineContext | None) -> Channel | None:
        """The channel of the run this code is part of; None when nobody is there to talk to."""
        ...


def find_channel(runtime: Any, own: Any = None) -> Channel | None:
    """Find the channel of a run: ``own`` is the middleware (or callback handler) that asks."""
    channel = CHANNEL.get()
    if channel is not None:
        return channel
    given: Any = getattr(runtime, "context", None)
    context = given if isinstance(given, TrunklineContext) else None
    channel_source: ChannelSource | None = getattr(own, "channel_source", None)
    if channel_source is None:
        if context is None or context.transport is None:
            return None
        from trunkline.agents.langchain.own_program.runs import SWITCHBOARD

        channel_source = SWITCHBOARD
    return channel_source.connect(context)


class use_run_channel:
    """Lets whatever is called in its block find the run's channel by ``current_channel``.

    Not a generator: every call of a model and of a tool passes here.
    """

    __slots__ = ("_channel", "_token")

    def __init__(self, runtime: Any, own: Any = None) -> None:
        """Find the channel of a run, as ``find_channel`` does."""
        self._channel = find_channel(runtime, own)
        self._token: Any = None

    def __enter__(self) -> Channel | None:
        """Give the channel, which may be nobody's."""
        if self._channel is not None:
            self._token = CHANNEL.set(self._channel)
        return self._channel

    def __exit__(self, *error: object) -> None:
        """Leave the channel to whoever had it before."""
        if self._token is not None:
            CHANNEL.reset(self._token)


def is_nested(runtime: Any) -> bool:
    """Whether this is a graph inside another one; what its calls do is told by callback."""
    info = getattr(runtime, "execution_info", None)
    return info is not None and "|" in info.checkpoint_ns
