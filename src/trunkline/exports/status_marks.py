"""The signs of calls and plan entries, and the titles of calls, in terminals and files."""

from __future__ import annotations

from collections.abc import Iterable

from trunkline.events import PlanEntry
from trunkline.safe_text import one_line

_MARKS = {
    "pending": "·", "in_progress": "→", "completed": "✓", "failed": "✗", "denied": "⊘", "cancelled": "⊘",
}  # fmt: skip


def mark_of(status: str) -> str:
    """Give the sign of a call's or a plan entry's status; another program's own status is one of work."""
    return _MARKS.get(status, _MARKS["in_progress"])


def title_of(title: str, limit: int = 200) -> str:
    """Give the title of a call for a line that says how it goes: it asks no more."""
    return one_line(title, limit).removesuffix("?")


def describe_plan(entries: Iterable[PlanEntry]) -> str:
    """Give a plan as one line."""
    return "plan: " + "  ".join(f"{mark_of(entry.status)} {one_line(entry.content, 60)}" for entry in entries)
