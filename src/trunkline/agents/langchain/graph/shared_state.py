"""The state that a graph shares with a front end: which fields, and which event shows a change of them."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Union, cast

import msgspec
from langchain.agents.middleware.types import OmitFromSchema
from langgraph.channels import BinaryOperatorAggregate, LastValue

from trunkline import events as ev
from trunkline.agents.langchain.graph.client_input import client_fields
from trunkline.agents.langchain.messages.plan import plan_in_state
from trunkline.json_patch import apply_patch, copy_json, diff, same_json

if TYPE_CHECKING:
    from trunkline.agents.langchain.channel import Channel

log = logging.getLogger("trunkline.langchain")

StateMapper = Callable[[dict[str, Any]], Any]
StateEvent = Union[ev.StateReplaced, ev.StatePatched]

_NOT_SHARED = frozenset({"messages", "jump_to", "structured_response"})
_PLAN, _STATE = "trunkline.plan_in_state", "trunkline.state"


class StateEvents:
    """The one policy of what is shown of a graph's state. Pure: it gives the event to emit, if any.

    ``initial``: the first state whole, then patches. ``all``: every state whole. ``final``: the last state
    whole. ``none``: no state.
    """

    def __init__(
        self,
        when: str = "initial",
        mapper: StateMapper | None = None,
        fields: Collection[str] | None = None,
        *,
        hidden: Collection[str] = (),
    ) -> None:
        """Show only these fields, or all but the hidden; ``mapper`` makes what is shown of their values."""
        self.when = when
        self._mapper = mapper
        self._fields = fields
        self._hidden = hidden
        self._has_failed = False

    def event(self, values: Mapping[str, Any], before: Any, *, last: bool = False) -> StateEvent | None:
        """The event that shows ``values``, where ``before`` is what was shown until now."""
        if self.when == "none" or (self.when == "final" and not last):
            return None
        now = self._shown(values)
        if now is None or same_json(now, before) or (before is None and not now):
            return None
        if self.when != "initial" or before is None:
            return ev.StateReplaced(state=now)
        return ev.StatePatched(patch=tuple(diff(before, now)))

    def _shown(self, values: Mapping[str, Any]) -> Any:
        shown = values.keys() if self._fields is None else self._fields
        shared = shareable({key: values[key] for key in values if key in shown and key not in self._hidden})
        if self._mapper is None:
            return shared
        try:
            return copy_json(msgspec.to_builtins(self._mapper(shared), str_keys=True))
        except Exception:
            # A bug of the mapper, or what is not JSON, costs the state that is shown, not the turn.
            if not self._has_failed:
                self._has_failed = True
                log.exception("the state mapper failed, so this state is not shown")
            return None


class SharedStateUpdates:
    """Emits the state and the plan of a graph in a turn, whenever they really changed."""

    def __init__(self, channel: Channel, graph: Any, middleware: Sequence[Any] = ()) -> None:
        """Emit through the channel of a run; a SessionMiddleware sets the policy."""
        self._channel = channel
        owner = next((item for item in middleware if hasattr(item, "emit_state_snapshots")), None)
        self._events = StateEvents(
            getattr(owner, "emit_state_snapshots", "initial"),
            getattr(owner, "state_mapper", None),
            output_fields(graph),
            hidden=client_fields(graph),
        )
        self._values: dict[str, Any] | None = None
        if not channel.follows_run:
            channel.emitter.restore_plan(channel.memory.get(_PLAN))

    def update(self, values: dict[str, Any]) -> None:
        """Take the reduced values of a graph after a step."""
        self._channel.memory[_PLAN] = plan = plan_in_state(values)
        self._channel.emitter.plan(plan)
        self._values = values
        show_state(self._channel, self._events, values)

    def emit_fields(self, fields: dict[str, Any]) -> None:
        """Show some fields of the state before the node that has them ends."""
        shown: Any = self._channel.ctx.state.value if self._values is None else self._values
        show_state(self._channel, self._events, {**cast("dict[str, Any]", shown or {}), **fields})

    def finish(self) -> None:
        """Emit the last state, if the policy shows it only then."""
        if self._values is not None and self._events.when == "final":
            show_state(self._channel, self._events, self._values, last=True)


def show_state(
    channel: Channel, events: StateEvents, values: Mapping[str, Any], *, last: bool = False
) -> None:
    """Emit what is new in a state since the client of a channel was last shown one."""
    if channel.follows_run:
        shared = channel.ctx.state
        event = events.event(values, shared.value, last=last)
        if isinstance(event, ev.StateReplaced):
            shared.replace(event.state)
        elif event is not None:
            channel.ctx.emit(event)
        return
    shown = channel.shown
    event = events.event(values, shown.get(_STATE), last=last)
    if event is not None:
        whole = isinstance(event, ev.StateReplaced)
        shown[_STATE] = event.state if whole else apply_patch(shown[_STATE], event.patch)
        channel.emit(event)


def output_fields(graph: Any) -> frozenset[str] | None:
    """The fields of a graph's output, which are all that it shows; None for a graph that does not say."""
    builder: Any = getattr(graph, "builder", None)
    schemas: Any = getattr(builder, "schemas", {})
    fields = schemas.get(getattr(builder, "output_schema", None))
    return None if fields is None else frozenset(fields)


def public_channels(channels: Mapping[str, Any]) -> list[str]:
    """The channels of a run of ``create_agent`` that its output has too.

    A running graph has its channels and not its schemas. A field that names a channel class of its own keeps
    no annotation, so it may be private: only the messages are known not to be.
    """
    return [name for name, channel in channels.items() if name == "messages" or _is_public(channel)]


def _is_public(channel: Any) -> bool:
    if type(channel) not in (LastValue, BinaryOperatorAggregate):
        return False
    notes = getattr(channel.typ, "__metadata__", ())
    return not any(isinstance(note, OmitFromSchema) and note.output for note in notes)


def shareable(values: Mapping[str, Any]) -> dict[str, Any]:
    """The part of a graph's values that JSON can carry, without its messages."""
    shared: dict[str, Any] = {}
    for key, value in values.items():
        if key in _NOT_SHARED or key.startswith("_"):
            continue
        try:
            shared[key] = copy_json(msgspec.to_builtins(value, str_keys=True))
        except (TypeError, ValueError):
            continue
    return shared
