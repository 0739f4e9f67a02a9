"""State: what a graph's values mean to a front end, as a snapshot first and patches after."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from trunkline import events as ev
from trunkline.agents.langchain.messages.emitter import Emitter
from trunkline.json_patch import copy_json, diff, same_json
from trunkline.session.context import TurnContext

__all__ = ["SharedStateUpdates", "hidden_fields", "plan_in", "shareable"]

log = logging.getLogger("trunkline.langchain")

_NOT_SHARED = frozenset({"messages", "jump_to", "structured_response"})
_PLANS = ("todos", "plan")


class SharedStateUpdates:
    """Says the state of a graph whenever it really changed."""

    def __init__(
        self, ctx: TurnContext, emitter: Emitter, graph: Any, middleware: Sequence[Any] = ()
    ) -> None:
        """Speak through a turn's context; a SessionMiddleware in the graph says how much."""
        self._ctx = ctx
        self._emitter = emitter
        owner = next((item for item in middleware if hasattr(item, "emit_state_snapshots")), None)
        self._when: str = getattr(owner, "emit_state_snapshots", "initial")
        self._hidden = hidden_fields(graph)
        self._mapper: Callable[[dict[str, Any]], Any] | None = getattr(owner, "state_mapper", None)
        self._last: Any = None

    def tell(self, values: dict[str, Any]) -> None:
        """Take the reduced values of a graph."""
        self._emitter.plan(plan_in(values))
        if self._when == "none":
            return
        shared = shareable({key: value for key, value in values.items() if key not in self._hidden})
        try:
            self._last = shared if self._mapper is None else self._mapper(shared)
        except Exception:
            # Its bugs cost the state that is shown, not the turn.
            self._mapper, self._when = None, "none"
            log.exception("the state mapper failed, so no state is shown in this turn")
            return
        if self._when != "final":
            self._say(whole=self._when == "all")

    def finish(self) -> None:
        """Say the last state, if it is said only then."""
        if self._when == "final" and self._last is not None:
            self._say(whole=True)

    def _say(self, *, whole: bool) -> None:
        before: Any = self._ctx.state.value
        now = self._last
        if same_json(now, before) or (before is None and not now):
            return
        if whole or before is None:
            self._ctx.state.replace(now)
        else:
            self._ctx.emit(ev.StatePatched(patch=tuple(diff(before, now))))


def plan_in(values: dict[str, Any]) -> Any:
    """The plan among a graph's values, if it keeps one."""
    return next((values[field] for field in _PLANS if isinstance(values.get(field), list)), None)


def hidden_fields(graph: Any) -> frozenset[str]:
    """The fields that a graph keeps to itself: those that its output leaves out."""
    builder: Any = getattr(graph, "builder", None)
    schemas: Any = getattr(builder, "schemas", {})
    shown = schemas.get(getattr(builder, "output_schema", None))
    every = schemas.get(getattr(builder, "state_schema", None))
    return frozenset(every or ()) - frozenset(shown or every or ())


def shareable(values: dict[str, Any]) -> dict[str, Any]:
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
