"""Plans of an ACP agent: one without a name, or several by id."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trunkline import events as ev
from trunkline.protocols.acp.fields import as_list, as_object, text_in

PLAN_TYPE = "plan"
"""The type of the activity that shows a plan which has no entries: a file or markdown."""


class Plans:
    """Knows the plans of a session, and gives them as one."""

    def __init__(self) -> None:
        """Know no plan."""
        self._entries: dict[str, tuple[ev.PlanEntry, ...]] = {}

    def take(self, update: Mapping[str, Any]) -> ev.Plan | ev.Activity | None:
        """Take ``plan``, ``plan_update`` or ``plan_removed``; None if it cannot be read."""
        meta = as_object(update.get("_meta")) or None
        if update.get("sessionUpdate") == "plan_removed":
            plan_id = text_in(update, "planId")
            if plan_id is None:
                return None
            if self._entries.pop(plan_id, None) is None:
                return ev.Activity(activity_id=plan_id, activity_type=PLAN_TYPE, content={}, meta=meta)
            return self._plan(meta)
        if update.get("sessionUpdate") == "plan":
            entries = _entries(update.get("entries"))
            if entries is None:
                return None
            self._entries = {"": entries}
            return self._plan(meta)
        plan = as_object(update.get("plan"))
        plan_id = text_in(plan, "planId")
        if plan_id is None:
            return None
        if plan.get("type") != "items":
            content = {key: value for key, value in plan.items() if key != "planId"}
            return ev.Activity(activity_id=plan_id, activity_type=PLAN_TYPE, content=content, meta=meta)
        entries = _entries(plan.get("entries"))
        if entries is None:
            return None
        self._entries[plan_id] = entries
        return self._plan(meta)

    def _plan(self, meta: dict[str, Any] | None) -> ev.Plan:
        return ev.Plan(entries=tuple(e for entries in self._entries.values() for e in entries), meta=meta)


def _entries(given: Any) -> tuple[ev.PlanEntry, ...] | None:
    """Read the entries of a plan; None if one of them is not an entry."""
    if not isinstance(given, list):
        return None
    entries: list[ev.PlanEntry] = []
    for item in map(as_object, as_list(given)):
        content = item.get("content")
        if not isinstance(content, str):
            return None
        status: Any = text_in(item, "status") or "pending"
        priority: Any = text_in(item, "priority") or "medium"
        entries.append(ev.PlanEntry(content=content, status=status, priority=priority))
    return tuple(entries)
