"""A conversation as plain text, for pipes and files: the answer is exactly what the agent said."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import TextIO

from trunkline.cli.terminal.approval_text import Cut, cut_lines
from trunkline.cli.terminal.call_text import card_lines, card_title
from trunkline.conversation import Call, Conversation
from trunkline.events import PlanEntry
from trunkline.exports.status_marks import mark_of, title_of
from trunkline.safe_text import escape, one_line, reveal, without_colours


class PlainScreen:
    """Writes a conversation without colours, frames, padding or line breaks of its own."""

    def __init__(self, file: TextIO | None = None) -> None:
        self._file = file or sys.stdout
        self._in_line = False
        self._thinking = False

    def say(self, text: str) -> None:
        """Write a piece of the answer as it is."""
        if text:
            self._end_thought()
            self._write(text)

    def think(self, text: str) -> None:
        """Write reasoning, between marks that tell it from the answer."""
        if text:
            if not self._thinking:
                self.end_answer()
                self._write("(thinking) ")
                self._thinking = True
            self._write(text)

    def end_answer(self) -> None:
        """End the line."""
        self._end_thought()
        if self._in_line:
            self._write("\n")

    def note(self, line: str, style: str = "dim") -> None:
        """Write a line."""
        self.end_answer()
        self._write(f"{line}\n")

    def ask(self, mark: str) -> None:
        """Write the mark of an input line."""
        self.end_answer()
        self._write(mark)
        self._in_line = False

    def echo(self, mark: str, line: str) -> None:
        """Write a line of the input."""
        if mark:
            self.end_answer()
        self._write(f"{mark}{escape(line)}\n")

    def plan(self, entries: Iterable[PlanEntry]) -> None:
        """Write a plan."""
        lines = (f"  {mark_of(entry.status)} {one_line(entry.content, 100)}" for entry in entries)
        self.note("\n".join(("Plan", *lines)))

    def work(self, call: Call) -> None:
        """Write that a call runs."""
        self.note(f"{mark_of(call.status)} {title_of(call.title or call.name, 100)}")

    def card(self, call: Call, conversation: Conversation) -> None:
        """Write how a call ended."""
        lines = (f"  {without_colours(line)}".rstrip() for line in card_lines(call, conversation))
        self.note("\n".join((card_title(call), *lines)))

    def question(
        self, message: str, about: Iterable[str], choices: Iterable[str] = (), *, more: str | None = None
    ) -> bool:
        """Write a question; true when all of it is shown."""
        lines = [*reveal(message).splitlines(), *about]
        cut = Cut(lines, 0, 0) if more is None else cut_lines(lines)
        hidden = [f"{cut.about}: {more}"] if cut.about else []
        first, *rest = [*cut.lines, *hidden, *choices] or [""]
        self.note("\n".join((f"? {first}", *(f"  {line}" for line in rest))))
        return not hidden

    def begin_turn(self) -> None:
        """Write nothing: a reader of a pipe does not wait for signs of life."""

    def wait_for_person(self, waits: bool) -> None:
        """Write nothing: the question is there."""

    def end_turn(self) -> None:
        """Let the reader have everything."""
        self._file.flush()

    def _end_thought(self) -> None:
        if self._thinking:
            self._thinking = False
            self._write("\n" if self._in_line else "")

    def _write(self, text: str) -> None:
        if text:
            # Half a character cannot be encoded.
            self._file.write(text.encode("utf-8", "replace").decode())
            self._file.flush()
            self._in_line = not text.endswith("\n")
