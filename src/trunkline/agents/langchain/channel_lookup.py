"""Where a middleware finds the channel of its run.

In a session, and inside ``acp_agent``, the channel travels in a context variable. In somebody's own
``ainvoke`` it is found by the run: by the context that was given with it, or by the runs that
``acp_middleware`` or ``agui_middleware`` gave its middlewares.
"""

from __future__ import annotations

from typing import Any, Protocol

from trunkline.agents.langchain.channel import CHANNEL, Channel
from trunkline.agents.langchain.hosted.context import TrunklineContext
from trunkline.agents.langchain.hosted.run_channels import runs_of_context
from trunkline.session.context import CURRENT

__all__ = ["ChannelSource", "find_channel", "is_nested", "use_run_channel"]


class ChannelSource(Protocol):
    """Gives the channel of a run, the same one for as long as the run lasts."""

    def connect(self, context: TrunklineContext | None) -> Channel | None:
        """The channel of the run this code is part of; None when there is no transport."""
        ...


def find_channel(runtime: Any, own: Any = None) -> Channel | None:
    """Find the channel of a run: ``own`` is the middleware (or callback handler) that asks."""
    channel = CHANNEL.get()
    if channel is not None:
        return channel
    given: Any = getattr(runtime, "context", None)
    context = given if isinstance(given, TrunklineContext) else None
    source: ChannelSource | None = getattr(own, "channel_source", None)
    if source is None:
        if context is None or context.transport is None:
            return None
        source = runs_of_context(context.transport)
    return source.connect(context)


class use_run_channel:
    """Lets the code in its block find the run's channel, and the turn by ``trunkline.context.current``.

    Not a generator: every call of a model and of a tool passes here.
    """

    __slots__ = ("_channel", "_token", "_turn")

    def __init__(self, runtime: Any, own: Any = None) -> None:
        """Find the channel of a run, as ``find_channel`` does."""
        self._channel = find_channel(runtime, own)
        self._token: Any = None
        self._turn: Any = None

    def __enter__(self) -> Channel | None:
        if self._channel is not None:
            self._token = CHANNEL.set(self._channel)
            self._turn = CURRENT.set(self._channel.ctx)
        return self._channel

    def __exit__(self, *error: object) -> None:
        if self._token is not None:
            CHANNEL.reset(self._token)
            CURRENT.reset(self._turn)


def is_nested(runtime: Any) -> bool:
    """Whether this is a graph inside another one; what its calls do is told by callback."""
    info = getattr(runtime, "execution_info", None)
    return info is not None and "|" in info.checkpoint_ns
