"""The presence of a middleware in a graph: it can be found there, and it hears when a run finishes.

A hook is not free: LangChain traces each of its calls, and a hook after the agent is a step of the graph
with a checkpoint of its own. A channel of the state that holds nothing costs next to nothing. So a middleware
that has nothing to do has no hooks and is found by its channel, and one that waits for the end is told by it:
LangGraph tells the channels when a run finishes. No input, output, stream or checkpoint ever has it.

Not every run calls a model: a guard may answer in its place, and one that is resumed may have a tool left.
There no hook of ours was ever called, so nobody listens, and the channel asks the run itself.
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

__all__ = ["AUDIBLE", "Presence", "attend", "channels_of", "hear_end", "present"]

log = logging.getLogger("trunkline.langchain")

Middleware = AgentMiddleware[Any, Any, Any]
Channels = Mapping[str, BaseChannel[Any, Any, Any]]
Told = Callable[[dict[str, Any]], None]

_READ, _SENT = "__pregel_read", "__pregel_tasks"
_INSIDES = ("__", "branch:", "join:")
_PLACES = itertools.count(1)
_DEPTH = 3  # Over finish and apply_writes to the loop.

# A run's config reads its state by this function with its first arguments; the channels are among them.
_local_read: Any = getattr(_algo, "local_read", None)
AUDIBLE = _local_read is not None and list(inspect.signature(_local_read).parameters)[1] == "channels"
"""Whether the end of a run can be heard in this LangGraph; where it cannot, a step of the graph tells it."""


class Presence(BaseChannel[Any, Any, Any]):
    """Stands for a middleware; holds nothing."""

    __slots__ = ("listener", "middleware", "overhear")

    def __init__(self, middleware: Middleware, key: str = "", overhear: Told | None = None) -> None:
        """Stand for a middleware; nobody listens yet, and ``overhear`` is told where nobody ever did."""
        super().__init__(Any, key)
        self.middleware = middleware
        self.overhear = overhear
        self.listener: Callable[[], None] | None = None

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
        return isinstance(other, Presence) and other.middleware is self.middleware

    __hash__ = object.__hash__

    def from_checkpoint(self, checkpoint: Any) -> Self:
        """One for another run, to which nobody listens yet."""
        return type(self)(self.middleware, self.key, self.overhear)

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
        """Tell whoever listens; never raises into the run."""
        try:
            if self.listener is not None:
                self.listener()
            elif self.overhear is not None:
                _tell_of_end(_loop_here(), self.overhear)
        except Exception:
            log.exception("the end of a run could not be told")
        return False


def _tell_of_end(loop: Any, told: Told) -> None:
    """Tell a middleware of a run that never called it; one inside of another is not its own."""
    if loop is None or loop.config["configurable"].get("checkpoint_ns") or _goes_on(loop.channels):
        return
    with set_config_context(loop.config) as context:
        context.run(told, _values(loop.channels))


def _loop_here() -> PregelLoop | None:
    """The loop of the run whose channels are told: nothing but the stack knows it."""
    frame: Any = inspect.currentframe()
    for _ in range(_DEPTH):
        frame = frame and frame.f_back
    loop = frame and frame.f_locals.get("self")
    return loop if isinstance(loop, PregelLoop) else None


def _goes_on(channels: Channels) -> bool:
    """Whether there are calls still to be made."""
    return channels[_SENT].is_available()


def _values(channels: Channels) -> dict[str, Any]:
    """What the channels of a state hold."""
    return {
        name: channel.get()
        for name, channel in channels.items()
        if not name.startswith(_INSIDES) and channel.is_available()
    }


def attend(middleware: Middleware, overhear: Told | None = None) -> str:
    """Let a middleware be present in the graphs it is given to, with no hook if need be; give its place.

    ``overhear`` is told of the end of a run that called no hook.
    """
    presence = Presence(middleware, overhear=overhear if AUDIBLE else None)
    field = Annotated[NotRequired[Any], presence, PrivateStateAttr]
    schema, usual = middleware.state_schema, cast("Any", AgentMiddleware).state_schema
    own = {} if schema is usual else get_type_hints(schema, include_extras=True)
    # Not by its name, which a class of somebody's own may not know yet.
    place = f"_trunkline_{next(_PLACES)}"
    middleware.state_schema = cast("Any", TypedDict)("Present", {**own, place: field})
    return place


def present(channels: Channels) -> list[Middleware]:
    """The middlewares that are present in the channels of a graph, or of a run."""
    found = [channel.middleware for channel in channels.values() if isinstance(channel, Presence)]
    return [piece for one in found for piece in getattr(one, "pieces", (one,))]


def channels_of(config: Any) -> Channels:
    """The channels of the run that has this config."""
    read: Any = config["configurable"].get(_READ) if AUDIBLE else None
    return {} if read is None else read.args[1]


def hear_end(config: Any, place: str, told: Told) -> None:
    """Call ``told`` with the last state, once, when the run that has this config finishes."""
    channels = channels_of(config)
    presence = channels.get(place)
    if type(presence) is not Presence or presence.listener is not None:
        return

    def listen() -> None:
        if not _goes_on(channels):
            presence.listener = None
            told(_values(channels))

    presence.listener = listen
