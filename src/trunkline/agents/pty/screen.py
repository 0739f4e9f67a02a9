"""The screen of a terminal, as a person would see it: rows of characters, a cursor, and what scrolled away.

Only what changes text is carried out: colours are ignored, and no control sequence ever becomes text. What
scrolls off the top of the main screen is kept until it is taken; the rows have numbers that go on counting.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from typing import ClassVar

from trunkline.agents.pty.escapes import EscapeReader

_TAB = 8
_MAX_REPLIES = 64


class Row:
    """One row: its cells, and whether the text goes on in the next row."""

    __slots__ = ("cells", "continues")

    def __init__(self) -> None:
        self.cells: list[str] = []
        """The characters; one that is two cells wide is followed by an empty one."""
        self.continues = False

    def put(self, column: int, char: str, *, wide: bool = False) -> None:
        """Write a character into a cell."""
        self.fill(column + 1 + wide)
        self.cells[column] = char
        if wide:
            self.cells[column + 1] = ""

    def fill(self, length: int) -> None:
        """Make the row at least this long."""
        self.cells.extend(" " * (length - len(self.cells)))

    @property
    def text(self) -> str:
        """The text of the row, without blanks at its end."""
        return "".join(self.cells) if self.continues else "".join(self.cells).rstrip()


class Screen:
    """Carries out what a program writes."""

    def __init__(self, rows: int = 24, columns: int = 80) -> None:
        """Begin with an empty screen of this size."""
        self.height, self.width = rows, columns
        self.row = self.column = 0
        self.scrolled: list[Row] = []
        """Rows that scrolled off the main screen, and were not taken yet."""
        self.top = 0
        """The number of the uppermost row of the main screen."""
        self.is_full_screen = False
        """Whether the program draws on the alternate screen."""
        self.pastes = False
        """Whether the program wants pasted text to be marked as such."""
        self.replies: list[bytes] = []
        """Answers to what the program asked the terminal."""
        self._main = [Row() for _ in range(rows)]
        self._rows = self._main
        self._region = (0, rows - 1)
        self._saved = self._saved_main = (0, 0)
        self._wraps = True
        self._inserts = False
        self._last = " "
        self._reader = EscapeReader(self)

    def feed(self, data: bytes) -> None:
        """Take what the program writes, in whatever pieces it comes."""
        self._reader.feed(data)

    def rows(self) -> list[Row]:
        """The rows that are seen now."""
        return list(self._rows)

    def take_scrolled(self) -> list[Row]:
        """Take the rows that scrolled away."""
        taken, self.scrolled = self.scrolled, []
        return taken

    # -- text --------------------------------------------------------------------------------------

    def print(self, text: str) -> None:
        """Write printable characters at the cursor."""
        for char in text:
            self._put(char)

    def _put(self, char: str) -> None:
        if unicodedata.combining(char) or char in "\u200b\u200d\ufe0f":
            row, column = self._rows[self.row], min(self.column, self.width) - 1
            if 0 <= column < len(row.cells) and len(row.cells[column]) < 16:
                row.cells[column] += char
            return
        wide = unicodedata.east_asian_width(char) in "WF"
        if self.column + 1 + wide > self.width:
            if self._wraps:
                self._rows[self.row].continues = True
                self.column = 0
                self._line_feed()
            else:
                self.column = self.width - 1 - wide
        row = self._rows[self.row]
        if self._inserts and self.column < len(row.cells):
            row.cells[self.column : self.column] = " " * (1 + wide)
            del row.cells[self.width :]
        row.put(self.column, char, wide=wide)
        self._last = char
        self.column += 1 + wide

    def control(self, char: str) -> None:
        """Carry out a control character."""
        if char == "\r":
            self.column = 0
        elif char in "\n\v\f":
            self._line_feed()
        elif char == "\b":
            self.column = max(0, min(self.column, self.width - 1) - 1)
        elif char == "\t":
            self.column = min(self.width - 1, (self.column // _TAB + 1) * _TAB)

    def _line_feed(self) -> None:
        if self.row == self._region[1]:
            self._scroll_up(1)
        else:
            self.row = min(self.height - 1, self.row + 1)

    def _scroll_up(self, count: int) -> None:
        first, last = self._region
        for _ in range(min(count, last - first + 1)):
            gone = self._rows.pop(first)
            self._rows.insert(last, Row())
            if first == 0 and self._rows is self._main:
                self.scrolled.append(gone)
                self.top += 1

    def _scroll_down(self, count: int) -> None:
        first, last = self._region
        for _ in range(min(count, last - first + 1)):
            self._rows.pop(last)
            self._rows.insert(first, Row())

    # -- sequences ---------------------------------------------------------------------------------

    def escape(self, char: str) -> None:
        """Carry out a sequence of ESC and one character."""
        if char == "7":
            self._saved = (self.row, self.column)
        elif char == "8":
            self._move(*self._saved)
        elif char in "DE":
            self.column = 0 if char == "E" else self.column
            self._line_feed()
        elif char == "M":
            if self.row == self._region[0]:
                self._scroll_down(1)
            else:
                self.row = max(0, self.row - 1)
        elif char == "c":
            self._reset()

    def _reset(self) -> None:
        self._use_main()
        self._region, self._wraps, self._inserts, self.pastes = (0, self.height - 1), True, False, False
        self._clear_all()
        self._move(0, 0)

    def csi(self, final: str, private: str, numbers: list[int]) -> None:
        """Carry out a control sequence; an unknown one is ignored."""
        if private == "?" and final in "hl":
            for number in numbers:
                self._set_mode(number, on=final == "h")
        elif not private and (carry_out := self._sequences.get(final)) is not None:
            carry_out(self, numbers)

    def _set_mode(self, mode: int, *, on: bool) -> None:
        if mode == 7:
            self._wraps = on
        elif mode == 2004:
            self.pastes = on
        elif mode in (47, 1047, 1049) and on != self.is_full_screen:
            if on:
                self._saved_main = (self.row, self.column)
                self._rows, self.is_full_screen = [Row() for _ in range(self.height)], True
            else:
                self._use_main()
                self._move(*self._saved_main)
            self._region = (0, self.height - 1)

    def _use_main(self) -> None:
        self._rows, self.is_full_screen = self._main, False

    def _move(self, row: int, column: int) -> None:
        self.row = max(0, min(self.height - 1, row))
        self.column = max(0, min(self.width - 1, column))

    def _up(self, numbers: list[int]) -> None:
        self._move(self.row - (numbers[0] or 1), self.column)

    def _down(self, numbers: list[int]) -> None:
        self._move(self.row + (numbers[0] or 1), self.column)

    def _right(self, numbers: list[int]) -> None:
        self._move(self.row, self.column + (numbers[0] or 1))

    def _left(self, numbers: list[int]) -> None:
        self._move(self.row, min(self.column, self.width - 1) - (numbers[0] or 1))

    def _next_line(self, numbers: list[int]) -> None:
        self._move(self.row + (numbers[0] or 1), 0)

    def _previous_line(self, numbers: list[int]) -> None:
        self._move(self.row - (numbers[0] or 1), 0)

    def _to_column(self, numbers: list[int]) -> None:
        self._move(self.row, (numbers[0] or 1) - 1)

    def _to_row(self, numbers: list[int]) -> None:
        self._move((numbers[0] or 1) - 1, self.column)

    def _to(self, numbers: list[int]) -> None:
        row, column = [*numbers, 0][:2]
        self._move((row or 1) - 1, (column or 1) - 1)

    def _erase_screen(self, numbers: list[int]) -> None:
        if numbers[0] in (2, 3):
            self._clear_all()
            return
        self._erase_row(numbers)
        below = numbers[0] == 0
        for at in range(self.row + 1, self.height) if below else range(self.row):
            self._rows[at] = Row()

    def _clear_all(self) -> None:
        if self._rows is self._main:
            # A person has seen these: they scroll away, they do not vanish.
            used = max((at + 1 for at, row in enumerate(self._rows) if row.text), default=0)
            self.scrolled += self._rows[:used]
            self.top += used
        self._rows[:] = [Row() for _ in range(self.height)]

    def _erase_row(self, numbers: list[int]) -> None:
        row = self._rows[self.row]
        column = min(self.column, self.width - 1)
        if numbers[0] == 0:
            del row.cells[column:]
            row.continues = False
        elif numbers[0] == 1:
            row.fill(column + 1)
            row.cells[: column + 1] = " " * (column + 1)
        else:
            self._rows[self.row] = Row()

    def _insert_rows(self, numbers: list[int]) -> None:
        first, last = self._region
        if first <= self.row <= last:
            for _ in range(min(numbers[0] or 1, last - self.row + 1)):
                self._rows.pop(last)
                self._rows.insert(self.row, Row())

    def _delete_rows(self, numbers: list[int]) -> None:
        first, last = self._region
        if first <= self.row <= last:
            for _ in range(min(numbers[0] or 1, last - self.row + 1)):
                self._rows.pop(self.row)
                self._rows.insert(last, Row())

    def _delete_chars(self, numbers: list[int]) -> None:
        column = min(self.column, self.width - 1)
        del self._rows[self.row].cells[column : column + (numbers[0] or 1)]

    def _insert_chars(self, numbers: list[int]) -> None:
        cells, column = self._rows[self.row].cells, min(self.column, self.width - 1)
        if column < len(cells):
            cells[column:column] = " " * min(numbers[0] or 1, self.width)
            del cells[self.width :]

    def _erase_chars(self, numbers: list[int]) -> None:
        cells, column = self._rows[self.row].cells, min(self.column, self.width - 1)
        for at in range(column, min(len(cells), column + (numbers[0] or 1))):
            cells[at] = " "

    def _scroll(self, numbers: list[int]) -> None:
        self._scroll_up(numbers[0] or 1)

    def _scroll_back(self, numbers: list[int]) -> None:
        self._scroll_down(numbers[0] or 1)

    def _set_region(self, numbers: list[int]) -> None:
        first, last = [*numbers, 0][:2]
        first, last = max(1, first), min(last or self.height, self.height)
        if first < last:
            self._region = (first - 1, last - 1)
            self._move(0, 0)

    def _repeat(self, numbers: list[int]) -> None:
        self.print(self._last * min(numbers[0] or 1, self.width * self.height))

    def _report(self, numbers: list[int]) -> None:
        if numbers[0] == 6:
            self._reply(f"\x1b[{self.row + 1};{min(self.column, self.width - 1) + 1}R")
        elif numbers[0] == 5:
            self._reply("\x1b[0n")

    def _identify(self, numbers: list[int]) -> None:
        self._reply("\x1b[?1;2c")

    def _reply(self, text: str) -> None:
        if len(self.replies) < _MAX_REPLIES:
            self.replies.append(text.encode())

    def _insert_mode(self, numbers: list[int]) -> None:
        self._inserts = self._inserts or 4 in numbers

    def _replace_mode(self, numbers: list[int]) -> None:
        self._inserts = self._inserts and 4 not in numbers

    def _save(self, numbers: list[int]) -> None:
        self._saved = (self.row, self.column)

    def _restore(self, numbers: list[int]) -> None:
        self._move(*self._saved)

    _sequences: ClassVar[dict[str, Callable[[Screen, list[int]], None]]] = {
        "A": _up, "B": _down, "C": _right, "D": _left, "E": _next_line, "F": _previous_line,
        "G": _to_column, "`": _to_column, "d": _to_row, "H": _to, "f": _to, "a": _right, "e": _down,
        "J": _erase_screen, "K": _erase_row, "L": _insert_rows, "M": _delete_rows, "P": _delete_chars,
        "@": _insert_chars, "X": _erase_chars, "S": _scroll, "T": _scroll_back, "r": _set_region,
        "b": _repeat, "n": _report, "c": _identify, "h": _insert_mode, "l": _replace_mode,
        "s": _save, "u": _restore,
    }  # fmt: skip
