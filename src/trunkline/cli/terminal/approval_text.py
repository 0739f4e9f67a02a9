"""The text of what a person is asked to approve, whole, as lines for a terminal.

The arguments, the command and the changes of a call are shown before the answer. A proposal that is too
long for a screen is cut with a count of what is hidden.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable
from typing import Any, NamedTuple, cast

from trunkline.content import Content, DiffBlock, TextBlock
from trunkline.conversation import Call
from trunkline.safe_text import reveal, safe_title

_MOST_LINES = 60
_MOST_CHARACTERS = 6000
_MOST_COMPARED = 20_000
_SHORT = 200


class Line(str):
    """A line of text that knows in which style a terminal draws it; elsewhere it is just its text."""

    style: str = ""

    @classmethod
    def of(cls, text: str, style: str) -> Line:
        """Give a line with a style."""
        line = cls(text)
        line.style = style
        return line


_ADDED, _REMOVED = "green", "red"


class Cut(NamedTuple):
    """Lines to show, and how much of the whole is hidden."""

    lines: list[str]
    hidden_lines: int
    hidden_characters: int

    @property
    def about(self) -> str:
        """Say how much is hidden; nothing when all is shown."""
        if not self.hidden_characters and not self.hidden_lines:
            return ""
        lines = f"{self.hidden_lines} more lines, " if self.hidden_lines else ""
        return f"… {lines}{self.hidden_characters} characters are NOT shown"


def style_of(line: str) -> str:
    """Give the style of a line; plain text has none."""
    return line.style if isinstance(line, Line) else ""


def cut_lines(lines: Iterable[str]) -> Cut:
    """Cut lines to what a person can look over."""
    whole = list(lines)
    shown: list[str] = []
    left = _MOST_CHARACTERS
    for line in whole[:_MOST_LINES]:
        if left <= 0:
            break
        shown.append(line if len(line) <= left else Line.of(f"{line[:left]}…", style_of(line)))
        left -= len(line) + 1
    all_characters = sum(map(len, whole))
    seen = sum(map(len, shown)) - (1 if shown and shown[-1] != whole[len(shown) - 1] else 0)
    return Cut(shown, len(whole) - len(shown), all_characters - seen)


def lines_of_proposal(call: Call, message: str = "") -> list[str]:
    """Everything that is known of what a call is going to do, besides the message that asks for it."""
    lines = [f"tool: {safe_title(call.name, 200)} ({safe_title(call.kind, 40)})"]
    if call.title and call.title != call.name and call.title not in message:
        lines += _labelled("title", call.title)
    lines += _arguments(call)
    shown = json.dumps(call.input, ensure_ascii=False, default=str) + call.arguments
    shown += "".join(block.path for block in call.content if isinstance(block, DiffBlock))
    for location in call.locations:
        if location.path not in shown:
            lines += _labelled("file", location.path)
    for block in call.content:
        lines += _content(block)
    return lines


def lines_of_change(block: DiffBlock) -> list[str]:
    """A change of a file: what is removed, what is added, and a line around it."""
    old, new = _lines(block.old), _lines(block.new)
    if block.old is None or block.new is None or len(old) + len(new) > _MOST_COMPARED:
        changed = [*(f"-{line}" for line in old), *(f"+{line}" for line in new)]
    else:
        # The first two lines are the header, whatever the text looks like.
        changed = list(difflib.unified_diff(old, new, lineterm="", n=1))[2:]
        changed = [_gap(line) if line.startswith("@@") else line for line in changed]
        if changed[:1] in (["⋯ line 0"], ["⋯ line 1"]):
            del changed[0]
    word = "deleted" if block.new is None else "new" if block.old is None else "changed"
    if block.old is not None and block.old == block.new:
        word = "unchanged"
    return [f"{reveal(block.path)} ({word})", *map(_changed_line, changed)]


def _gap(head: str) -> str:
    """What stands for lines that are left out: the old number of the next one, of ``@@ -7,3 +9,3 @@``."""
    return f"⋯ line {head.removeprefix('@@ -').replace(' ', ',').split(',')[0]}"


def _changed_line(line: str) -> Line:
    style = {"+": _ADDED, "-": _REMOVED}.get(line[:1], "")
    return Line.of(line[:1] + reveal(line[1:]), style)


def _lines(text: str | None) -> list[str]:
    """The lines of a text; the last one says when it does not end as a line does."""
    if not text:
        return []
    return text[:-1].split("\n") if text.endswith("\n") else [*text.split("\n"), "\\ No newline at the end"]


def _arguments(call: Call) -> list[str]:
    given: Any = call.input
    if given is None:
        return _labelled("arguments", call.arguments) if call.arguments else []
    text = json.dumps(given, ensure_ascii=False, default=str)
    if len(text) <= _SHORT or not isinstance(given, dict):
        return [reveal(text)]
    lines: list[str] = []
    for name, value in cast("dict[str, Any]", given).items():
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
        lines += _labelled(name, text)
    return lines


def _content(block: Content) -> list[str]:
    if isinstance(block, DiffBlock):
        return lines_of_change(block)
    if isinstance(block, TextBlock):
        return reveal(block.text).splitlines()
    return [f"[{type(block).__name__.removesuffix('Block').lower()}]"]


def _labelled(name: str, text: str) -> list[str]:
    """A name with its text: behind it, or below it and marked line by line."""
    lines = reveal(text).split("\n")
    if len(lines) == 1:
        return [f"{reveal(name)}: {lines[0]}"]
    return [f"{reveal(name)}:", *(f"  | {line}" for line in lines)]
