"""The state that a graph shares with a front end: which fields, and which event shows a change of them."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Union, cast

import msgspec

from trunkline import events as ev
from trunkline.agents.langchain.graph.client_input import client_fields
from trunkline.agents.langchain.messages.emitter import Emitter
from trunkline.agents.langchain.messages.plan import plan_in_state
from trunkline.json_patch import copy_json, diff, same_json
from trunkline.session.context import TurnContext

__all__ = ["SharedStateUpdates", "StateEvents", "hidden_fields", "shareable"]

log = logging.getLogger("trunkline.langchain")

StateMapper = Callable[[dict[str, Any]], Any]
StateEvent = Union[ev.StateReplaced, ev.StatePatched]

_NOT_SHARED = frozenset({"messages", "jump_to", "structured_response"})


class StateEvents:
    """The one policy of what is shown of a graph's state. Pure: it gives the event to emit, if any.

    ``initial``: the first state whole, then patches. ``all``: every state whole. ``final``: the last state
    whole. ``none``: no state.
    """

    def __init__(
        self, when: str = "initial", mapper: StateMapper | None = None, hidden: frozenset[str] = frozenset()
    ) -> None:
        """Leave ``hidden`` fields out; ``mapper`` makes what is shown of the fields that are left."""
        self.when = when
        self._mapper = mapper
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
        shared = shareable({key: value for key, value in values.items() if key not in self._hidden})
        if self._mapper is None:
            return shared
        try:
            return copy_json(self._mapper(shared))
        except Exception:
            # A bug of the mapper costs the state that is shown, not the turn.
            if not self._has_failed:
                self._has_failed = True
                log.exception("the state mapper failed, so this state is not shown")
            return None


class SharedStateUpdates:
    """Emits the state and the plan of a graph in a turn, whenever they really changed."""

    def __init__(
        self, ctx: TurnContext, emitter: Emitter, graph: Any, middleware: Sequence[Any] = ()
    ) -> None:
        """Emit through a turn's context; a SessionMiddleware of the graph sets the policy."""
        self._ctx = ctx
        self._emitter = emitter
        owner = next((item for item in middleware if hasattr(item, "emit_state_snapshots")), None)
        self._events = StateEvents(
            getattr(owner, "emit_state_snapshots", "initial"),
            getattr(owner, "state_mapper", None),
            hidden_fields(graph) | client_fields(graph),
        )
        self._values: dict[str, Any] | None = None

    def update(self, values: dict[str, Any]) -> None:
        """Take the reduced values of a graph after a step."""
        self._emitter.plan(plan_in_state(values))
        self._values = values
        self._emit(values, last=False)

    def emit_fields(self, fields: dict[str, Any]) -> None:
        """Show some fields of the state before the node that has them ends."""
        shown: Any = self._ctx.state.value if self._values is None else self._values
        self._emit({**cast("dict[str, Any]", shown or {}), **fields}, last=False)

    def finish(self) -> None:
        """Emit the last state, if the policy shows it only then."""
        if self._values is not None and self._events.when == "final":
            self._emit(self._values, last=True)

    def _emit(self, values: dict[str, Any], *, last: bool) -> None:
        event = self._events.event(values, self._ctx.state.value, last=last)
        if isinstance(event, ev.StateReplaced):
            self._ctx.state.replace(event.state)
        elif event is not None:
            self._ctx.emit(event)


def hidden_fields(graph: Any) -> frozenset[str]:
    """The fields that a graph keeps to itself: those that its output leaves out."""
    builder: Any = getattr(graph, "builder", None)
    schemas: Any = getattr(builder, "schemas", {})
    shown = schemas.get(getattr(builder, "output_schema", None))
    every = schemas.get(getattr(builder, "state_schema", None))
    return frozenset(every or ()) - frozenset(shown or every or ())


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
