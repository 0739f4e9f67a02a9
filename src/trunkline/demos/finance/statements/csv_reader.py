"""Reads the bookings of a CSV file by its mapping.

Each record is a booking, a line that is none (a total, an opening balance: named in the notes), or a problem.
A row that looks like a booking and cannot be read is never dropped: it is a problem with its line number.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Sequence
from decimal import Decimal

import msgspec

from trunkline.demos.finance.ledger.categories import TRANSFER
from trunkline.demos.finance.ledger.results import decimals
from trunkline.demos.finance.statements.amounts import (
    looks_like_amount,
    parse_amount,
    parse_currency,
    parse_direction,
    to_minor,
)
from trunkline.demos.finance.statements.balances import newest_first, proven_sign
from trunkline.demos.finance.statements.csv_columns import PENDING, VOID
from trunkline.demos.finance.statements.csv_layout import Record, Table, normalise
from trunkline.demos.finance.statements.dates import looks_like_date, parse_date
from trunkline.demos.finance.statements.mapping import CsvMapping
from trunkline.demos.finance.statements.statement import (
    Account,
    Problem,
    Statement,
    StatementRow,
    join_texts,
    shorten,
)

_IBAN = re.compile(r"\b([A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?)\b")
_NUMBER = re.compile(
    r"(?:account(?: number| no\.?)?|konto(?:nummer)?|compte(?:[^\d;]{0,40}?\bn[°o])?|cuenta|conto|rekening|"
    r"card(?: number)?)"
    r"[:\s#]*([\dX*x][\dX*x \-/]{4,24}\d)",
    re.IGNORECASE,
)
_SUMMARY = re.compile(
    r"\W*(total|subtotal|summe|gesamt|saldo|endsaldo|anfangssaldo|kontostand|alter kontostand|"
    r"neuer kontostand|balance|opening|closing|beginning|ending|solde|ancien solde|nouveau solde|end of|"
    r"totale|ubertrag|abschluss|page|seite|stand)\b"
)
_BALANCE = re.compile(
    r"(opening|closing|beginning|ending|starting|final) balance|balance (brought|carried) forward|"
    r"(anfangs|end|schluss)saldo|(alter|neuer) kontostand|(ancien|nouveau) solde|"
    r"saldo (inicial|final|iniziale|finale)"
)
"""What a row is called that shows a balance in the place of an amount."""
_FOOTER_CELLS = 2
_OWN_MOVES = (
    *("pot transfer", "internal transfer", "acct xfer", "account transfer", "own account transfer"),
    *("transfer between own accounts", "savings transfer", "umbuchung", "eigenubertrag", "virement interne"),
    "giroconto",
)
"""Kinds of bookings that only move money between own accounts; the description does not always say so."""


class CsvStatement(msgspec.Struct, frozen=True, kw_only=True):
    """The bookings of a CSV file by the account that each names; None for a file without such a column."""

    statements: tuple[Statement, ...]
    balance_agrees: bool | None
    """Whether the running balances fit the amounts; None if there are none, or too few."""


def read_csv(table: Table, mapping: CsvMapping) -> CsvStatement:
    """Read all records of a table by a mapping."""
    reader = _Reader(table, mapping)
    rows: dict[str | None, list[StatementRow]] = {}
    problems: list[Problem] = []
    notes: list[str] = []
    first, last = _ends_of_bookings(table, mapping)
    for index, record in enumerate(table.records):
        if not any(cell.strip() for cell in record.cells):
            continue
        try:
            account, row, note = reader.read(record)
            if _BALANCE.fullmatch(normalise(row.description)):
                note = f"line {record.line} is no booking: {record}"
        except ValueError as error:
            if (left_out := reader.why_left_out(record)) is not None:
                notes.append(left_out)
            elif reader.is_note(record, after_bookings=index > last) or (
                index < first and reader.is_above_bookings(record)
            ):
                notes.append(f"line {record.line} is no booking: {record}")
            else:
                problems.append(Problem(line=record.line, text=str(record), reason=str(error)))
            continue
        if note is not None:
            notes.append(note)
        else:
            rows.setdefault(account, []).append(row)
    if not table.quoting:
        notes.append("quotes do not enclose cells in this file: they were read as letters")
    default = account_of(table)
    statements: list[Statement] = []
    for number, ours in (rows or {None: []}).items():
        account = default if number is None else _named_account(number)
        is_first = not statements
        statements.append(
            Statement(
                format="csv",
                account=account,
                rows=tuple(ours),
                problems=tuple(problems) if is_first else (),
                notes=tuple(notes) if is_first else (),
            )
        )
    return CsvStatement(statements=tuple(statements), balance_agrees=_balance_agrees(statements))


def account_of(table: Table) -> Account | None:
    """Give the account that the lines above the header name: by an IBAN, or by "Account number: ..."."""
    for record in table.preamble:
        line = " ".join(record.cells)
        if (iban := _IBAN.search(line)) and is_iban(iban[1]):
            return Account(number=iban[1].replace(" ", ""))
    for record in table.preamble:
        if number := _NUMBER.search(" ".join(record.cells)):
            return Account(number=re.sub(r"[\s\-/]", "", number[1]))
    return None


def is_iban(text: str) -> bool:
    """Whether a text is an IBAN, by its check digits (ISO 13616)."""
    plain = text.replace(" ", "").upper()
    if re.fullmatch(r"[A-Z]{2}\d{2}[A-Z0-9]{10,30}", plain) is None:
        return False
    return int("".join(str(int(char, 36)) for char in plain[4:] + plain[:4])) % 97 == 1


def _named_account(cell: str) -> Account:
    """Give the account of a column: its number, or "Main account" as its name."""
    return Account(number=cell) if any(map(str.isdigit, cell)) else Account(name=cell)


class _Reader:
    """Reads one record after the other."""

    def __init__(self, table: Table, mapping: CsvMapping) -> None:
        self._width = table.width
        self._has_header = table.header is not None
        self._mapping = mapping

    def is_note(self, record: Record, *, after_bookings: bool) -> bool:
        """Whether a record is no booking and does not look like one."""
        cells = record.cells
        dated, moved = looks_like_date(self._cell(cells, self._mapping.date)), bool(self._amount_cells(cells))
        if dated and moved:
            return False
        first = next((cell for cell in cells if cell.strip()), "")
        if _SUMMARY.match(normalise(first)) or (
            self._mapping.texts and _SUMMARY.match(normalise(self._cell(cells, self._mapping.texts[0])))
        ):
            return True
        filled = sum(bool(cell.strip()) for cell in cells)
        return after_bookings and not dated and (filled <= _FOOTER_CELLS or not moved)

    def is_above_bookings(self, record: Record) -> bool:
        """Whether a record above all bookings of a file without header has words in the place of the date."""
        date = self._cell(record.cells, self._mapping.date)
        return not self._has_header and date != "" and not any(map(str.isdigit, date))

    def why_left_out(self, record: Record) -> str | None:
        """Say why a record needs no date: it is pending, as its status or the date's place says, or void."""
        words = {normalise(self._cell(record.cells, at)) for at in (self._mapping.status, self._mapping.date)}
        if words & VOID:
            return f"line {record.line} was not carried out ({(words & VOID).pop()}): {record}"
        if words & PENDING:
            return f"line {record.line} is pending: {record}"
        return None

    def read(self, record: Record) -> tuple[str | None, StatementRow, str | None]:
        """Give the account, the booking, and why it is left out if it is; ValueError says what is wrong."""
        cells, mapping = record.cells, self._mapping
        if any(cell.strip() for cell in cells[self._width :]):
            raise ValueError(f"it has {len(cells)} cells where the header has {self._width}")
        try:
            posted = parse_date(self._cell(cells, mapping.date), mapping.date_order)
        except ValueError:
            raise ValueError(f"{shorten(self._cell(cells, mapping.date), 30)!r} is no date") from None
        currency, amount = self._amount(cells)
        status = normalise(self._cell(cells, mapping.status))
        texts = [self._cell(cells, index) for index in mapping.texts]
        description = join_texts(*texts) or shorten(self._cell(cells, mapping.fallback_text))
        row = StatementRow(
            line=record.line,
            posted=posted,
            amount=amount,
            currency=currency,
            description=description,
            native_id=shorten(self._cell(cells, mapping.native_id), 200) or None,
            pending=status in PENDING,
            balance=self._balance(cells, currency),
            category=TRANSFER if normalise(self._cell(cells, mapping.fallback_text)) in _OWN_MOVES else None,
        )
        account = re.sub(r"\s+", " ", self._cell(cells, mapping.account_column)).strip() or None
        void = f"line {record.line} was not carried out ({status}): {record}" if status in VOID else None
        return account, row, void

    def _cell(self, cells: Sequence[str], index: int | None) -> str:
        return cells[index].strip() if index is not None and index < len(cells) else ""

    def _amount_cells(self, cells: Sequence[str]) -> list[str]:
        indexes = (self._mapping.amount, self._mapping.debit, self._mapping.credit)
        return [cell for index in indexes if (cell := self._cell(cells, index)) and looks_like_amount(cell)]

    def _amount(self, cells: Sequence[str]) -> tuple[str, int]:
        mapping = self._mapping
        if mapping.sign == "two_columns":
            value, beside = self._two_columns(cells)
        else:
            text = self._cell(cells, mapping.amount)
            value, beside, marker = self._parse(text)
            if mapping.sign == "positive_is_out":
                value = -value
            elif mapping.sign == "marker":
                if mapping.marker is not None:
                    marker = parse_direction(self._cell(cells, mapping.marker))
                if marker is None and mapping.marker is not None:
                    raise ValueError(f"{self._cell(cells, mapping.marker)!r} is neither debit nor credit")
                # A minus together with a D or S is the same said twice.
                value = -abs(value) if marker == "out" else (abs(value) if marker == "in" else value)
        if mapping.fee is not None and (fee := self._cell(cells, mapping.fee)):
            value -= self._parse(fee)[0]
        named = self._cell(cells, mapping.currency_column)
        currency = (parse_currency(named) if named else None) or beside or mapping.currency
        if currency is None:
            raise ValueError(f"{named!r} is no currency" if named else "it names no currency")
        return currency, to_minor(value, currency)

    def _two_columns(self, cells: Sequence[str]) -> tuple[Decimal, str | None]:
        out_text, in_text = self._cell(cells, self._mapping.debit), self._cell(cells, self._mapping.credit)
        parsed = [(self._parse(text), factor) for text, factor in ((out_text, -1), (in_text, 1)) if text]
        # Some banks fill the other column with 0,00.
        moved = [one for one in parsed if one[0][0] != 0] or parsed[:1]
        if len(moved) != 1:
            raise ValueError("both its debit and its credit are filled" if moved else "it has no amount")
        (value, currency, _), factor = moved[0]
        # Debits are written with a minus by some banks and without by others; both mean money out.
        return factor * abs(value), currency

    def _parse(self, text: str) -> tuple[Decimal, str | None, str | None]:
        if not text:
            raise ValueError("it has no amount")
        try:
            return parse_amount(text, self._mapping.decimal)
        except ValueError:
            raise ValueError(
                f"{shorten(text, 30)!r} is no amount with a decimal {self._mapping.decimal}"
            ) from None

    def _balance(self, cells: Sequence[str], currency: str) -> int | None:
        try:
            value = parse_amount(self._cell(cells, self._mapping.balance), self._mapping.decimal).value
            return to_minor(value, currency)
        except ValueError:
            return None


def _ends_of_bookings(table: Table, mapping: CsvMapping) -> tuple[int, int]:
    """Give the indexes of the first and of the last record with a date; (-1, -1) if there is none."""
    order = range(len(table.records))
    dated = (
        index for index in order if looks_like_date("".join(table.records[index].cells[mapping.date :][:1]))
    )
    backwards = (
        index
        for index in reversed(order)
        if looks_like_date("".join(table.records[index].cells[mapping.date :][:1]))
    )
    return next(dated, -1), next(backwards, -1)


def _balance_agrees(statements: Sequence[Statement]) -> bool | None:
    """Whether the balances of all accounts fit the signs that were read."""
    found: list[bool] = []
    for statement in statements:
        rows = [row for row in statement.rows if row.balance is not None]
        pairs = [(_scaled(row.amount, row), _scaled(row.balance or 0, row)) for row in rows]
        dates: list[datetime.date] = [row.posted for row in rows]
        sign = proven_sign(pairs, newest_first=newest_first(dates))
        if sign is not None:
            found.append(sign == "negative_is_out")
    return all(found) if found else None


def _scaled(amount: int, row: StatementRow) -> Decimal:
    return Decimal(amount).scaleb(-decimals(row.currency))
