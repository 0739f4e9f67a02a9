"""The screen of a chat: an answer that grows, cards for tools, panels for questions.

Only this module draws with rich. All text of an agent is escaped before it is drawn.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable

from rich.box import SIMPLE_HEAD
from rich.console import Console, Group
from rich.live import Live
from rich.markdown import Markdown
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from trunkline.cli.terminal.approval_text import Cut, cut_lines, lines_of_change
from trunkline.cli.terminal.event_lines import mark_of
from trunkline.cli.terminal.table_lines import cells_of, is_numeric, table_size
from trunkline.content import DiffBlock, TerminalBlock, TextBlock
from trunkline.conversation import Call, Conversation
from trunkline.events import PlanEntry
from trunkline.safe_text import escape, one_line, reveal

_LONGEST_BLOCK = 8192
_TAIL = 2000
_FRAME = 0.08
_CARD_LINES = 12
_COLOURS = {"completed": "green", "failed": "red", "denied": "yellow", "cancelled": "yellow"}


class Screen:
    """Draws a conversation on stdout."""

    def __init__(self, console: Console | None = None) -> None:
        self.console = console or Console(highlight=False, markup=False, emoji=False)
        self._pending = ""
        self._live: Live | None = None
        self._drawn_at = 0.0

    # -- the answer --

    def say(self, text: str) -> None:
        """Add to the answer: finished paragraphs are drawn, the last one grows on the screen."""
        self._pending += escape(text)
        done, self._pending = _split(self._pending)
        if done:
            self._stop_live()
            self.console.print(Markdown(done, hyperlinks=False))
        self._grow()

    def end_answer(self) -> None:
        """Draw what is left of the answer."""
        self._stop_live()
        if self._pending.strip():
            self.console.print(Markdown(self._pending, hyperlinks=False))
        self._pending = ""

    def _grow(self) -> None:
        now = time.monotonic()
        if not self.console.is_terminal or not self._pending or now - self._drawn_at < _FRAME:
            return
        self._drawn_at = now
        if self._live is None:
            self._live = Live(console=self.console, auto_refresh=False, transient=True)
            self._live.start()
        self._live.update(Text(self._pending[-_TAIL:]), refresh=True)

    def _stop_live(self) -> None:
        if self._live is not None:
            self._live.stop()
            self._live = None

    # -- everything else --

    def note(self, line: str, style: str = "dim") -> None:
        """Draw a line that is not part of the answer; it must be safe already."""
        self.end_answer()
        self.console.print(Text(line, style=style))

    def ask(self, mark: str) -> None:
        """Draw the prompt mark of an input line."""
        self.end_answer()
        self.console.print(Text(mark, style="bold cyan"), end="")
        self.console.file.flush()

    def plan(self, entries: Iterable[PlanEntry]) -> None:
        """Draw a plan as a list."""
        lines = (f"  {mark_of(entry.status)} {one_line(entry.content, 100)}" for entry in entries)
        self.note("\n".join(("Plan", *lines)))

    def card(self, call: Call, conversation: Conversation) -> None:
        """Draw a call that has ended, with what it was given and what it gave."""
        self.end_answer()
        lines = [*_given(call), *_output(call, conversation)]
        # The result of a refused call is often the reason itself.
        if call.reason and "\n".join(escape(call.reason).splitlines()) not in "\n".join(lines):
            lines.append(one_line(call.reason))
        if len(lines) > _CARD_LINES:
            more = len(lines) - _CARD_LINES
            lines = [*lines[:_CARD_LINES], f"… {more} more line{'' if more == 1 else 's'}"]
        title = Text(f"{mark_of(call.status)} {one_line(call.title or call.name, 60)} ({call.status})")
        style = _COLOURS.get(call.status, "dim")
        self._panel(title, lines, style)

    def question(
        self, message: str, about: Iterable[str], choices: Iterable[str] = (), *, more: str | None = None
    ) -> bool:
        """Draw a question, what it is about and the choices a person has; true when all of it is shown.

        ``about`` must be safe already. With ``more``, which says how to see all, a long one is cut.
        """
        self.end_answer()
        lines = [*reveal(message).splitlines(), *about]
        cut = Cut(lines, 0, 0) if more is None else cut_lines(lines)
        hidden = [f"{cut.about}: {more}"] if cut.about else []
        self._panel(Text("Question"), [*cut.lines, *hidden, *choices], "cyan")
        return not hidden

    def _panel(self, title: Text, lines: list[str], style: str) -> None:
        if lines:
            body = Group(*_with_tables(lines))
            panel = Panel(body, title=title, title_align="left", border_style=style, expand=False)
            self.console.print(panel)
        else:
            self.console.print(Text.assemble((title.plain, style)))


def _split(text: str) -> tuple[str, str]:
    """Cut markdown after its last finished block: an empty line outside of a code fence."""
    end = place = 0
    fenced = False
    for line in text.splitlines(keepends=True):
        place += len(line)
        if line.lstrip().startswith("```"):
            fenced = not fenced
        elif not line.strip() and line.endswith("\n") and not fenced:
            end = place
    if not end and len(text) > _LONGEST_BLOCK:
        end = len(text)
    return text[:end], text[end:]


def _with_tables(lines: list[str]) -> list[Text | Table]:
    """Give lines to draw; those of a Markdown table as one whose cells are in columns."""
    drawn: list[Text | Table] = []
    rest = lines
    while rest:
        size = table_size(rest)
        drawn.append(_table(rest[:size]) if size else Text(rest[0]))
        rest = rest[size or 1 :]
    return drawn


def _table(lines: list[str]) -> Table:
    head, _, *rows = map(cells_of, lines)
    table = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for index, name in enumerate(head):
        justify = "right" if is_numeric(row[index] for row in rows if index < len(row)) else "left"
        table.add_column(Text(name), justify=justify, overflow="fold")
    for row in rows:
        table.add_row(*map(Text, [*row, *[""] * len(head)][: len(head)]))
    return table


def _given(call: Call) -> list[str]:
    if call.input == {}:
        return []
    if call.input is not None:
        return [one_line(json.dumps(call.input, ensure_ascii=False, default=str))]
    return [one_line(call.arguments)] if call.arguments else []


def _output(call: Call, conversation: Conversation) -> list[str]:
    lines = escape(call.output).splitlines()
    for block in call.content:
        if isinstance(block, TextBlock):
            # The frame is a fence already.
            lines += [line for line in escape(block.text).splitlines() if not line.startswith("```")]
        elif isinstance(block, DiffBlock):
            lines += lines_of_change(block)
        elif isinstance(block, TerminalBlock) and block.terminal_id in conversation.terminals:
            lines += escape(conversation.terminals[block.terminal_id].data).splitlines()
    return lines
