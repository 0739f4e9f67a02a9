"""Makes text of a screen: each line once, when it has settled; pure, so the time is passed in.

A line has settled when it has scrolled away, or when the cursor is below it and it has not changed for a
while. So a progress bar or a spinner is shown as it ends, not frame by frame. A line that changes after it
was given is given again when the turn ends. A program that draws the whole screen is shown when it is quiet:
as the screen then is.
"""

from __future__ import annotations

from collections.abc import Sequence

from trunkline.agents.pty.screen import Row, Screen

_LONGEST_LINE = 64 * 1024  # Characters that wait for the end of their line.


class Transcript:
    """Reads a screen from where it was read last."""

    def __init__(self, screen: Screen, settle: float) -> None:
        """Read a screen; ``settle`` is how many seconds a line must not change."""
        self._screen = screen
        self._settle = settle
        self._next = 0
        """The number of the first row that was not given."""
        self._partial = ""
        """What was given of that row: the program's own prompt, for example."""
        self._prompt = ""
        """What stood before the cursor when something was typed."""
        self._typed: list[str] = []
        self._head = ""
        """The beginning of a line whose first rows have scrolled away."""
        self._since: dict[int, tuple[str, float]] = {}
        self._given: dict[int, str] = {}
        """Rows that were given and can still change."""
        self._drawn = ""
        """The full screen as it was given last."""

    def typed(self, lines: Sequence[str]) -> None:
        """Note what is typed now: the terminal shows it, and it is not given as an answer."""
        self._typed = [line.strip() for line in lines if line.strip()]
        self._prompt = self._partial

    @property
    def is_behind(self) -> bool:
        """Whether there are whole lines that were not given; a full screen has none."""
        screen = self._screen
        rows = [] if screen.is_full_screen else screen.rows()
        written = any(row.text for row in rows[max(0, self._next - screen.top) : screen.row])
        return bool(screen.scrolled) or written

    def read(self, now: float) -> str:
        """Give the text that has settled since the last call."""
        screen = self._screen
        text = self._take_scrolled()
        if screen.is_full_screen:
            return text
        rows = screen.rows()
        self._watch(rows, now)
        while (end := self._line_end(rows)) is not None:
            numbers = range(self._next, end)
            if any(now - self._since[number][1] < self._settle for number in numbers):
                break
            text += self._give([rows[number - screen.top] for number in numbers])
        return text

    def finish(self) -> str:
        """Give what is left, the line of the cursor too, and what changed after it was given."""
        screen = self._screen
        text = self._take_scrolled()
        if screen.is_full_screen:
            return text + self._draw()
        rows = screen.rows()
        for number, given in list(self._given.items()):
            changed = rows[number - screen.top].text
            if changed.strip() and changed != given:
                text += f"{changed}\n"
                self._given[number] = changed
        last = max((at for at, row in enumerate(rows) if row.text.strip()), default=-1)
        last = max(last, screen.row)
        while self._next - screen.top <= last:
            end = self._line_end(rows, last + 1)
            if end is None:
                break
            if end - 1 - screen.top >= last:
                return text + self._give_partial(rows, end)
            text += self._give(rows[self._next - screen.top : end - screen.top])
        return text

    # -- lines -------------------------------------------------------------------------------------

    def _watch(self, rows: Sequence[Row], now: float) -> None:
        """Note since when each row is as it is."""
        top, before = self._screen.top, self._since
        self._since = {}
        for at, row in enumerate(rows):
            number, text = top + at, row.text
            known = before.get(number)
            self._since[number] = known if known is not None and known[0] == text else (text, now)

    def _line_end(self, rows: Sequence[Row], limit: int | None = None) -> int | None:
        """The number behind the last row of the next line; None if that is not above the limit."""
        top = self._screen.top
        limit = self._screen.row if limit is None else limit
        at = self._next - top
        while at < limit:
            if not rows[at].continues or at + 1 == len(rows):
                return top + at + 1
            at += 1
        return None

    def _take_scrolled(self) -> str:
        text, first = "", self._screen.top - len(self._screen.scrolled)
        held: list[Row] = []
        for number, row in enumerate(self._screen.take_scrolled(), first):
            self._given.pop(number, None)
            if number < self._next:
                continue
            held.append(row)
            if not row.continues:
                text += self._give(held)
                held = []
        # The rest of this line is still on the screen.
        self._head += "".join(row.text for row in held)
        self._next += len(held)
        if len(self._head) > _LONGEST_LINE:
            text, self._head = text + self._head.removeprefix(self._partial), ""
            self._partial = ""
        return text

    def _give(self, rows: Sequence[Row]) -> str:
        """Give one line, of one or more rows, without what was given of it, and without what was typed."""
        line, self._head = self._head + "".join(row.text for row in rows), ""
        for row in rows:
            if self._next >= self._screen.top:
                self._given[self._next] = row.text
            self._next += 1
        new = line.removeprefix(self._partial)
        self._partial = ""
        return "" if self._is_typed(new) else f"{new}\n"

    def _is_typed(self, text: str) -> bool:
        """Whether this is the next line that was typed, as the terminal shows it."""
        shown = {text.strip(), text.removeprefix(self._prompt).strip()}
        if self._typed and self._typed[0] in shown:
            del self._typed[0]
            return True
        return False

    def _give_partial(self, rows: Sequence[Row], end: int) -> str:
        """Give the last line as far as it is written; the rest of it may come with the next turn."""
        top = self._screen.top
        line = self._head + "".join(row.text for row in rows[self._next - top : end - top])
        new = "" if line == self._prompt else line.removeprefix(self._partial)
        self._partial = line
        return "" if self._is_typed(new) else new

    def _draw(self) -> str:
        lines = [row.text.rstrip() for row in self._screen.rows()]
        drawn = "\n".join(lines).strip("\n")
        if drawn == self._drawn or not drawn.strip():
            return ""
        self._drawn = drawn
        return f"{drawn}\n"
