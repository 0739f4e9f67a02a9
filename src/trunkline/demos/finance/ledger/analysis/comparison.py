"""Two periods next to each other, and what drives the difference ("why was October higher").

A driver is a category or a merchant. Its change has two parts: it was paid more or less often (at the price
of before), and it was dearer or cheaper (at the number of now). The parts add up to the change.
"""

from __future__ import annotations

import sqlite3
from typing import Literal

import msgspec

from trunkline.demos.finance.ledger.analysis.charges import Charge, select_charges
from trunkline.demos.finance.ledger.analysis.spending import SUMS, select, totals_of
from trunkline.demos.finance.ledger.results import Money, Period, Result
from trunkline.demos.finance.ledger.selection import EVERYTHING, Filters, Value, conditions, fill, phrases

Reason = Literal["new", "gone", "more often", "less often", "dearer", "cheaper", "same"]

MOST_CHARGES = 5
"""How many of the largest single charges are named."""


class Driver(msgspec.Struct, frozen=True):
    """What one category or merchant has to do with the difference."""

    name: str
    currency: str
    now: int
    before: int
    change: int
    rows_now: int
    rows_before: int
    reason: Reason
    count_effect: int
    """The part of the change that comes from the number of charges."""
    price_effect: int
    """The part that comes from their average price."""


class Comparison(Result, frozen=True, kw_only=True):
    """A period against an earlier one; ``totals`` and ``rows`` are those of the period."""

    earlier: Period
    earlier_totals: tuple[Money, ...]
    earlier_rows: int
    changes: tuple[Money, ...]
    """The period less the earlier one, for each currency."""
    categories: tuple[Driver, ...]
    merchants: tuple[Driver, ...]
    """The largest part of the change first; what changed nothing is not there."""
    charges: tuple[Charge, ...]
    """The largest single charges of merchants that the earlier period did not have."""


def compare(
    db: sqlite3.Connection, period: Period, earlier: Period, filters: Filters = EVERYTHING
) -> Comparison:
    """Compare what was spent in two periods."""
    now, before = conditions(filters, period), conditions(filters, earlier)
    sums = select(db, SUMS.format(now.sql), now.values)
    earlier_sums = select(db, SUMS.format(before.sql), before.values)
    amounts, earlier_amounts = ({row[0]: row[1] for row in rows} for rows in (sums, earlier_sums))
    currencies = [money.currency for money in totals_of(sums)]
    currencies += [money.currency for money in totals_of(earlier_sums) if money.currency not in currencies]
    changes = [Money(one, amounts.get(one, 0) - earlier_amounts.get(one, 0)) for one in currencies]
    merchants = _drivers(db, "merchant", period, earlier, filters, changes)
    new = {(driver.name, driver.currency) for driver in merchants if driver.reason == "new"}
    largest = [
        one for one in select_charges(db, now, "spent DESC, id") if (one.merchant, one.currency) in new
    ]
    sql, values = _statement("category", period, earlier, filters)
    return Comparison(
        period=period,
        filters=phrases(filters),
        rows=sum(row[2] for row in sums),
        totals=totals_of(sums),
        sql=fill(sql, values),
        earlier=earlier,
        earlier_totals=totals_of(earlier_sums),
        earlier_rows=sum(row[2] for row in earlier_sums),
        changes=tuple(changes),
        categories=_drivers(db, "category", period, earlier, filters, changes),
        merchants=merchants,
        charges=tuple(largest[:MOST_CHARGES]),
    )


def _statement(
    column: str, period: Period, earlier: Period, filters: Filters
) -> tuple[str, tuple[Value, ...]]:
    where = conditions(filters, None)
    span = "day BETWEEN ? AND ?"
    # Each period is added up by itself: they may overlap.
    sql = (
        f"SELECT {column} AS name, currency, "
        f"sum(CASE WHEN {span} THEN spent ELSE 0 END) AS now, "
        f"sum(CASE WHEN {span} THEN spent ELSE 0 END) AS before, "
        f"sum({span} AND kind = 'spend') AS rows_now, sum({span} AND kind = 'spend') AS rows_before "
        f"FROM spending WHERE ({span} OR {span}) AND {where.sql} "
        "GROUP BY name, currency ORDER BY name, currency"
    )
    both = (period.start, period.end, earlier.start, earlier.end)
    return sql, (*both, *both, *both, *where.values)


def _drivers(
    db: sqlite3.Connection,
    column: str,
    period: Period,
    earlier: Period,
    filters: Filters,
    changes: list[Money],
) -> tuple[Driver, ...]:
    drivers = [_driver(*row) for row in select(db, *_statement(column, period, earlier, filters))]
    order = {money.currency: (index, money.amount < 0) for index, money in enumerate(changes)}

    def rank(driver: Driver) -> tuple[int, int, str]:
        index, fell = order[driver.currency]
        return index, driver.change if fell else -driver.change, driver.name

    return tuple(sorted((driver for driver in drivers if driver.change), key=rank))


def _driver(name: str, currency: str, now: int, before: int, rows_now: int, rows_before: int) -> Driver:
    change = now - before
    if not rows_before or not rows_now:
        count_effect = change
    else:
        count_effect = round((rows_now - rows_before) * before / rows_before)
    price_effect = change - count_effect
    reason: Reason
    if not change:
        reason = "same"
    elif not rows_before and not before:
        reason = "new"
    elif not rows_now and not now:
        reason = "gone"
    elif abs(count_effect) >= abs(price_effect):
        reason = "more often" if count_effect > 0 else "less often"
    else:
        reason = "dearer" if price_effect > 0 else "cheaper"
    return Driver(
        name, currency, now, before, change, rows_now, rows_before, reason, count_effect, price_effect
    )
