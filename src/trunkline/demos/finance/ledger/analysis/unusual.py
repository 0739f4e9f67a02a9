"""Charges far above the usual, and charges that came twice.

The usual is the median of the earlier charges of the merchant, or of its category where there are too few.
How far is far is measured by the median distance from the median, so a few odd charges do not move it.
"""

from __future__ import annotations

import itertools
import sqlite3
from bisect import bisect_left
from collections import defaultdict
from datetime import date, timedelta
from statistics import median
from typing import Literal

import msgspec

from trunkline.demos.finance.ledger.analysis.charges import COLUMNS, Charge, select_charges
from trunkline.demos.finance.ledger.results import Money, Period, Result
from trunkline.demos.finance.ledger.selection import EVERYTHING, Filters, conditions, fill, phrases

HISTORY = timedelta(days=400)
"""How far back the usual goes."""
FEWEST = 5
"""How many earlier charges tell what is usual for a merchant."""
FEWEST_OF_CATEGORY = 8
FEWEST_MERCHANTS = 3
"""How many merchants of a category tell what is usual for it."""
DEVIATIONS = 6.0
"""How many typical distances above the usual is unusual."""
TIMES = 2.0
"""How many times the usual it has to be in any case; of a category twice as many, of all ten times."""
SMALLEST = 20_00
"""What costs less, in minor units, is never worth a look."""
DOUBLE_DAYS = 2
"""How many days a second charge may come after the first."""
DOUBLE_SMALLEST = 5_00
CASH = "Cash"
"""Machines give round amounts, so two equal ones are no mistake."""
USUAL_REPEATS = 3
"""A merchant that takes the same amount more often than this has a fixed price, and two are no mistake."""


Compared = Literal["merchant", "category", "all"]


class Unusual(msgspec.Struct, frozen=True):
    """A charge, and what is usual instead."""

    charge: Charge
    usual: int
    """The median, in minor units of the same currency."""
    times: float
    compared_with: Compared
    """All charges in the currency, where neither the merchant nor the category has a history."""
    sample: int
    """How many earlier charges tell the usual."""


class UnusualList(Result, frozen=True, kw_only=True):
    """Unusual charges, the farthest from the usual first; ``rows`` counts the charges that were looked at."""

    unusual: tuple[Unusual, ...]


class DoubleCharge(msgspec.Struct, frozen=True):
    """Two equal charges within days."""

    first: Charge
    second: Charge


class DoubleList(Result, frozen=True, kw_only=True):
    """Charges that may have come twice; ``totals`` is what the second ones cost."""

    doubles: tuple[DoubleCharge, ...]


def unusual_charges(db: sqlite3.Connection, period: Period, filters: Filters = EVERYTHING) -> UnusualList:
    """Find charges of a period that are far above what is usual for their merchant or category."""
    wide = Period(period.start - HISTORY, period.end)
    history = _History(_charges(db, wide, EVERYTHING))
    looked_at = _charges(db, period, filters)
    found = [one for charge in looked_at if (one := history.judge(charge)) is not None]
    found.sort(key=lambda one: (-one.times, one.charge.id))
    return UnusualList(
        period=period,
        filters=(*phrases(filters), f"compared with up to {HISTORY.days} days before"),
        rows=len(looked_at),
        totals=_sums([one.charge for one in found]),
        sql=_sql(period, filters, "spent DESC"),
        unusual=tuple(found),
    )


class _History:
    """Earlier charges by merchant, by category and of all, in the order of days."""

    def __init__(self, charges: list[Charge]) -> None:
        self._known: dict[tuple[str, str, str], list[tuple[date, int, str]]] = defaultdict(list)
        for charge in sorted(charges, key=lambda one: (one.day, one.id)):
            for key in self._keys(charge):
                self._known[key].append((charge.day, charge.spent, charge.merchant))

    @staticmethod
    def _keys(charge: Charge) -> list[tuple[str, str, str]]:
        names = (("merchant", charge.merchant), ("category", charge.category), ("all", ""))
        return [(what, name, charge.currency) for what, name in names]

    def judge(self, charge: Charge) -> Unusual | None:
        if charge.spent < SMALLEST:
            return None
        by_merchant, by_category, by_currency = self._keys(charge)
        sample = self._before(by_merchant, charge.day)
        if len(sample) >= FEWEST:
            return self._against(charge, sample, "merchant", TIMES)
        if any(amount == charge.spent for amount, _ in sample):
            return None  # It has come before, once a year for example.
        sample = self._before(by_category, charge.day)
        if len(sample) >= FEWEST_OF_CATEGORY and len({name for _, name in sample}) >= FEWEST_MERCHANTS:
            return self._against(charge, sample, "category", 2 * TIMES)
        sample = self._before(by_currency, charge.day)
        return self._against(charge, sample, "all", 10 * TIMES) if len(sample) >= FEWEST_OF_CATEGORY else None

    def _before(self, key: tuple[str, str, str], day: date) -> list[tuple[int, str]]:
        known = self._known[key]
        start, end = (bisect_left(known, limit, key=lambda one: one[0]) for limit in (day - HISTORY, day))
        return [(amount, merchant) for _, amount, merchant in known[start:end]]

    @staticmethod
    def _against(
        charge: Charge, sample: list[tuple[int, str]], what: Compared, times: float
    ) -> Unusual | None:
        usual = median(amount for amount, _ in sample)
        # 1.4826 makes it the standard deviation of a normal distribution. Where all charges are equal it is
        # zero; a twentieth of the usual stands for it then.
        spread = max(1.4826 * median(abs(amount - usual) for amount, _ in sample), usual / 20)
        if usual <= 0 or charge.spent < times * usual or charge.spent < usual + DEVIATIONS * spread:
            return None
        return Unusual(charge, round(usual), round(charge.spent / usual, 1), what, len(sample))


def double_charges(db: sqlite3.Connection, period: Period, filters: Filters = EVERYTHING) -> DoubleList:
    """Find charges of a period that equal one of the days before: merchant, account, amount and currency.

    One that was refunded is settled. A fixed price that is paid often is no mistake.
    """
    wide = Period(period.start - HISTORY, period.end)
    refunded = {row[0] for row in db.execute("SELECT pair_id FROM entries WHERE kind = 'refund'")}
    equal: dict[tuple[str, str, int, str], list[Charge]] = defaultdict(list)
    for charge in sorted(_charges(db, wide, filters), key=lambda one: (one.day, one.id)):
        equal[charge.merchant, charge.account, charge.spent, charge.currency].append(charge)
    found: list[DoubleCharge] = []
    for same in equal.values():
        for first, second in itertools.pairwise(same):
            apart = (second.day - first.day).days
            near = apart <= DOUBLE_DAYS and second.day >= period.start and second.spent >= DOUBLE_SMALLEST
            settled = second.category == CASH or {first.id, second.id} & refunded
            if near and not settled and _is_rare(same):
                found.append(DoubleCharge(first, second))
    found.sort(key=lambda one: (one.second.day, one.second.id))
    return DoubleList(
        period=period,
        filters=(*phrases(filters), f"equal charges at most {DOUBLE_DAYS} days apart"),
        rows=2 * len(found),
        totals=_sums([one.second for one in found]),
        sql=_double_sql(period, filters),
        doubles=tuple(found),
    )


def _is_rare(same: list[Charge]) -> bool:
    """Whether equal charges within days are the exception: few in all, or else far apart as a rule."""
    if len(same) <= USUAL_REPEATS:
        return True
    gaps = [(later.day - earlier.day).days for earlier, later in itertools.pairwise(same)]
    return median(gaps) > 5 * DOUBLE_DAYS


def _charges(db: sqlite3.Connection, period: Period, filters: Filters) -> list[Charge]:
    charges = select_charges(db, conditions(filters, period), "day, id")
    return [charge for charge in charges if charge.kind == "spend" and charge.spent > 0]


def _sums(charges: list[Charge]) -> tuple[Money, ...]:
    sums: dict[str, int] = defaultdict(int)
    for charge in charges:
        sums[charge.currency] += charge.spent
    return tuple(Money(currency, amount) for currency, amount in sums.items())


def _sql(period: Period, filters: Filters, order: str) -> str:
    where = conditions(filters, period)
    return fill(
        f"SELECT {COLUMNS} FROM spending WHERE {where.sql} AND kind = 'spend' ORDER BY {order}", where.values
    )


def _double_sql(period: Period, filters: Filters) -> str:
    where = conditions(filters, period)
    sql = (
        f"WITH charges AS (SELECT * FROM spending WHERE {where.sql} AND kind = 'spend') "
        "SELECT a.day, b.day AS again, a.merchant, a.spent, a.currency FROM charges AS a JOIN charges AS b "
        "ON b.merchant = a.merchant AND b.account = a.account AND b.spent = a.spent "
        "AND b.currency = a.currency AND b.id <> a.id AND (b.day, b.id) > (a.day, a.id) "
        f"AND julianday(b.day) - julianday(a.day) <= {DOUBLE_DAYS} WHERE a.spent >= {DOUBLE_SMALLEST}"
    )
    return fill(sql, where.values)
