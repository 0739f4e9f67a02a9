"""What comes again and again: its rhythm, its price, when it is due, and whether it ended.

A series is charges of one merchant in one account and currency whose days are some weeks, a month, a quarter
or a year apart, and whose amounts stay the same but for steps. A shop where one happens to be every week has
amounts that differ each time, so it is none.
"""

from __future__ import annotations

import itertools
import sqlite3
from collections import defaultdict
from collections.abc import Sequence
from datetime import date, timedelta
from statistics import median
from typing import Literal, NamedTuple

import msgspec

from trunkline.demos.finance.ledger.analysis.charges import COLUMNS, Charge, select_charges
from trunkline.demos.finance.ledger.results import Money, Period, Result, month_of
from trunkline.demos.finance.ledger.selection import EVERYTHING, Filters, conditions, fill, phrases

CadenceName = Literal["weekly", "fortnightly", "four-weekly", "monthly", "quarterly", "yearly"]


class _Cadence(NamedTuple):
    name: CadenceName
    shortest: int
    longest: int
    weeks: int
    months: int
    a_year: int
    fewest: int
    late: int
    """How many days after its day it is over, and not only late."""


_CADENCES = (
    _Cadence("weekly", 6, 8, 1, 0, 52, 4, 10),
    _Cadence("fortnightly", 13, 15, 2, 0, 26, 4, 10),
    # The months of a year are longer, but for one: so four weeks are told from a month.
    _Cadence("four-weekly", 27, 29, 4, 0, 13, 4, 10),
    _Cadence("monthly", 26, 36, 0, 1, 12, 3, 15),
    _Cadence("quarterly", 84, 99, 0, 3, 4, 3, 30),
    _Cadence("yearly", 350, 380, 0, 12, 1, 2, 45),
)
LOOK_BACK = timedelta(days=3 * 366)
REGULAR = 0.8
"""Which part of the distances has to fit the rhythm."""
STEADY = 0.7
"""Which part of the charges has to cost what the one before did."""
NARROW = 1.06
"""How far apart amounts may be that count as the same price: exchange rates, cents."""
WIDE = 2.5
"""How far apart the prices of one series may be."""


class PriceChange(msgspec.Struct, frozen=True):
    """A new price, and since when."""

    day: date
    before: int
    after: int


class Subscription(msgspec.Struct, frozen=True, kw_only=True):
    """A series of charges."""

    merchant: str
    category: str
    account: str
    currency: str
    cadence: CadenceName
    amount: int
    """The present price."""
    charges: int
    first: date
    last: date
    next_due: date | None
    """When the next one is expected; None if it ended."""
    status: Literal["active", "cancelled"]
    price_changes: tuple[PriceChange, ...]
    yearly: int
    """What it costs in a year at the present price."""


class Due(msgspec.Struct, frozen=True, order=True):
    """A charge that is expected."""

    day: date
    merchant: str
    amount: int
    currency: str


class SubscriptionList(Result, frozen=True, kw_only=True):
    """Series of charges; ``totals`` is what the active ones cost in a month, ``rows`` their charges."""

    subscriptions: tuple[Subscription, ...]
    """The active ones first, the dearest in a year first."""
    due: tuple[Due, ...]
    """What is expected in the next days, today included."""


def subscriptions(
    db: sqlite3.Connection, today: date, *, due_within: int = 30, filters: Filters = EVERYTHING
) -> SubscriptionList:
    """Find what comes again and again in the last three years, and what of it is due within days."""
    period = Period(today - LOOK_BACK, today)
    where = conditions(filters, period)
    series: dict[tuple[str, str, str], list[Charge]] = defaultdict(list)
    for charge in select_charges(db, where, "day, id"):
        if charge.kind == "spend" and charge.spent > 0:
            series[charge.merchant, charge.account, charge.currency].append(charge)
    found = [one for charges in series.values() for one in _find(charges, today)]
    found.sort(key=lambda one: (one.status, one.currency, -one.yearly, one.merchant, one.first))
    until = today + timedelta(days=due_within)
    monthly: dict[str, int] = defaultdict(int)
    for one in found:
        if one.status == "active":
            monthly[one.currency] += one.yearly
    return SubscriptionList(
        period=period,
        filters=phrases(filters),
        rows=sum(one.charges for one in found),
        totals=tuple(Money(currency, round(amount / 12)) for currency, amount in monthly.items()),
        sql=fill(
            f"SELECT {COLUMNS} FROM spending WHERE {where.sql} AND kind = 'spend' ORDER BY merchant, day",
            where.values,
        ),
        subscriptions=tuple(found),
        due=tuple(sorted(due for one in found for due in _due(one, today, until))),
    )


def _find(charges: Sequence[Charge], today: date) -> list[Subscription]:
    """Find the series in the charges of one merchant: all of them are one, or those of one price are."""
    charges = _without_doubles(charges)
    if whole := _series(charges, today):
        return [whole]
    by_amount: dict[int, list[Charge]] = defaultdict(list)
    for charge in charges:
        by_amount[charge.spent].append(charge)
    found = [_series(same, today) for _, same in sorted(by_amount.items()) if len(same) >= 3]
    return [one for one in found if one is not None]


def _without_doubles(charges: Sequence[Charge]) -> list[Charge]:
    """Leave out a charge that equals the one of the days before: it is a mistake, not a rhythm."""
    kept: list[Charge] = []
    for charge in charges:
        if kept and charge.spent == kept[-1].spent and (charge.day - kept[-1].day).days <= 3:
            continue
        kept.append(charge)
    return kept


def _series(charges: Sequence[Charge], today: date) -> Subscription | None:
    gaps = [(later.day - earlier.day).days for earlier, later in itertools.pairwise(charges)]
    cadence = _cadence(gaps, len(charges))
    if cadence is None or not _steady([charge.spent for charge in charges]):
        return None
    last = charges[-1]
    expected = _next(last.day, cadence, [charge.day.day for charge in charges])
    active = today <= expected + timedelta(days=cadence.late)
    return Subscription(
        merchant=last.merchant,
        category=last.category,
        account=last.account,
        currency=last.currency,
        cadence=cadence.name,
        amount=last.spent,
        charges=len(charges),
        first=charges[0].day,
        last=last.day,
        next_due=expected if active else None,
        status="active" if active else "cancelled",
        price_changes=_price_changes(charges),
        yearly=last.spent * cadence.a_year,
    )


def _cadence(gaps: Sequence[int], charges: int) -> _Cadence | None:
    for cadence in _CADENCES:
        fitting = sum(cadence.shortest <= gap <= cadence.longest for gap in gaps)
        if charges >= cadence.fewest and fitting >= REGULAR * len(gaps):
            return cadence
    return None


def _steady(amounts: Sequence[int]) -> bool:
    middle = median(amounts)
    if max(amounts) > WIDE * middle or min(amounts) * WIDE < middle:
        return False
    pairs = list(itertools.pairwise(amounts))
    same = sum(max(pair) <= NARROW * min(pair) for pair in pairs)
    # Of a few charges, one step between two prices is all that there is to see.
    steps = sum(pair[0] != pair[1] for pair in pairs)
    return same >= STEADY * len(pairs) or (steps == 1 and max(amounts) <= 1.3 * min(amounts))


def _price_changes(charges: Sequence[Charge]) -> tuple[PriceChange, ...]:
    pairs = itertools.pairwise(charges)
    return tuple(PriceChange(b.day, a.spent, b.spent) for a, b in pairs if a.spent != b.spent)


def _next(last: date, cadence: _Cadence, days: Sequence[int]) -> date:
    if cadence.weeks:
        return last + timedelta(weeks=cadence.weeks)
    months = last.year * 12 + last.month - 1 + cadence.months
    month = month_of(date(months // 12, months % 12 + 1, 1))
    # One on the 31st is on the last day of a shorter month.
    return month.start.replace(day=min(round(median(days[-6:])), month.end.day))


def _due(one: Subscription, today: date, until: date) -> list[Due]:
    """Give the charges of a series that are expected until a day; one that is late is expected today."""
    found: list[Due] = []
    cadence = next(cadence for cadence in _CADENCES if cadence.name == one.cadence)
    day = one.next_due
    while day is not None and day <= until:
        found.append(Due(max(day, today), one.merchant, one.amount, one.currency))
        day = _next(day, cadence, [one.next_due.day if one.next_due else day.day])
    return found
