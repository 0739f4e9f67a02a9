"""Where a middleware finds its voice.

In a session, and inside ``acp_agent``, the voice travels in a context variable. In somebody's own
``ainvoke`` it is found by the run: by the context that was given with it, or by the switchboard that
``acp_middleware`` gave its middlewares.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Protocol

from trunkline.agents.langchain.channel import VOICE, Channel

__all__ = ["ChannelSource", "TrunklineContext", "is_nested", "speaking_for", "voice_of"]


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
    """Gives the voice of a run, the same one for as long as the run lasts."""

    def connect(self, context: TrunklineContext | None) -> Channel | None:
        """The voice of the run this code is part of; None when nobody is there to talk to."""
        ...


def voice_of(runtime: Any, own: Any = None) -> Channel | None:
    """Find the voice of a run: ``own`` is the middleware (or callback handler) that asks."""
    voice = VOICE.get()
    if voice is not None:
        return voice
    given: Any = getattr(runtime, "context", None)
    context = given if isinstance(given, TrunklineContext) else None
    exchange: ChannelSource | None = getattr(own, "exchange", None)
    if exchange is None:
        if context is None or context.transport is None:
            return None
        from trunkline.agents.langchain.own_program.runs import SWITCHBOARD

        exchange = SWITCHBOARD
    return exchange.connect(context)


class speaking_for:
    """Lets whatever is called in its block find the run's voice by ``current_voice``.

    Not a generator: every call of a model and of a tool passes here.
    """

    __slots__ = ("_token", "_voice")

    def __init__(self, runtime: Any, own: Any = None) -> None:
        """Find the voice of a run, as ``voice_of`` does."""
        self._voice = voice_of(runtime, own)
        self._token: Any = None

    def __enter__(self) -> Channel | None:
        """Give the voice, which may be nobody's."""
        if self._voice is not None:
            self._token = VOICE.set(self._voice)
        return self._voice

    def __exit__(self, *error: object) -> None:
        """Leave the voice to whoever had it before."""
        if self._token is not None:
            VOICE.reset(self._token)


def is_nested(runtime: Any) -> bool:
    """Whether this is a graph inside another one; what its calls do is told by callback."""
    info = getattr(runtime, "execution_info", None)
    return info is not None and "|" in info.checkpoint_ns
