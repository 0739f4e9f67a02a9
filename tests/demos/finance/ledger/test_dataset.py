"""The made-up household: the same for the same day, and with something to find for each question."""

import random
from datetime import date, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.demos.finance.ledger.ledgers import TODAY, household

from trunkline.demos.finance.ledger.dataset import household_transactions
from trunkline.demos.finance.ledger.demo import seed_demo

DAYS = st.dates(date(2001, 1, 1), date(2090, 12, 31))


def test_the_same_day_gives_the_same_data_and_no_random_state_is_touched() -> None:
    before = random.getstate()
    assert household_transactions(TODAY) == household_transactions(TODAY)
    assert random.getstate() == before
    assert household_transactions(TODAY, "another") != household_transactions(TODAY)


@settings(max_examples=25)
@given(DAYS)
def test_any_day_gives_two_whole_years_and_nothing_of_tomorrow(today: date) -> None:
    lines = household_transactions(today)
    assert max(line.day for line in lines) <= today
    assert min(line.day for line in lines) <= today - timedelta(days=729)
    assert len({(line.account, line.identity) for line in lines}) == len(lines)
    assert all(line.amount for line in lines)
    assert {line.currency for line in lines} == {"EUR", "USD"}


@pytest.mark.parametrize(
    "today", [TODAY, date(2026, 2, 28), date(2028, 2, 29), date(2026, 10, 1), date(2026, 1, 1)]
)
def test_every_card_payment_and_transfer_has_its_other_side(today: date) -> None:
    db = household(today)
    lonely = db.execute(
        "SELECT posted, description FROM transactions WHERE kind = 'transfer' AND pair_id IS NULL"
    ).fetchall()
    # The other side may be tomorrow.
    assert [row for row in lonely if row[0] < str(today - timedelta(days=3))] == []


def test_october_is_higher_than_september() -> None:
    spent = dict(
        household().execute("SELECT month, sum(spent) FROM spending WHERE currency = 'EUR' GROUP BY month")
    )
    assert spent["2026-10"] > 1.4 * spent["2026-09"]


def test_only_a_ledger_that_never_had_data_is_filled() -> None:
    db = household()
    assert seed_demo(db, TODAY) == 0
    db.execute("DELETE FROM accounts WHERE source = 'demo'")
    assert seed_demo(db, TODAY) == 0
    assert db.execute("SELECT count(*) FROM transactions").fetchone()[0] == 0
