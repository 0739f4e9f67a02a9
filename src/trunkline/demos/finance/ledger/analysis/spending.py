"""What was spent: in all, or by category, merchant, account, tag, month, week or day."""

from __future__ import annotations

import sqlite3
from datetime import date
from typing import Any, Literal

import msgspec

from trunkline.demos.finance.ledger.results import Money, Period, Result
from trunkline.demos.finance.ledger.selection import (
    EVERYTHING,
    TAGGED,
    Filters,
    Value,
    conditions,
    fill,
    phrases,
)

By = Literal["category", "group", "merchant", "account", "tag", "month", "week", "day"]

_NAMES: dict[By, str] = {
    "category": "category",
    "group": "category_group",
    "merchant": "merchant",
    "account": "account",
    "tag": "tag",
    "month": "month",
    # The Monday of the week.
    "week": "date(day, '-6 days', 'weekday 1')",
    "day": "day",
}
SUMS = "SELECT currency, sum(spent) AS amount, count(*) AS rows FROM spending WHERE {} GROUP BY currency"
"""The sums of each currency under a condition."""
IN_TIME = ("month", "week", "day")
"""Groups that follow each other: a limit would cut off the early ones."""


class Group(msgspec.Struct, frozen=True):
    """A part of a sum, in one currency."""

    name: str
    currency: str
    amount: int
    rows: int

    @property
    def money(self) -> Money:
        """The sum of the part."""
        return Money(self.currency, self.amount)


class Spending(Result, frozen=True, kw_only=True):
    """What was spent. A transaction with two tags is in the group of each, and once in the totals."""

    purchases: dict[str, int] = msgspec.field(default_factory=dict[str, int])
    """How often something was bought in each currency; a refund is no purchase."""
    by: By | None = None
    groups: tuple[Group, ...] = ()
    """The largest first, one currency after the other; in the order of time by month, week and day."""
    more: int = 0
    """How many groups the limit left out."""


def select(db: sqlite3.Connection, sql: str, values: tuple[Value, ...]) -> list[Any]:
    """Run a statement; days are written as in the ledger."""
    plain = [value.isoformat() if isinstance(value, date) else value for value in values]
    return db.execute(sql, plain).fetchall()


def totals_of(rows: list[tuple[str, int, int]]) -> tuple[Money, ...]:
    """Give the sum of each currency from (currency, sum, rows); the one with the most rows first."""
    ordered = sorted(rows, key=lambda row: (-row[2], row[0]))
    return tuple(Money(currency, amount) for currency, amount, _ in ordered)


def spend(
    db: sqlite3.Connection,
    period: Period,
    filters: Filters = EVERYTHING,
    *,
    by: By | None = None,
    limit: int | None = None,
) -> Spending:
    """Give what was spent in a period, in groups if asked; ``limit`` is how many groups of each currency."""
    where = conditions(filters, period)
    sql = SUMS.format(where.sql)
    sums = select(db, sql, where.values)
    groups: list[Group] = []
    if by is not None:
        source = f"spending JOIN tags ON transaction_id = {TAGGED}" if by == "tag" else "spending"
        order = "name, currency" if by in IN_TIME else "amount DESC, name"
        sql = (
            f"SELECT {_NAMES[by]} AS name, currency, sum(spent) AS amount, count(*) AS rows FROM {source} "
            f"WHERE {where.sql} GROUP BY name, currency ORDER BY {order}"
        )
        groups = [Group(*row) for row in select(db, sql, where.values)]
    totals = totals_of(sums)
    bought = f"SELECT currency, count(*) FROM spending WHERE {where.sql} AND kind = 'spend' GROUP BY currency"
    kept = _cut(groups, [money.currency for money in totals], limit, in_time=by in IN_TIME)
    return Spending(
        period=period,
        filters=phrases(filters),
        rows=sum(row[2] for row in sums),
        totals=totals,
        sql=fill(sql, where.values),
        purchases=dict(select(db, bought, where.values)),
        by=by,
        groups=kept,
        more=len(groups) - len(kept),
    )


def _cut(
    groups: list[Group], currencies: list[str], limit: int | None, *, in_time: bool
) -> tuple[Group, ...]:
    """Order groups by currency, and keep at most so many of each; of those in time, the last ones."""
    kept: list[Group] = []
    for currency in currencies:
        some = [group for group in groups if group.currency == currency]
        if limit is not None:
            some = some[-limit:] if in_time and limit else some[:limit]
        kept += some
    return tuple(sorted(kept, key=lambda group: group.name)) if in_time else tuple(kept)
