"""Sees runs of a graph begin and finish, and finds the middlewares of a graph, without a hook.

A hook is not free: LangChain traces each call, and an ``after_agent`` hook is a step of the graph with a
checkpoint of its own (0.25 ms of an invocation of 2.2 ms, langchain 1.4). Nor is it early or late enough:
another middleware may raise, or jump to the end, before it. So a middleware adds a channel to the graph's
state instead. LangGraph makes all channels when a run begins, before its first step, and calls ``finish`` of
each when no step is left. The channel holds nothing, and no input, output, stream or checkpoint ever has it.
"""

from __future__ import annotations

import inspect
import itertools
import logging
import weakref
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, NotRequired, Self, TypedDict, cast, get_type_hints

from langchain.agents.middleware import AgentMiddleware
from langchain.agents.middleware.types import PrivateStateAttr
from langgraph.channels.base import BaseChannel
from langgraph.errors import EmptyChannelError
from langgraph.pregel import _algo
from langgraph.pregel._loop import PregelLoop

from trunkline.agents.langchain.graph.shared_state import public_channels
from trunkline.errors import ConfigurationError

log = logging.getLogger("trunkline.langchain")

Middleware = AgentMiddleware[Any, Any, Any]
Channels = Mapping[str, BaseChannel[Any, Any, Any]]
AtEnd = Callable[[dict[str, Any]], None]
"""Called with the last state of a run."""
Begin = Callable[[Any, PregelLoop], "AtEnd | None"]
"""Called with a middleware and the loop of a run that begins; gives what to call when the run finishes."""

_READ, _TASKS = "__pregel_read", "__pregel_tasks"
_NUMBERS = itertools.count(1)
_FRAMES_TO_LOOP = 3  # from_checkpoint() of the channel, channels_from_checkpoint(), and the loop's __enter__.

# A run's config reads its state by this function with its first arguments; the channels are among them.
_local_read: Any = getattr(_algo, "local_read", None)
_READS_CHANNELS = _local_read is not None and list(inspect.signature(_local_read).parameters)[1] == "channels"


class RunObserver(BaseChannel[Any, Any, Any]):
    """A channel of a graph's state that stands for a middleware and sees runs begin and finish."""

    __slots__ = ("_at_end", "_begin", "_loop", "middleware")

    def __init__(self, middleware: Middleware, key: str = "", begin: Begin | None = None) -> None:
        """Stand for a middleware; ``begin`` is called when a run begins."""
        super().__init__(Any, key)
        self.middleware = middleware
        self._begin = begin
        self._loop: weakref.ref[PregelLoop] | None = None
        self._at_end: AtEnd | None = None

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
        return isinstance(other, RunObserver) and other.middleware is self.middleware

    __hash__ = object.__hash__

    def from_checkpoint(self, checkpoint: Any) -> Self:
        """Give the channel of a run that begins now, or of a state that is only read.

        It raises nothing but ConfigurationError, of a run whose transport can be none.
        """
        channel = type(self)(self.middleware, self.key, self._begin)
        if self._begin is not None and (loop := _loop_from_stack()) is not None:
            try:
                channel._at_end = self._begin(self.middleware, loop)
                channel._loop = weakref.ref(loop)
            except ConfigurationError:
                raise
            except Exception:
                log.exception("the beginning of a run could not be handled")
        return channel

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
        at_end, loop = self._at_end, self._loop() if self._loop is not None else None
        channels = cast("Channels", cast("Any", loop).channels if loop is not None else {})
        if at_end is not None and channels and not channels[_TASKS].is_available():
            self._at_end = None
            try:
                at_end(_values(channels))
            except Exception:
                log.exception("the end of a run could not be handled")
        return False


def _loop_from_stack() -> PregelLoop | None:
    """The loop of the run that begins: LangGraph gives it to no channel, so it is read from the stack.

    Without it a run would need a ``before_agent`` hook, 0.25 ms, and not be seen when it fails before that.
    """
    frame: Any = inspect.currentframe()
    for _ in range(_FRAMES_TO_LOOP):
        frame = frame and frame.f_back
    loop = frame and frame.f_locals.get("self")
    return loop if isinstance(loop, PregelLoop) else None


def _values(channels: Channels) -> dict[str, Any]:
    """The values of a state, without its private fields."""
    return {name: channels[name].get() for name in public_channels(channels) if channels[name].is_available()}


def add_to_state(middleware: Middleware, begin: Begin | None = None) -> None:
    """Add the channel of a middleware to the state of its graphs; ``begin`` is called for each run."""
    field = Annotated[NotRequired[Any], RunObserver(middleware, begin=begin), PrivateStateAttr]
    schema, usual = middleware.state_schema, cast("Any", AgentMiddleware).state_schema
    own = {} if schema is usual else get_type_hints(schema, include_extras=True)
    # A number and not the middleware's name, which a subclass may not know before its own __init__.
    name = f"_trunkline_{next(_NUMBERS)}"
    middleware.state_schema = cast("Any", TypedDict)("WithRunObserver", {**own, name: field})


def middlewares_in(channels: Channels) -> list[Middleware]:
    """The middlewares that added a channel to the state of a graph, or of a run."""
    found = [channel.middleware for channel in channels.values() if isinstance(channel, RunObserver)]
    return [piece for one in found for piece in getattr(one, "pieces", (one,))]


def state_channels(config: Any) -> Channels:
    """The channels of the run that has this config."""
    read: Any = config["configurable"].get(_READ) if _READS_CHANNELS else None
    return {} if read is None else read.args[1]
