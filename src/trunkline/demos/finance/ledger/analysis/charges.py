"""Single charges and refunds: the newest or the largest."""

from __future__ import annotations

import sqlite3
from datetime import date
from typing import Any, Literal

import msgspec

from trunkline.demos.finance.ledger.analysis.spending import SUMS, select, totals_of
from trunkline.demos.finance.ledger.masking import mask_text
from trunkline.demos.finance.ledger.results import Money, Period, Result
from trunkline.demos.finance.ledger.selection import EVERYTHING, Condition, Filters, conditions, fill, phrases

COLUMNS = "id, day, posted, account, merchant, category, description, spent, currency, kind"
"""What a charge is made of."""

Order = Literal["newest", "largest"]
_ORDERS: dict[Order, str] = {"newest": "day DESC, id DESC", "largest": "spent DESC, id"}


class Charge(msgspec.Struct, frozen=True):
    """A charge, or a refund: then ``spent`` is negative."""

    id: int
    day: date
    """When it counts: a refund counts on the day of its charge."""
    posted: date
    account: str
    merchant: str
    category: str
    description: str
    """As the bank wrote it, with the numbers of accounts masked."""
    spent: int
    currency: str
    kind: str

    @property
    def money(self) -> Money:
        """What was spent."""
        return Money(self.currency, self.spent)


class ChargeList(Result, frozen=True, kw_only=True):
    """Charges of a period; ``rows`` counts all that fit, also those that a limit leaves out."""

    charges: tuple[Charge, ...] = ()


def charge_of(row: tuple[Any, ...]) -> Charge:
    """Make a charge from ``COLUMNS``."""
    id, day, posted, account, merchant, category, description, *others = row
    days = date.fromisoformat(day), date.fromisoformat(posted)
    return Charge(id, *days, account, merchant, category, mask_text(description), *others)


def select_charges(db: sqlite3.Connection, where: Condition, order: str) -> list[Charge]:
    """Give the charges that a condition finds."""
    sql = f"SELECT {COLUMNS} FROM spending WHERE {where.sql} ORDER BY {order}"
    return [charge_of(row) for row in select(db, sql, where.values)]


def list_charges(
    db: sqlite3.Connection,
    period: Period,
    filters: Filters = EVERYTHING,
    *,
    order: Order = "newest",
    limit: int = 20,
) -> ChargeList:
    """Give the newest or the largest charges; the largest of each currency, for they cannot be compared."""
    where = conditions(filters, period)
    sums = select(db, SUMS.format(where.sql), where.values)
    totals = totals_of(sums)
    charges = select_charges(db, where, _ORDERS[order])
    if order == "largest":
        by_currency = ([one for one in charges if one.currency == money.currency] for money in totals)
        charges = [one for some in by_currency for one in some[:limit]]
    sql = f"SELECT {COLUMNS} FROM spending WHERE {where.sql} ORDER BY {_ORDERS[order]}"
    return ChargeList(
        period=period,
        filters=phrases(filters),
        rows=sum(row[2] for row in sums),
        totals=totals,
        sql=fill(sql, where.values),
        charges=tuple(charges if order == "largest" else charges[:limit]),
    )
