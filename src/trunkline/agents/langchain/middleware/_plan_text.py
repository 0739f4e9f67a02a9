"""The plan in a model's words, which is a numbered list or a list of checkboxes.

Not every list is a plan. Checkboxes are, and so is a list that the model thought, that a line with a word
such as "plan" or "steps" introduces, or that comes with tool calls: who counts and then acts, plans.
Any other numbered list is part of an answer, unless the agent is asked for nothing but a plan.
"""

from __future__ import annotations

import re
from typing import Any, Literal, NamedTuple, cast

from trunkline import events as ev

_ITEM = re.compile(
    r"(?P<indent>[ \t]*)(?:[-*+][ \t]+)?(?:(?P<step>step[ \t]+)?(?P<number>\d{1,3})[.):][ \t]+)?"
    r"(?:\[(?P<mark>[ xX~>-])\][ \t]+)?(?P<text>\S.*)",
    re.IGNORECASE,
)
_SIGN = re.compile(r"[\[\d]")
"""Something without which nothing is a list."""
_INTRODUCES = re.compile(r"\b(plan|steps?|to-?dos?|tasks?|approach|roadmap)\b", re.IGNORECASE)
_STRESS = re.compile(r"(\*\*|__)(.+?)\1")
_STATUS: dict[str, Literal["completed", "in_progress"]] = {
    "x": "completed",
    "X": "completed",
    "~": "in_progress",
    ">": "in_progress",
    "-": "in_progress",
}
_FENCES = ("```", "~~~")
_FEWEST = 2
_MOST = 100
_LONGEST = 20_000


class _Line(NamedTuple):
    """A line that may be an item of a list."""

    indent: int
    number: int | None
    mark: str | None
    text: str
    step: bool


class _List:
    """A list while it is read."""

    def __init__(self, first: _Line, introduced: bool) -> None:
        self.indent = first.indent
        self.boxes = first.mark is not None
        self.introduced = introduced
        self.lines = [first]

    def takes(self, line: _Line) -> bool:
        """Whether a line is the next item."""
        if self.boxes or line.mark is not None:
            return self.boxes and line.mark is not None
        return line.number == (self.lines[-1].number or 0) + 1


def plan_in(message: Any, *, planning: bool) -> tuple[ev.PlanEntry, ...]:
    """Give the plan that a message contains, its text before its reasoning; nothing when it has none."""
    every = planning or bool(getattr(message, "tool_calls", None))
    text: str = str(getattr(message, "text", "") or "")
    return outline(text, every=every) or outline(_reasoning(message), every=True)


def outline(text: str, *, every: bool) -> tuple[ev.PlanEntry, ...]:
    """Give the first plan in a text; ``every`` takes numbered lists that nothing introduces too."""
    if _SIGN.search(text) is None:
        return ()
    for found in _lists(text[:_LONGEST]):
        if len(found.lines) >= _FEWEST and (every or found.boxes or found.introduced):
            return tuple(_entry(line) for line in found.lines[:_MOST])
    return ()


def _lists(text: str) -> list[_List]:
    """Find the lists of a text outside of code."""
    found: list[_List] = []
    open_list: _List | None = None
    before, fenced = "", False
    for raw in text.splitlines():
        if raw.lstrip().startswith(_FENCES):
            fenced = not fenced
        if fenced or not raw.strip():
            continue
        line = _read(raw)
        if line is None:
            # A line of its own ends a list; one that is set in belongs to the item above.
            if open_list is None or not raw[:1].isspace():
                open_list, before = None, raw
        elif open_list is not None and line.indent > open_list.indent:
            continue
        elif open_list is not None and open_list.takes(line):
            open_list.lines.append(line)
        elif line.mark is not None or line.number == 1:
            open_list = _List(line, introduced=line.step or bool(_INTRODUCES.search(before)))
            found.append(open_list)
        else:
            open_list, before = None, raw
    return found


def _read(raw: str) -> _Line | None:
    match = _ITEM.fullmatch(raw.rstrip())
    if match is None or (match["number"] is None and match["mark"] is None):
        return None
    number = int(match["number"]) if match["number"] is not None else None
    return _Line(
        len(match["indent"].expandtabs(4)), number, match["mark"], match["text"], match["step"] is not None
    )


def _entry(line: _Line) -> ev.PlanEntry:
    text = _STRESS.sub(r"\2", line.text).strip()
    return ev.PlanEntry(content=text, status=_STATUS.get(line.mark or "", "pending"))


def _reasoning(message: Any) -> str:
    """What a model thought aloud, wherever its provider puts that."""
    kwargs: dict[str, Any] = getattr(message, "additional_kwargs", None) or {}
    if not isinstance(getattr(message, "content", ""), list) and "reasoning_content" not in kwargs:
        return ""
    blocks = cast("list[dict[str, Any]]", message.content_blocks)
    return "\n".join(str(block.get("reasoning") or "") for block in blocks if block["type"] == "reasoning")
