"""What every figure says about itself: its period, its filters, how many rows, and the SQL that gives it.

Money is always of one currency. A result has a sum for each currency, and none over two.
"""

from __future__ import annotations

from datetime import date

import msgspec

_NO_CENTS = frozenset({"JPY", "KRW", "VND", "CLP", "ISK", "XAF", "XOF", "PYG", "UGX", "RWF", "XPF"})
_THOUSANDTHS = frozenset({"BHD", "KWD", "OMR", "TND", "JOD", "IQD", "LYD"})


def decimals(currency: str) -> int:
    """How many decimals a currency has: its minor unit (ISO 4217)."""
    return 0 if currency in _NO_CENTS else 3 if currency in _THOUSANDTHS else 2


def format_amount(amount: int, currency: str) -> str:
    """Write minor units as people do: ``1,234.50 EUR``."""
    places = decimals(currency)
    whole, part = divmod(abs(amount), 10**places)
    cents = f".{part:0{places}d}" if places else ""
    return f"{'-' if amount < 0 else ''}{whole:,}{cents} {currency}"


class Money(msgspec.Struct, frozen=True, order=True):
    """An amount in the minor units of its currency."""

    currency: str
    amount: int

    def __str__(self) -> str:
        return format_amount(self.amount, self.currency)


class Period(msgspec.Struct, frozen=True, order=True):
    """Days from one to another, both inclusive."""

    start: date
    end: date

    def __str__(self) -> str:
        return f"{self.start} to {self.end}"

    @property
    def days(self) -> int:
        """How many days it has."""
        return (self.end - self.start).days + 1


def month_of(day: date) -> Period:
    """Give the calendar month that a day is in."""
    start = day.replace(day=1)
    following = date(start.year + start.month // 12, start.month % 12 + 1, 1)
    return Period(start, date.fromordinal(following.toordinal() - 1))


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """What every result of the ledger says."""

    period: Period
    filters: tuple[str, ...]
    """What was counted and what was left out, as short phrases."""
    rows: int
    """How many transactions were counted."""
    totals: tuple[Money, ...]
    """The sum of each currency."""
    sql: str
    """The SQL that gives the figures, with its values filled in."""
