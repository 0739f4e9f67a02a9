"""Tells a middleware when a run of its graph ends, and finds the middlewares of a graph, without a hook.

A hook is not free: LangChain traces each call, and an ``after_agent`` hook is a step of the graph with a
checkpoint of its own (0.25 ms of an invocation of 2.2 ms, langchain 1.4). So a middleware adds a channel to
the graph's state instead: LangGraph calls ``finish`` of every channel when a run finishes. The channel holds
nothing, and no input, output, stream or checkpoint ever has it.

Not every run calls a model: a guard may answer in its place, and one that is resumed may have only a tool
left. Such a run called no hook of ours, so the channel looks for the run itself.
"""

from __future__ import annotations

import inspect
import itertools
import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, NotRequired, Self, TypedDict, cast, get_type_hints

from langchain.agents.middleware import AgentMiddleware
from langchain.agents.middleware.types import PrivateStateAttr
from langchain_core.runnables.config import set_config_context
from langgraph.channels.base import BaseChannel
from langgraph.errors import EmptyChannelError
from langgraph.pregel import _algo
from langgraph.pregel._loop import PregelLoop

__all__ = ["SEES_END_OF_RUN", "EndOfRun", "add_to_state", "call_at_end", "middlewares_in", "state_channels"]

log = logging.getLogger("trunkline.langchain")

Middleware = AgentMiddleware[Any, Any, Any]
Channels = Mapping[str, BaseChannel[Any, Any, Any]]
AtEnd = Callable[[dict[str, Any]], None]
"""Called with the last state of a run."""

_READ, _TASKS = "__pregel_read", "__pregel_tasks"
_INTERNAL = ("__", "branch:", "join:")
_NUMBERS = itertools.count(1)
_FRAMES_TO_LOOP = 3  # finish() of the channel, apply_writes(), and the method of the loop.

# A run's config reads its state by this function with its first arguments; the channels are among them.
_local_read: Any = getattr(_algo, "local_read", None)
SEES_END_OF_RUN = _local_read is not None and list(inspect.signature(_local_read).parameters)[1] == "channels"
"""Whether channels see the end of a run in this LangGraph; where they do not, ``after_agent`` does."""


class EndOfRun(BaseChannel[Any, Any, Any]):
    """A channel of a graph's state that stands for a middleware and sees runs finish."""

    __slots__ = ("at_end", "at_unseen_end", "middleware")

    def __init__(self, middleware: Middleware, key: str = "", at_unseen_end: AtEnd | None = None) -> None:
        """Stand for a middleware; ``at_unseen_end`` is called for a run that called none of its hooks."""
        super().__init__(Any, key)
        self.middleware = middleware
        self.at_unseen_end = at_unseen_end
        self.at_end: Callable[[], None] | None = None

    @property
    def ValueType(self) -> Any:
        """Nothing is ever kept."""
        return Any

    @property
    def UpdateType(self) -> Any:
        """Nothing is ever taken."""
        return Any

    def __eq__(self, other: object) -> bool:
        """Be the same in every schema of a graph."""
        return isinstance(other, EndOfRun) and other.middleware is self.middleware

    __hash__ = object.__hash__

    def from_checkpoint(self, checkpoint: Any) -> Self:
        """A channel for another run, whose hooks were not called yet."""
        return type(self)(self.middleware, self.key, self.at_unseen_end)

    def copy(self) -> Self:
        """The same: there is nothing that could change."""
        return self

    def get(self) -> Any:
        """Have no value."""
        raise EmptyChannelError

    def is_available(self) -> bool:
        """Have no value."""
        return False

    def update(self, values: Sequence[Any]) -> bool:
        """Take nothing."""
        return False

    def finish(self) -> bool:
        """Call what waits for the end of the run; never raises into it."""
        try:
            if self.at_end is not None:
                self.at_end()
            elif self.at_unseen_end is not None:
                _end_unseen_run(_loop_from_stack(), self.at_unseen_end)
        except Exception:
            log.exception("the end of a run could not be handled")
        return False


def _end_unseen_run(loop: Any, at_end: AtEnd) -> None:
    """Call ``at_end`` in the context of a run; a graph inside another one is not a run of its own."""
    if loop is None or loop.config["configurable"].get("checkpoint_ns") or _has_tasks(loop.channels):
        return
    with set_config_context(loop.config) as context:
        context.run(at_end, _values(loop.channels))


def _loop_from_stack() -> PregelLoop | None:
    """The loop of the run that finishes: LangGraph passes it to no channel, so it is read from the stack.

    Only runs that called no hook come here, once each. Without it they would need an ``after_agent`` hook.
    """
    frame: Any = inspect.currentframe()
    for _ in range(_FRAMES_TO_LOOP):
        frame = frame and frame.f_back
    loop = frame and frame.f_locals.get("self")
    return loop if isinstance(loop, PregelLoop) else None


def _has_tasks(channels: Channels) -> bool:
    """Whether there are calls still to be made."""
    return channels[_TASKS].is_available()


def _values(channels: Channels) -> dict[str, Any]:
    """The values of a state."""
    return {
        name: channel.get()
        for name, channel in channels.items()
        if not name.startswith(_INTERNAL) and channel.is_available()
    }


def add_to_state(middleware: Middleware, at_unseen_end: AtEnd | None = None) -> str:
    """Add the channel of a middleware to the state of its graphs; give the channel's name.

    ``at_unseen_end`` is called at the end of a run that called no hook of the middleware.
    """
    channel = EndOfRun(middleware, at_unseen_end=at_unseen_end if SEES_END_OF_RUN else None)
    field = Annotated[NotRequired[Any], channel, PrivateStateAttr]
    schema, usual = middleware.state_schema, cast("Any", AgentMiddleware).state_schema
    own = {} if schema is usual else get_type_hints(schema, include_extras=True)
    # A number and not the middleware's name, which a subclass may not know before its own __init__.
    name = f"_trunkline_{next(_NUMBERS)}"
    middleware.state_schema = cast("Any", TypedDict)("WithEndOfRun", {**own, name: field})
    return name


def middlewares_in(channels: Channels) -> list[Middleware]:
    """The middlewares that added a channel to the state of a graph, or of a run."""
    found = [channel.middleware for channel in channels.values() if isinstance(channel, EndOfRun)]
    return [piece for one in found for piece in getattr(one, "pieces", (one,))]


def state_channels(config: Any) -> Channels:
    """The channels of the run that has this config."""
    read: Any = config["configurable"].get(_READ) if SEES_END_OF_RUN else None
    return {} if read is None else read.args[1]


def call_at_end(config: Any, channel_name: str, at_end: AtEnd) -> None:
    """Call ``at_end`` with the last state, once, when the run that has this config finishes."""
    channels = state_channels(config)
    channel = channels.get(channel_name)
    if type(channel) is not EndOfRun or channel.at_end is not None:
        return

    def end() -> None:
        if not _has_tasks(channels):
            channel.at_end = None
            at_end(_values(channels))

    channel.at_end = end
