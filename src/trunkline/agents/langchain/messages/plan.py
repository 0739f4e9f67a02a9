"""The plan that a graph keeps in its state, as deepagents and LangChain's ``write_todos`` tool write it.

The one way of such a plan to a front end: ``graph.shared_state`` finds it in the values of each step
(``plan_in_state``), ``Emitter.plan`` emits it when it changed, and ``plan_entries`` reads its items.
``middleware.plan`` reads its own sources (text, ``build_plan``, ``emit_plan``) with ``plan_entries`` too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, cast

from trunkline import events as ev

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


def check_plan(items: Any) -> list[Any]:
    """Give the items of a plan that a program wrote; TypeError or ValueError says what is wrong with them.

    Of a plan that a model wrote nothing is refused: what it says badly is still a plan.
    """
    if isinstance(items, Mapping):  # The whole plan, in the shape of ACP's update.
        items = cast("Mapping[str, Any]", items).get("entries", items)
    if isinstance(items, str | Mapping) or not isinstance(items, Iterable):
        raise TypeError(f"a plan is a list of entries, not {items!r}")
    checked = list(cast("Iterable[Any]", items))
    for item in checked:
        if isinstance(item, ev.PlanEntry):
            fields: Mapping[str, Any] = {name: getattr(item, name) for name in item.__struct_fields__}
        elif isinstance(item, Mapping):
            fields = cast("Mapping[str, Any]", item)
        elif isinstance(item, str):
            fields = {"content": item}
        else:
            raise TypeError(f"an entry of a plan is a text, a PlanEntry or a dict, not {item!r}")
        content = fields.get("content") or fields.get("title")
        if not isinstance(content, str) or not content.strip():
            raise ValueError(f"an entry of a plan has a text as its content, and {item!r} has none")
        for name, known in (("status", _STATUSES), ("priority", _PRIORITIES)):
            if fields.get(name) is not None and fields[name] not in known:
                raise ValueError(f"the {name} of an entry is one of {', '.join(known)}, not {fields[name]!r}")
    return checked


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
