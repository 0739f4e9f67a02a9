"""The screen of a chat: an answer that grows, cards for tools, panels for questions.

Only this module and ``rich_parts`` draw with rich. All text of an agent is escaped before it is drawn.
"""

from __future__ import annotations

import io
import re
import shutil
import time
from collections.abc import Iterable
from typing import Any, cast

from rich.box import SIMPLE_HEAD
from rich.cells import cell_len
from rich.console import Console, ConsoleDimensions, Group, RenderableType
from rich.padding import Padding
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from trunkline.cli.terminal.approval_text import Cut, cut_lines, style_of
from trunkline.cli.terminal.call_text import COLOURED, card_lines, card_title
from trunkline.cli.terminal.live_area import LiveArea
from trunkline.cli.terminal.rich_parts import Answer, Barred, Trimmed
from trunkline.cli.terminal.table_lines import cells_of, is_numeric, table_size
from trunkline.conversation import Call, Conversation
from trunkline.events import PlanEntry
from trunkline.exports.status_marks import mark_of, title_of
from trunkline.safe_text import PieceEscaper, escape, one_line, reveal

_LONGEST_BLOCK = 8192
_TAIL = 2000
_FRAME = 0.08
_FENCE = re.compile(r"\s*(`{3,}|~{3,})(.*)")
_ITEM = re.compile(r" {0,3}(?:[-*+]|\d{1,9}[.)])\s")
_ROW = re.compile(r"[ *] \S.*? {2,}(?=\S)")
"""The beginning of a row of a list: a name, and blanks before what is said of it."""
_COLOURS = {"completed": "green", "failed": "red", "denied": "yellow", "cancelled": "yellow"}


class Screen:
    """Draws a conversation on a terminal; what still changes goes to the live area, if there is one."""

    def __init__(self, console: Console | None = None, live: LiveArea | None = None) -> None:
        self.console = console or Console(highlight=False, markup=False, emoji=False)
        if console is None and self.console.is_dumb_terminal:
            self.console.size = ConsoleDimensions(*shutil.get_terminal_size())  # Rich takes 80 by 25.
        self.live = live
        self._pending = ""
        self._escaper = PieceEscaper()
        self._thinking = False
        self._blocks = 0
        self._drawn_at = 0.0

    # -- the answer --

    def say(self, text: str) -> None:
        """Add to the answer: finished paragraphs are drawn, the last one grows on the screen."""
        self._add(text, thinking=False)

    def think(self, text: str) -> None:
        """Add to the reasoning, which is dimmed."""
        self._add(text, thinking=True)

    def end_answer(self) -> None:
        """Draw what is left of the answer."""
        self._pending += self._escaper.end()
        if self._pending.strip():
            self._draw_block(self._pending)
        self._pending = ""
        self._blocks = 0
        if self.live is not None:
            self.live.growing = ""

    def _add(self, text: str, *, thinking: bool) -> None:
        if not text:
            return
        if thinking is not self._thinking:
            self.end_answer()
            self._thinking = thinking
        self._pending += self._escaper.feed(text)
        done, self._pending = split_markdown(self._pending)
        if done.strip():
            self._draw_block(done)
        self._grow(is_new=bool(done))

    def _draw_block(self, text: str) -> None:
        if self._blocks:
            self.console.print()
        self._blocks += 1
        self.console.print(self._block(text))

    def _block(self, text: str) -> RenderableType:
        if self._thinking:
            return Trimmed(Padding(Text(text.strip(), style="dim italic"), (0, 0, 0, 2)))
        return Trimmed(Answer(text))

    def _grow(self, *, is_new: bool) -> None:
        now = time.monotonic()
        if self.live is None or (not is_new and now - self._drawn_at < _FRAME):
            return
        self._drawn_at = now
        self.live.growing = self._rendered(self._pending[-_TAIL:]) if self._pending.strip() else ""

    def _rendered(self, text: str) -> str:
        """Give a block as the characters that draw it."""
        ours = self.console
        console = Console(
            file=io.StringIO(),
            force_terminal=True,
            width=ours.width,
            # It gives the name as any text, and takes its own names only.
            color_system=cast("Any", ours.color_system),
            no_color=ours.no_color,
            highlight=False,
            markup=False,
            emoji=False,
        )
        with console.capture() as captured:
            console.print(self._block(text))
        lead = "\n" if self._blocks else ""
        return lead + captured.get()

    # -- everything else --

    def note(self, line: str, style: str = "dim") -> None:
        """Draw a line that is not part of the answer; it must be safe already."""
        self.end_answer()
        if not style:
            # It is to be copied as it is: only the terminal breaks it.
            self.console.print(Text(line), soft_wrap=True)
            return
        self.console.print(Text("\n".join(map(self._hang, line.split("\n"))), style=style))

    def _hang(self, line: str) -> str:
        """Break a row of a list so that what is said of a name stays in its column."""
        row = _ROW.match(line)
        width = self.console.width
        if row is None or cell_len(line) <= width or row.end() > width // 2:
            return line
        about = Text(line[row.end() :]).wrap(self.console, width - row.end())
        return row[0] + ("\n" + " " * row.end()).join(part.plain.rstrip() for part in about)

    def ask(self, mark: str) -> None:
        """Draw the prompt mark of an input line."""
        self.end_answer()
        self.console.print(Text(mark, style="bold cyan"), end="")
        self.console.file.flush()

    def echo(self, mark: str, line: str) -> None:
        """Draw a line that a person has sent."""
        self.end_answer()
        indented = escape(line).replace("\n", "\n" + " " * len(mark))
        self.console.print(Text.assemble((mark, "bold cyan"), (indented, "bold")))

    def plan(self, entries: Iterable[PlanEntry]) -> None:
        """Draw a plan as a list."""
        self.end_answer()
        self.console.print(Text("Plan", style="bold"))
        for entry in entries:
            style = {"completed": "dim", "in_progress": "bold"}.get(entry.status, "")
            self.console.print(Text(f"  {mark_of(entry.status)} {one_line(entry.content, 100)}", style=style))

    def work(self, call: Call) -> None:
        """Show that a call runs."""
        title = title_of(call.title or call.name, 100)
        if self.live is not None:
            self.live.begin_call(call.call_id, one_line(title, max(self.console.width - 12, 10)))
        else:
            self.note(f"{mark_of(call.status)} {title}")

    def card(self, call: Call, conversation: Conversation) -> None:
        """Draw a call that has ended, with what it was given and what it gave."""
        self.end_answer()
        if self.live is not None:
            self.live.end_call(call.call_id)
        title = card_title(call)
        colour = _COLOURS.get(call.status, "dim")
        self.console.print(Text.assemble((title[:1], f"bold {colour}"), (title[1:], "bold")))
        for part in _drawn_lines(card_lines(call, conversation)):
            self.console.print(Barred(part, colour))

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
        body = [*_drawn_lines([*cut.lines, *hidden]), *map(_choice, choices)]
        title = Text("Question", style="bold")
        panel = Panel(Group(*body), title=title, title_align="left", border_style="cyan", expand=False)
        self.console.print(panel)
        return not hidden

    def begin_turn(self) -> None:
        """Show that the agent works."""
        if self.live is not None:
            self.live.begin()

    def wait_for_person(self, waits: bool) -> None:
        """Show whether the turn waits for an answer."""
        if self.live is not None:
            self.live.waits_for_person = waits

    def end_turn(self) -> None:
        """Show that it works no more; an empty line parts the turns."""
        self.end_answer()
        if self.live is not None:
            self.live.end()
            self.console.print()


def split_markdown(text: str) -> tuple[str, str]:
    """Cut markdown after its last finished block: at an empty line outside of a code fence and of a list."""
    end = index = 0
    fence, in_list, after_blank = "", False, False
    for line in text.splitlines(keepends=True):
        mark = _FENCE.match(line)
        if fence:
            # Only as many of the same marks, alone on their line, end it.
            fence = "" if mark and mark[1].startswith(fence) and not mark[2].strip() else fence
        elif not line.strip():
            after_blank = line.endswith("\n")
            end = index + len(line) if after_blank and not in_list else end
        else:
            if in_list and after_blank and not (line[0] in " \t" or _ITEM.match(line)):
                end, in_list = index, False
            in_list = in_list or _ITEM.match(line) is not None
            fence, after_blank = mark[1] if mark else "", False
        index += len(line)
    if not end and len(text) > _LONGEST_BLOCK:
        end = len(text)
    return text[:end], text[end:]


def _choice(line: str) -> Text:
    """Draw a choice: the key to press stands out."""
    key = line.split(maxsplit=1)[0] if line.strip() else ""
    text = Text(line)
    if key:
        text.stylize("bold cyan", line.index(key), line.index(key) + len(key))
    return text


def _drawn_lines(lines: list[str]) -> list[Text | Table]:
    """Give lines to draw; those of a Markdown table as one whose cells are in columns."""
    drawn: list[Text | Table] = []
    rest = lines
    while rest:
        size = table_size(rest)
        drawn.append(_table(rest[:size]) if size else _text(rest[0]))
        rest = rest[size or 1 :]
    return drawn


def _text(line: str) -> Text:
    style = style_of(line)
    return Text.from_ansi(line) if style == COLOURED else Text(line, style=style)


def _table(lines: list[str]) -> Table:
    head, _, *rows = map(cells_of, lines)
    table = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for index, name in enumerate(head):
        justify = "right" if is_numeric(row[index] for row in rows if index < len(row)) else "left"
        table.add_column(Text(name), justify=justify, overflow="fold")
    for row in rows:
        table.add_row(*map(Text, [*row, *[""] * len(head)][: len(head)]))
    return table
