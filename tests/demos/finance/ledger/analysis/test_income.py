"""What came in, and what was saved."""

from datetime import date
from random import Random

import pytest
from tests.demos.finance.ledger.ledgers import household, ledger_of
from tests.demos.finance.ledger.oracle import mutate, raw_spending, sums, within

from trunkline.demos.finance.ledger.analysis.income import income
from trunkline.demos.finance.ledger.results import Money, Period, month_of

YEAR = Period(date(2026, 1, 1), date(2026, 12, 31))


def test_the_salary_of_october_is_the_income_and_transfers_are_none() -> None:
    result = income(household(), month_of(date(2026, 10, 1)))
    assert result.totals == (Money("EUR", 331500),)
    assert [(group.name, group.amount) for group in result.sources] == [("Salary", 331500)]


@pytest.mark.parametrize("number", range(3))
def test_saved_is_income_less_spending_for_each_currency(number: int) -> None:
    db = household(seed=f"seed {number}")
    mutate(db, Random(number))
    result = income(db, YEAR)
    came: dict[str, int] = {}
    for currency, amount in db.execute(
        "SELECT currency, amount FROM transactions WHERE kind = 'income' AND posted BETWEEN ? AND ?",
        (str(YEAR.start), str(YEAR.end)),
    ):
        came[currency] = came.get(currency, 0) + amount
    went = {currency: amount for currency, (amount, _) in sums(within(raw_spending(db), YEAR)).items()}
    assert {money.currency: money.amount for money in result.totals} == came
    assert {money.currency: money.amount for money in result.spent} == went
    assert {money.currency: money.amount for money in result.saved} == {
        currency: came.get(currency, 0) - went.get(currency, 0) for currency in {*came, *went}
    }
    for rate in result.rates:
        expected = came.get(rate.currency, 0) - went.get(rate.currency, 0)
        assert rate.rate == (
            round(expected / came[rate.currency], 4) if came.get(rate.currency, 0) > 0 else None
        )
    assert {row[0]: row[3] for row in db.execute(result.sql)} == {
        money.currency: money.amount for money in result.saved
    }


def test_without_income_there_is_no_rate() -> None:
    result = income(ledger_of([("2026-03-01", -500, "REWE")]), YEAR)
    assert (result.totals, result.saved) == ((), (Money("EUR", -500),))
    assert [rate.rate for rate in result.rates] == [None]
