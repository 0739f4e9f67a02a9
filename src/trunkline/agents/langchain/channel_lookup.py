"""Where a middleware finds the channel of its run.

In a session, and inside ``acp_agent``, the channel travels in a context variable. In somebody's own
``ainvoke`` it is found by the run: by the context that was given with it, by the runs that
``acp_middleware`` or ``agui_middleware`` gave its middlewares, or by a callback handler with a transport.
"""

from __future__ import annotations

from typing import Any, Protocol

from langgraph.config import get_config
from langgraph.runtime import get_runtime

from trunkline.agents.langchain.callbacks.session_handler import handlers_in
from trunkline.agents.langchain.channel import CHANNEL, Channel, current_channel
from trunkline.agents.langchain.hosted.context import TrunklineContext, read_context
from trunkline.agents.langchain.hosted.run_channels import runs_of_context
from trunkline.session.context import CURRENT


class ChannelSource(Protocol):
    """Gives the channel of a run, the same one for as long as the run lasts."""

    def connect(self, context: TrunklineContext | None, config: Any = None) -> Channel | None:
        """The channel of the run this code is part of, or that has this config; None without a transport."""
        ...

    def has_run_in(self, outer: Channel, context: TrunklineContext | None) -> bool:
        """Whether a run that begins inside another one is part of it."""
        ...

    def open(self, context: TrunklineContext | None, config: Any) -> Channel | None:
        """The channel of a run that is no graph's, and begins here; None without a transport."""
        ...


def find_channel(runtime: Any, own: Any = None) -> Channel | None:
    """Find the channel of a run: ``own`` is the middleware (or callback handler) that asks."""
    channel = CHANNEL.get()
    source: ChannelSource | None = getattr(own, "channel_source", None)
    if channel is not None and (source is None or channel.source in (None, source)):
        return channel
    context = read_context(getattr(runtime, "context", None))
    if channel is not None and source is not None:
        is_part = source.has_run_in(channel, context)
        return channel if is_part else _beside(channel, source.connect(context))
    source = find_source(context, own)
    return None if source is None else source.connect(context)


def find_source(context: TrunklineContext | None, own: Any, config: Any = None) -> ChannelSource | None:
    """Find what gives the channel of a run; ``config`` is the run's, where this code is not part of it."""
    source: ChannelSource | None = getattr(own, "channel_source", None)
    if source is not None:
        return source
    if context is not None and hasattr(context.transport, "emit"):
        return runs_of_context(context.transport)
    try:
        handlers = handlers_in(config or get_config())
    except RuntimeError:
        return None
    # A callback handler of the run may have been given a transport.
    return next((one.channel_source for one in handlers if getattr(one, "channel_source", None)), None)


def _beside(channel: Channel, other: Channel | None) -> Channel:
    """The channel of another front end that is shown the same run; one without a transport shows nothing."""
    if other is None or other is channel:
        return channel
    channel.beside.add(other)
    other.beside.add(channel)
    return other


def channels_here() -> list[Channel]:
    """The channels of the run this is called in: one for each front end; none outside of a run."""
    try:
        channel = current_channel() or find_channel(get_runtime())
    except RuntimeError:
        return []
    return [] if channel is None else [channel, *channel.beside]


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
