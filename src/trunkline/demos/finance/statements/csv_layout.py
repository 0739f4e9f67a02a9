"""The layout of a CSV file: its delimiter, the lines before the header, the header, and the records.

Nothing is dropped here: the lines before the header are kept as the preamble (they often name the account),
and every record has the line at which it begins.
"""

from __future__ import annotations

import csv
import hashlib
import io
import re
import unicodedata
from collections.abc import Sequence
from contextlib import suppress
from itertools import islice
from typing import Literal, NamedTuple

from trunkline.demos.finance.statements.amounts import looks_like_amount
from trunkline.demos.finance.statements.dates import looks_like_date
from trunkline.demos.finance.statements.header_words import count_roles
from trunkline.demos.finance.statements.statement import MOST_ROWS, StatementError, shorten

DELIMITERS = ",;\t|"
_SAMPLE_RECORDS = 300
_MOST_PREAMBLE = 60
_MOST_CELLS = 200
_DECLARED = re.compile(r"sep=(.)\r?\n", re.IGNORECASE)


class Record(NamedTuple):
    """One record; one with a line break inside of a quoted cell begins at ``line``."""

    line: int
    cells: tuple[str, ...]

    def __str__(self) -> str:
        return shorten(" | ".join(self.cells), 120)


class Table(NamedTuple):
    """A CSV file as records below a header."""

    delimiter: str
    preamble: tuple[Record, ...]
    header: tuple[str, ...] | None
    records: tuple[Record, ...]
    quoting: bool = True

    @property
    def width(self) -> int:
        """How many columns there are."""
        if self.header is not None:
            return len(self.header)
        return max((len(record.cells) for record in self.records[:_SAMPLE_RECORDS]), default=0)

    @property
    def fingerprint(self) -> str:
        """A digest of the header: two files of one bank have the same one.

        Without a header it is one of the number of columns and of what they hold.
        """
        if self.header is not None:
            parts = [self.delimiter, *(normalise(cell) for cell in self.header)]
        else:
            first = next((one for one in self.records if is_booking(one.cells)), Record(0, ()))
            parts = [self.delimiter, "no header", *(_shape(cell) for cell in first.cells)]
        return hashlib.sha256("\x1f".join(parts).encode()).hexdigest()[:32]

    def column(self, index: int) -> list[str]:
        """The cells of a column that are not empty."""
        return [cell for one in self.records if len(one.cells) > index and (cell := one.cells[index].strip())]


def normalise(text: str) -> str:
    """Give a header's cell without case, accents and signs."""
    text = text.casefold().replace("ß", "ss")
    text = "".join(char for char in unicodedata.normalize("NFKD", text) if not unicodedata.combining(char))
    return " ".join(re.split(r"(?:(?!\+)[\W_])+", text)).strip()


def read_table(text: str) -> Table:
    """Find the layout of a CSV file; StatementError if it has no bookings in any."""
    declared = _DECLARED.match(text)
    if declared:
        # A line for spreadsheets. It stays as an empty one, so that line numbers are right.
        text = "\n" + text[declared.end() :]
    candidates = declared[1] if declared else DELIMITERS
    scores = {
        one: max(_score(text, one, csv.QUOTE_MINIMAL), _score(text, one, csv.QUOTE_NONE))
        for one in candidates
    }
    delimiter = max(scores, key=lambda one: scores[one])
    if scores[delimiter] == 0:
        raise StatementError(
            "it has no line with a date and an amount: a statement has one line for each booking, with "
            "cells between commas, semicolons, tabs or bars"
        )
    records, quoting = _parse(text, delimiter)
    at = _find_header(records)
    if at is None:
        first = next((index for index, one in enumerate(records) if is_booking(one.cells)), 0)
        return Table(delimiter, tuple(records[:first]), None, tuple(records[first:]), quoting)
    header = list(records[at].cells)
    below = records[at + 1 : at + 1 + _SAMPLE_RECORDS]
    while len(header) > 1 and not header[-1].strip() and not _is_filled(below, len(header) - 1):
        header.pop()  # Some banks end each line with a delimiter.
    return Table(delimiter, tuple(records[:at]), tuple(header), tuple(records[at + 1 :]), quoting)


def is_booking(cells: Sequence[str]) -> bool:
    """Whether cells look like a booking: one is a date and another an amount."""
    dates = [looks_like_date(cell) for cell in cells]
    return any(dates) and any(
        looks_like_amount(cell) for cell, date in zip(cells, dates, strict=True) if not date
    )


def _score(text: str, delimiter: str, quoting: Literal[0, 3]) -> int:
    """Count the bookings that a delimiter gives at the beginning of a file."""
    widths: dict[int, int] = {}
    with suppress(csv.Error):
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, quoting=quoting)
        for cells in islice(reader, _SAMPLE_RECORDS):
            if len(cells) <= _MOST_CELLS and is_booking(cells):
                widths[len(cells)] = widths.get(len(cells), 0) + 1
    # Of two delimiters that both give bookings the one that gives more columns is right.
    return max((count * 1000 + width for width, count in widths.items()), default=0)


def _parse(text: str, delimiter: str) -> tuple[list[Record], bool]:
    """Read all records; a file whose quotes do not fit is read without them if all lines then fit."""
    try:
        return _records(text, delimiter, csv.QUOTE_MINIMAL), True
    except csv.Error as error:
        try:
            plain = _records(text, delimiter, csv.QUOTE_NONE)
        except csv.Error:
            raise StatementError(f"{error}: this is no statement, or it is damaged") from None
        widths = {len(one.cells) for one in plain if is_booking(one.cells)}
        first = next((index for index, one in enumerate(plain) if is_booking(one.cells)), 0)
        below = [one for one in plain[first:] if any(cell.strip() for cell in one.cells)]
        if len(widths) == 1 and all(len(one.cells) in widths for one in below):
            return plain, False
        raise StatementError(f"{error}: correct the quotes of that line, and import again") from None


def _records(text: str, delimiter: str, quoting: Literal[0, 3]) -> list[Record]:
    records: list[Record] = []
    begin = 1
    # Strict: else a quote that is never closed would take all lines below it into one cell.
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, quoting=quoting, strict=True)
    while True:
        try:
            cells = next(reader, None)
        except csv.Error as error:
            raise csv.Error(f"the cells that begin in line {begin} cannot be read ({error})") from None
        if cells is None:
            return records
        if len(cells) > _MOST_CELLS:
            raise StatementError(f"line {begin} has {len(cells)} cells: this is no statement")
        if len(records) >= MOST_ROWS:
            raise StatementError(f"it has more than {MOST_ROWS} lines: split it, and import the parts")
        if any("\n" in cell and _swallows_bookings(cell, delimiter) for cell in cells):
            raise csv.Error(f"a quote in line {begin} is not closed, and takes the bookings below it")
        records.append(Record(begin, tuple(cells)))
        begin = reader.line_num + 1


def _swallows_bookings(cell: str, delimiter: str) -> bool:
    return any(is_booking(line.split(delimiter)) for line in cell.splitlines()[1:])


def _find_header(records: Sequence[Record]) -> int | None:
    """Give the index of the header: the record above the bookings that has the most words of headers."""
    bookings = (index for index, one in enumerate(records) if is_booking(one.cells))
    first, second = next(bookings, len(records)), next(bookings, 0)
    # One line above a header may look like a booking: it has a day and the balance of that day.
    for end, least in ((first, 2), (second, 3)):
        best: tuple[int, int] | None = None
        for index, record in enumerate(records[: min(end, _MOST_PREAMBLE)]):
            roles = count_roles([normalise(cell) for cell in record.cells])
            if roles >= least and (best is None or roles >= best[0]):
                best = (roles, index)
        if best is not None:
            return best[1]
    above = next((index for index in range(first - 1, -1, -1) if any(records[index].cells)), None)
    if above is None or first >= len(records):
        return None
    cells = [cell for cell in records[above].cells if cell.strip()]
    same_width = len(records[above].cells) == len(records[first].cells)
    words = not any(looks_like_amount(cell) or looks_like_date(cell) for cell in cells)
    return above if same_width and words and len(cells) >= 2 else None


def _is_filled(records: Sequence[Record], index: int) -> bool:
    return any(len(one.cells) > index and one.cells[index].strip() for one in records)


def _shape(cell: str) -> str:
    if looks_like_date(cell):
        return "date" + re.sub(r"\w", "", cell.strip())
    if looks_like_amount(cell):
        return "amount"
    # A currency, or a mark such as "*": its own column in the files of one bank, and of no other.
    return cell.strip() if re.fullmatch(r"[A-Z]{3}|\W", cell.strip()) else "text"
