"""State: what a graph's values mean to a front end, as a snapshot first and patches after."""

from __future__ import annotations

from typing import Any, cast

import msgspec

from trunkline import events as ev
from trunkline.agents.langchain.emitter import Emitter
from trunkline.context import TurnContext
from trunkline.patches import diff

__all__ = ["StateTeller", "shareable"]

_NOT_SHARED = frozenset({"messages", "jump_to", "structured_response"})


class StateTeller:
    """Says the state of a graph whenever it really changed."""

    def __init__(self, ctx: TurnContext, emitter: Emitter) -> None:
        """Speak through a turn's context."""
        self._ctx = ctx
        self._emitter = emitter

    def tell(self, values: Any) -> None:
        """Take the reduced values of a graph."""
        if not isinstance(values, dict):
            return
        told = cast("dict[str, Any]", values)
        for field in ("todos", "plan"):
            self._emitter.plan(told.get(field))
        now = shareable(told)
        before: Any = self._ctx.state.value
        if now and before is None:
            self._ctx.state.replace(now)
        elif before is not None and (patch := diff(before, now)):
            self._ctx.emit(ev.StatePatched(patch=tuple(patch)))


def shareable(values: dict[str, Any]) -> dict[str, Any]:
    """The part of a graph's values that JSON can carry, without its messages."""
    shared: dict[str, Any] = {}
    for key, value in values.items():
        if key in _NOT_SHARED or key.startswith("_"):
            continue
        try:
            shared[key] = msgspec.to_builtins(value, str_keys=True)
        except (TypeError, ValueError):
            continue
    return shared
