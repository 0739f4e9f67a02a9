"""Two periods, and what drives the difference."""

from datetime import date
from random import Random

import pytest
from tests.demos.finance.ledger.ledgers import household, ledger_of
from tests.demos.finance.ledger.oracle import mutate, raw_spending, sums, within

from trunkline.demos.finance.ledger.analysis.comparison import compare
from trunkline.demos.finance.ledger.results import Money, Period, month_of
from trunkline.demos.finance.ledger.selection import Filters

OCTOBER, SEPTEMBER = month_of(date(2026, 10, 1)), month_of(date(2026, 9, 1))
JANUARY, FEBRUARY = month_of(date(2026, 1, 1)), month_of(date(2026, 2, 1))


def test_october_was_higher_because_of_a_laptop_and_a_weekend() -> None:
    result = compare(household(), OCTOBER, SEPTEMBER)
    assert [driver.name for driver in result.categories[:2]] == ["Electronics", "Hotels"]
    assert "Restaurants" in [driver.name for driver in result.categories[:4]]
    assert result.merchants[0].name == "MediaMarkt"
    assert result.merchants[0].reason == "new"
    assert result.charges[0].description.startswith("MEDIAMARKT")
    assert result.changes[0].amount > 100000


@pytest.mark.parametrize("number", range(4))
def test_the_drivers_add_up_to_the_difference(number: int) -> None:
    db = household(seed=f"seed {number}")
    mutate(db, Random(number))
    result = compare(db, OCTOBER, SEPTEMBER)
    rows = raw_spending(db)
    now, before = sums(within(rows, OCTOBER)), sums(within(rows, SEPTEMBER))
    changes = {
        currency: now.get(currency, (0, 0))[0] - before.get(currency, (0, 0))[0]
        for currency in {*now, *before}
    }
    assert {money.currency: money.amount for money in result.changes} == changes
    assert result.rows == sum(count for _, count in now.values())
    assert result.earlier_rows == sum(count for _, count in before.values())
    for drivers in (result.categories, result.merchants):
        for currency, change in changes.items():
            assert sum(driver.change for driver in drivers if driver.currency == currency) == change
        assert all(driver.count_effect + driver.price_effect == driver.change for driver in drivers)
        assert all(driver.now - driver.before == driver.change != 0 for driver in drivers)


def test_filters_count_for_both_periods() -> None:
    result = compare(household(), OCTOBER, SEPTEMBER, Filters(category="Restaurants"))
    assert {driver.name for driver in result.categories} == {"Restaurants"}
    assert result.filters[0] == "category Restaurants"


@pytest.mark.parametrize(
    ("before", "now", "reason"),
    [
        ((), (500,), "new"),
        ((500,), (), "gone"),
        ((500,), (500, 500), "more often"),
        ((500, 500), (500,), "less often"),
        ((500,), (900,), "dearer"),
        ((900,), (500,), "cheaper"),
    ],
)
def test_a_driver_has_a_reason(before: tuple[int, ...], now: tuple[int, ...], reason: str) -> None:
    lines = [(f"2026-01-{day:02d}", -amount, "REWE") for day, amount in enumerate(before, 1)]
    lines += [(f"2026-02-{day:02d}", -amount, "REWE") for day, amount in enumerate(now, 1)]
    result = compare(ledger_of(lines), FEBRUARY, JANUARY)
    assert [driver.reason for driver in result.merchants] == [reason]


def test_the_largest_part_of_a_fall_comes_first_when_it_fell() -> None:
    lines = [("2026-01-01", -500, "REWE"), ("2026-01-01", -900, "LIDL"), ("2026-02-01", -100, "EDEKA")]
    result = compare(ledger_of(lines), FEBRUARY, JANUARY)
    assert [driver.name for driver in result.merchants] == ["Lidl", "Rewe", "Edeka"]
    assert result.changes == (Money("EUR", -1300),)


def test_currencies_are_compared_by_themselves() -> None:
    lines = [("2026-01-01", -500, "REWE", "main"), ("2026-02-01", -900, "REWE", "usd")]
    result = compare(ledger_of(lines), FEBRUARY, JANUARY)
    assert {money.currency: money.amount for money in result.changes} == {"EUR": -500, "USD": 900}
    assert {(driver.currency, driver.reason) for driver in result.merchants} == {
        ("EUR", "gone"),
        ("USD", "new"),
    }


def test_a_period_may_overlap_the_other_and_the_sql_can_be_run() -> None:
    year = Period(date(2026, 1, 1), date(2026, 12, 31))
    db = household()
    result = compare(db, year, OCTOBER)
    assert result.earlier_totals == compare(db, OCTOBER, year).totals
    rows = db.execute(result.sql).fetchall()
    assert sum(row[2] for row in rows if row[1] == "EUR") == next(
        money.amount for money in result.totals if money.currency == "EUR"
    )
