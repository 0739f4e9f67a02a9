"""The plan that a graph keeps in its state, as deepagents and LangChain's ``write_todos`` tool write it.

The one way of such a plan to a front end: ``graph.state`` finds it in the values of each step
(``plan_in_state``), ``Emitter.plan`` emits it when it changed, and ``plan_entries`` reads its items.
``middleware.plan`` reads its own sources (text, ``build_plan``, ``emit_plan``) with ``plan_entries`` too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, cast

from trunkline import events as ev

__all__ = ["plan_entries", "plan_in_state"]

# "todos" is the field of LangChain's TodoListMiddleware; "plan" is a common name in graphs of one's own.
_FIELDS = ("todos", "plan")
_STATUSES = ("pending", "in_progress", "completed")
_PRIORITIES = ("high", "medium", "low")


def plan_in_state(values: Mapping[str, Any]) -> Any:
    """The plan among a graph's values; None if it keeps none."""
    return next((values[field] for field in _FIELDS if isinstance(values.get(field), list)), None)


def plan_entries(items: Iterable[Any]) -> tuple[ev.PlanEntry, ...]:
    """Read the items of a plan: texts, entries, or mappings with ``content`` and perhaps ``status``."""
    return tuple(_entry(item) for item in items)


def _entry(item: Any) -> ev.PlanEntry:
    if isinstance(item, ev.PlanEntry):
        return item
    if not isinstance(item, Mapping):
        return ev.PlanEntry(content=str(item))
    fields = cast("Mapping[str, Any]", item)
    status, priority = fields.get("status"), fields.get("priority")
    return ev.PlanEntry(
        content=str(fields.get("content") or fields.get("title") or ""),
        status=status if status in _STATUSES else "pending",
        priority=priority if priority in _PRIORITIES else "medium",
    )
