"""The cells of a CSV file by their column, and how they are written: decimal mark, currency, sign.

A column with running balances proves which sign is money out.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from decimal import Decimal

from trunkline.demos.finance.ledger.results import decimals
from trunkline.demos.finance.statements.amounts import (
    DecimalMark,
    detect_decimal,
    parse_amount,
    parse_currency,
    parse_direction,
)
from trunkline.demos.finance.statements.balances import newest_first, proven_sign
from trunkline.demos.finance.statements.csv_layout import Table, is_booking
from trunkline.demos.finance.statements.dates import DateOrder, detect_order, parse_date
from trunkline.demos.finance.statements.mapping import Draft, Sign

_COMMON = "EUR|USD|GBP|CHF|SEK|NOK|DKK|PLN|CZK|HUF|JPY|CAD|AUD|NZD|INR|BRL|TRY|€|$|£|¥"
COMMON_CURRENCIES = frozenset(_COMMON.split("|"))
"""Words above a column or in the lines before the header that are taken for currencies."""
_CARD_PAID = re.compile(r"thank you|payment received|besten dank|paiement re[cç]u", re.IGNORECASE)
_MOST_SAMPLE = 2000


class Cells:
    """The filled cells of each column of a table, and what they show."""

    def __init__(self, table: Table) -> None:
        self.table = table
        self.width = table.width
        # A total, a balance or a damaged row must not hide what the bookings show.
        some = table.records[:_MOST_SAMPLE]
        whole = [one for one in some if is_booking(one.cells) and not any(one.cells[self.width :])]
        self.records = whole or list(some)
        self.cells = {index: self._filled(index) for index in range(self.width)}

    def _filled(self, index: int) -> list[str]:
        return [cell for one in self.records if len(one.cells) > index and (cell := one.cells[index].strip())]

    def holds(self, index: int, check: Callable[[str], bool], enough: float) -> bool:
        """Whether so large a part of a column's cells passes a check, and at least one."""
        cells = self.cells[index]
        fitting = sum(map(check, cells))
        return bool(cells) and fitting >= max(1, enough * len(cells))

    def decimal_mark(self, columns: Sequence[int]) -> DecimalMark | None:
        """Give the decimal mark of all amounts in some columns; None if they do not show it."""
        styles = detect_decimal(cell for index in columns for cell in self.cells[index])
        return next(iter(styles)) if len(styles) == 1 else None

    def decimal_of_currency(
        self, column: int | None, named: str | None, *columns: int | None
    ) -> DecimalMark | None:
        """Tell the mark of amounts in a currency without cents: the one that they show parts thousands."""
        codes = [named] if column is None else [parse_currency(cell) for cell in self.cells[column]]
        if not codes or any(code is None or decimals(code) for code in codes):
            return None
        marks = {char for cell in self.amounts(*columns) for char in cell if char in ".,"}
        if len(marks) != 1:
            return None
        return "point" if marks == {","} else "comma"

    def amounts(self, *columns: int | None) -> Iterable[str]:
        """Give the cells of some columns."""
        return (cell for index in columns if index is not None for cell in self.cells[index])

    def common_currency(self, *columns: int | None) -> str | None:
        """Give the currency that a header, the balances or the lines above name; None for none or several.

        The last of the columns is the balance.
        """
        header = self.table.header or ()
        named = [header[index] for index in columns if index is not None and index < len(header)]
        found = {code for cell in named for code in currencies_in(cell)}
        if not found and (last := columns[-1]) is not None:
            found = {code for cell in self.cells[last] if (code := _currency_of(cell)) is not None}
        if not found:
            above = [cell for record in self.table.preamble for cell in record.cells]
            found = {code for cell in above for code in currencies_in(cell)}
        return found.pop() if len(found) == 1 else None

    def amounts_name_currency(self, *columns: int | None) -> bool:
        """Whether each amount has its currency beside it."""
        cells = list(self.amounts(*columns))
        return bool(cells) and all(_currency_of(cell) is not None for cell in cells)

    def sign(self, draft: Draft) -> tuple[Sign | None, bool]:
        """Tell which amounts are money out, and whether the marker column is used for it."""
        if draft.debit is not None or draft.credit is not None:
            return "two_columns", False
        if draft.amount is None and draft.marker is not None:
            return "marker", True  # Whichever column a person chooses, this one says in or out.
        if draft.amount is None or draft.decimal is None:
            return None, False
        values = [
            value for cell in self.cells[draft.amount] if (value := value_of(cell, draft.decimal)) is not None
        ]
        if any(_has_marker(cell, draft.decimal) for cell in self.cells[draft.amount]):
            return "marker", False
        negative = sum(value < 0 for value in values)
        if draft.marker is not None and negative == 0:
            return "marker", True
        if draft.balance is not None:
            pairs = self.pairs(draft.amount, draft.balance, draft.decimal)
            proven = proven_sign(pairs, newest_first=self.newest_first(draft.date))
            if proven is not None:
                return proven, False
        if draft.marker is not None:
            proven = self._sign_by_marker(draft.amount, draft.marker, draft.decimal)
            if proven is not None:
                return proven, False
        # Where both signs are there and most have a minus, those are the payments; unless they pay a card's
        # bill, which is the only row of a card that was not used.
        paid = any(
            _CARD_PAID.search(" ".join(one.cells))
            and (value_of(one.cells[draft.amount], draft.decimal) or 0) < 0
            for one in self.records
            if len(one.cells) > draft.amount
        )
        return (
            ("negative_is_out", False)
            if negative and 2 * negative >= len(values) and not paid
            else (None, False)
        )

    def newest_first(self, date: int | None) -> bool | None:
        """Whether the rows run from new to old; None if the days do not show it."""
        if date is None:
            return None
        orders: Sequence[DateOrder] = detect_order(self.cells[date])
        if len(orders) != 1:
            return None
        dates: list[datetime.date] = []
        for cell in self.cells[date]:
            with suppress(ValueError):
                dates.append(parse_date(cell, orders[0]))
        return newest_first(dates)

    def pairs(self, amount: int, balance: int, decimal: DecimalMark) -> list[tuple[Decimal, Decimal]]:
        """Give the amount and the balance of each row that has both."""
        pairs: list[tuple[Decimal, Decimal]] = []
        for record in self.records:
            if len(record.cells) > max(amount, balance):
                moved, left = (value_of(record.cells[index], decimal) for index in (amount, balance))
                if moved is not None and left is not None:
                    pairs.append((moved, left))
        return pairs

    def _sign_by_marker(self, amount: int, marker: int, decimal: DecimalMark) -> Sign | None:
        seen: set[bool] = set()
        for record in self.records:
            if len(record.cells) > max(amount, marker):
                value, direction = (
                    value_of(record.cells[amount], decimal),
                    parse_direction(record.cells[marker]),
                )
                if value and direction:
                    seen.add((value < 0) == (direction == "out"))
        if len(seen) != 1:
            return None
        return "negative_is_out" if seen == {True} else "positive_is_out"


def value_of(cell: str, decimal: DecimalMark) -> Decimal | None:
    """Give the amount in a cell; None if it is none."""
    try:
        return parse_amount(cell, decimal).value
    except ValueError:
        return None


def _has_marker(cell: str, decimal: DecimalMark) -> bool:
    try:
        return parse_amount(cell, decimal).marker is not None
    except ValueError:
        return False


def _currency_of(cell: str) -> str | None:
    for decimal in ("point", "comma"):
        try:
            return parse_amount(cell, decimal).currency
        except ValueError:
            continue
    return None


def currencies_in(cell: str) -> set[str]:
    """Give the currencies that a text names: symbols, and the codes of the common ones."""
    words = re.split(r"[^A-Z€$£¥]+", re.sub(r"(?i)\beuro[as]?\b", "EUR", cell))
    return {code for word in words if word in COMMON_CURRENCIES and (code := parse_currency(word))}
