"""Budgets: what was spent of them, and the pace."""

from datetime import date

import pytest
from tests.demos.finance.ledger.ledgers import TODAY, household, ledger_of
from tests.demos.finance.ledger.oracle import raw_spending, within

from trunkline.demos.finance.ledger.analysis.budgets import budget_status
from trunkline.demos.finance.ledger.results import Money, month_of


def test_each_budget_of_the_household_is_what_its_category_or_group_spent() -> None:
    db = household()
    rows = within(raw_spending(db), month_of(TODAY))
    report = budget_status(db, TODAY)
    assert (report.day, report.days) == (18, 30)
    assert len(report.lines) == 5
    for line in report.lines:
        mine = [
            row
            for row in rows
            if line.category in (row.category, row.group) and row.currency == line.currency
        ]
        assert (line.spent, line.rows) == (sum(row.spent for row in mine), len(mine))
        assert line.left == line.monthly - line.spent
        assert line.expected == round(line.monthly * 18 / 30)
    assert [row[0] for row in db.execute(report.sql)] == [line.category for line in report.lines]


@pytest.mark.parametrize(
    ("spent", "state", "projected"),
    [(50000, "over", 100000), (20000, "ahead", 40000), (15000, "on track", 30000)],
)
def test_the_pace_tells_the_state(spent: int, state: str, projected: int) -> None:
    db = ledger_of([("2026-11-03", -spent, "REWE")])
    db.execute("INSERT INTO budgets VALUES ('Groceries', 30000, 'EUR')")
    (line,) = budget_status(db, date(2026, 11, 15)).lines
    assert (line.state, line.projected) == (state, projected)


def test_a_month_that_is_over_is_whole_and_one_that_comes_has_no_pace() -> None:
    db = ledger_of([("2026-10-03", -30000, "REWE")])
    db.execute("INSERT INTO budgets VALUES ('Food', 30000, 'EUR')")
    (line,) = budget_status(db, TODAY, month_of(date(2026, 10, 1))).lines
    assert (line.state, line.expected, line.projected) == ("on track", 30000, 30000)
    (line,) = budget_status(db, TODAY, month_of(date(2026, 12, 1))).lines
    assert (line.expected, line.projected, line.spent) == (0, 0, 0)


def test_a_charge_under_two_budgets_is_once_in_the_total_and_currencies_stay_apart() -> None:
    db = ledger_of([("2026-11-03", -500, "REWE"), ("2026-11-03", -700, "REWE", "usd")])
    db.executemany("INSERT INTO budgets VALUES (?, 30000, 'EUR')", [("Food",), ("Groceries",)])
    report = budget_status(db, TODAY)
    assert report.totals == (Money("EUR", 500),)
    assert [line.spent for line in report.lines] == [500, 500]
    assert report.rows == 1
