"""What was meant to be spent in a month, what was, and whether the pace fits."""

from __future__ import annotations

import sqlite3
from datetime import date
from typing import Literal

import msgspec

from trunkline.demos.finance.ledger.analysis.spending import select
from trunkline.demos.finance.ledger.results import Money, Period, Result, month_of
from trunkline.demos.finance.ledger.selection import EVERYTHING, fill, phrases

State = Literal["over", "ahead", "on track"]
TOLERANCE = 1.05
"""How far above the even pace is still on track."""


class BudgetLine(msgspec.Struct, frozen=True, kw_only=True):
    """The budget of a category or a group in a currency."""

    category: str
    currency: str
    monthly: int
    """The budget: what is meant to be spent, not what was."""
    spent: int
    left: int
    """The budget less what was spent; negative if it is over."""
    expected: int
    """What an even pace would have spent until the day."""
    projected: int
    """What the month costs if it goes on like this."""
    state: State
    rows: int


class BudgetReport(Result, frozen=True, kw_only=True):
    """All budgets in a month; ``totals`` is what was spent on what has one, each charge once."""

    lines: tuple[BudgetLine, ...]
    day: int
    """How many days of the month are over, today included."""
    days: int


_LINES = """SELECT b.category, b.currency, b.monthly, coalesce(sum(s.spent), 0) AS spent, count(s.id) AS rows
FROM budgets AS b LEFT JOIN spending AS s ON s.currency = b.currency AND s.day BETWEEN ? AND ?
AND (s.category = b.category OR s.category_group = b.category)
GROUP BY b.category, b.currency ORDER BY b.currency, b.category"""
_TOTALS = """SELECT currency, sum(spent), count(*) FROM spending AS s WHERE day BETWEEN ? AND ? AND EXISTS (
SELECT 1 FROM budgets AS b WHERE b.currency = s.currency AND b.category IN (s.category, s.category_group)
) GROUP BY currency"""


def budget_status(db: sqlite3.Connection, today: date, month: Period | None = None) -> BudgetReport:
    """Give each budget of a month (the present one), what was spent of it, and the pace until today."""
    period = month_of(today) if month is None else month
    gone = min(max((today - period.start).days + 1, 0), period.days)
    values = (period.start, period.end)
    sums = select(db, _TOTALS, values)
    return BudgetReport(
        period=period,
        filters=phrases(EVERYTHING),
        rows=sum(row[2] for row in sums),
        totals=tuple(Money(currency, amount) for currency, amount, _ in sums),
        sql=fill(_LINES, values),
        lines=tuple(_line(row, gone, period.days) for row in select(db, _LINES, values)),
        day=gone,
        days=period.days,
    )


def _line(row: tuple[str, str, int, int, int], gone: int, days: int) -> BudgetLine:
    category, currency, monthly, spent, rows = row
    expected = round(monthly * gone / days)
    state: State = "over" if spent > monthly else "ahead" if spent > TOLERANCE * expected else "on track"
    return BudgetLine(
        category=category,
        currency=currency,
        monthly=monthly,
        spent=spent,
        left=monthly - spent,
        expected=expected,
        projected=round(spent * days / gone) if gone else 0,
        state=state,
        rows=rows,
    )
