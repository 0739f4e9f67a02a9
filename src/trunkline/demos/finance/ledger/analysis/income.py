"""What came in, and how much of it was saved."""

from __future__ import annotations

import sqlite3

import msgspec

from trunkline.demos.finance.ledger.analysis.spending import Group, select, totals_of
from trunkline.demos.finance.ledger.results import Money, Period, Result
from trunkline.demos.finance.ledger.selection import EVERYTHING, fill, phrases


class SavingsRate(msgspec.Struct, frozen=True):
    """Which part of the income of a currency was not spent; None where nothing came in."""

    currency: str
    rate: float | None


class IncomeReport(Result, frozen=True, kw_only=True):
    """What came in; ``totals`` and ``rows`` are those of the income."""

    sources: tuple[Group, ...]
    """By category, the largest first."""
    spent: tuple[Money, ...]
    saved: tuple[Money, ...]
    """Income less spending, for each currency."""
    rates: tuple[SavingsRate, ...]


def income(db: sqlite3.Connection, period: Period) -> IncomeReport:
    """Give income, spending and savings of a period."""
    where, values = "day BETWEEN ? AND ?", (period.start, period.end)
    by_category = (
        "SELECT category AS name, currency, sum(received) AS amount, count(*) AS rows FROM income "
        f"WHERE {where} GROUP BY name, currency ORDER BY currency, amount DESC, name"
    )
    received = select(
        db, f"SELECT currency, sum(received), count(*) FROM income WHERE {where} GROUP BY currency", values
    )
    spent = select(
        db, f"SELECT currency, sum(spent), count(*) FROM spending WHERE {where} GROUP BY currency", values
    )
    came, went = ({row[0]: row[1] for row in rows} for rows in (received, spent))
    currencies = [money.currency for money in totals_of(received)]
    currencies += [money.currency for money in totals_of(spent) if money.currency not in came]
    saved = [Money(one, came.get(one, 0) - went.get(one, 0)) for one in currencies]
    sql = (
        "SELECT currency, sum(received) AS received, sum(spent) AS spent, sum(received - spent) AS saved "
        f"FROM (SELECT currency, received, 0 AS spent FROM income WHERE {where} "
        f"UNION ALL SELECT currency, 0, spent FROM spending WHERE {where}) GROUP BY currency"
    )
    return IncomeReport(
        period=period,
        filters=phrases(EVERYTHING),
        rows=sum(row[2] for row in received),
        totals=totals_of(received),
        sql=fill(sql, values * 2),
        sources=tuple(Group(*row) for row in select(db, by_category, values)),
        spent=totals_of(spent),
        saved=tuple(saved),
        rates=tuple(SavingsRate(one, _rate(came.get(one, 0), went.get(one, 0))) for one in currencies),
    )


def _rate(came: int, went: int) -> float | None:
    return round((came - went) / came, 4) if came > 0 else None
