"""What was spent, against a second computation, on the household, on others and on changed ones."""

from collections.abc import Callable
from datetime import date, timedelta
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.demos.finance.ledger.ledgers import TODAY, household, ledger_of
from tests.demos.finance.ledger.oracle import Raw, mutate, raw_spending, sums, within

from trunkline.demos.finance.ledger.analysis.charges import list_charges
from trunkline.demos.finance.ledger.analysis.spending import By, Spending, spend
from trunkline.demos.finance.ledger.dataset import household_transactions
from trunkline.demos.finance.ledger.results import Money, Period, month_of
from trunkline.demos.finance.ledger.selection import Filters

OCTOBER = month_of(date(2026, 10, 1))
ALL_TIME = Period(date(2020, 1, 1), date(2030, 1, 1))
KEYS: dict[By, Callable[[Raw], str]] = {
    "category": lambda row: row.category,
    "group": lambda row: row.group,
    "merchant": lambda row: row.merchant,
    "account": lambda row: row.account,
    "month": lambda row: f"{row.day:%Y-%m}",
    "week": lambda row: str(row.day - timedelta(days=row.day.weekday())),
    "day": lambda row: str(row.day),
}


def groups(result: Spending) -> dict[tuple[str, str], tuple[int, int]]:
    return {(group.name, group.currency): (group.amount, group.rows) for group in result.groups}


def money(rows: list[Raw]) -> dict[str, int]:
    return {currency: amount for currency, (amount, _) in sums(rows).items()}


def totals(result: Spending) -> dict[str, int]:
    return {one.currency: one.amount for one in result.totals}


@pytest.mark.parametrize("today", [TODAY, date(2027, 3, 5), date(2028, 2, 29)])
def test_groceries_of_last_month_are_the_lines_of_the_supermarkets(today: date) -> None:
    month = month_of(month_of(today).start - timedelta(days=1))
    shops = ("REWE", "LIDL", "EDEKA", "ALNATURA")
    lines = [
        line
        for line in household_transactions(today)
        if line.description.startswith(shops) and month.start <= line.day <= month.end
    ]
    result = spend(household(today), month, Filters(category="Groceries"))
    assert result.totals == (Money("EUR", -sum(line.amount for line in lines)),)
    assert result.rows == len(lines)


def test_the_spending_of_the_household_is_all_that_goes_out_but_for_transfers_and_refunds() -> None:
    moves = (
        "UMBUCHUNG",
        "LASTSCHRIFT KREDITKARTE",
        "PAYMENT RECEIVED",
        "UBERTRAG",
        "TRANSFER TO WISE",
        "TOPUP",
    )
    earned = ("LOHN", "HABENZINSEN", "FINANZAMT")
    expected: dict[str, int] = {}
    for line in household_transactions(TODAY):
        if not line.description.startswith((*moves, *earned)):
            expected[line.currency] = expected.get(line.currency, 0) - line.amount
    assert totals(spend(household(), ALL_TIME)) == expected


@pytest.mark.parametrize("number", range(4))
@pytest.mark.parametrize("by", KEYS)
def test_every_way_to_group_agrees_with_a_second_computation(number: int, by: By) -> None:
    db = household(seed=f"seed {number}")
    mutate(db, Random(number))
    key = KEYS[by]
    for period in (OCTOBER, ALL_TIME, Period(TODAY, TODAY)):
        rows = within(raw_spending(db), period)
        result = spend(db, period, by=by)
        assert groups(result) == sums(rows, lambda row: (key(row), row.currency))
        assert totals(result) == money(rows)
        assert result.rows == len(rows)
        assert db.execute(result.sql).fetchall() == [
            (group.name, group.currency, group.amount, group.rows)
            for group in sorted(result.groups, key=lambda group: (-group.amount, group.name))
        ] or by in ("month", "week", "day")


@pytest.mark.parametrize("number", range(3))
def test_filters_agree_with_a_second_computation(number: int) -> None:
    db = household(seed=f"seed {number}")
    mutate(db, Random(number))
    rows = within(raw_spending(db), ALL_TIME)
    tests: list[tuple[Filters, Callable[[Raw], bool]]] = [
        (Filters(category="food"), lambda row: row.group == "Food"),
        (Filters(category="Coffee"), lambda row: row.category == "Coffee"),
        (Filters(merchant="rewe"), lambda row: row.merchant == "Rewe"),
        (Filters(account="Travel card"), lambda row: row.account == "Travel card"),
        (Filters(account="demo-card"), lambda row: row.account == "Travel card"),
        (Filters(tag="TRIP"), lambda row: "trip" in row.tags),
        (Filters(currency="usd"), lambda row: row.currency == "USD"),
        (Filters(minimum=5000), lambda row: row.spent >= 5000),
        (Filters(excluding=("Home", "Coffee")), lambda row: row.group != "Home" and row.category != "Coffee"),
        (Filters(category="nothing of the kind"), lambda row: False),
    ]
    for filters, test in tests:
        result = spend(db, ALL_TIME, filters)
        assert totals(result) == money([row for row in rows if test(row)])
        assert result.rows == sum(1 for row in rows if test(row))


def test_words_of_a_description_are_a_filter() -> None:
    db = ledger_of([("2026-01-02", -100, "CARD 77 Flowers"), ("2026-01-03", -50, "Bread")])
    assert spend(db, ALL_TIME, Filters(text="flOWers")).totals == (Money("EUR", 100),)


@pytest.mark.parametrize("number", range(3))
def test_a_transaction_with_two_tags_is_in_both_groups_and_once_in_the_total(number: int) -> None:
    db = household(seed=f"seed {number}")
    mutate(db, Random(number), 300)
    rows = raw_spending(db)
    result = spend(db, ALL_TIME, by="tag")
    expected = {
        (tag, currency): value
        for tag in ("trip", "work")
        for currency, value in sums([row for row in rows if tag in row.tags]).items()
    }
    assert groups(result) == expected
    assert totals(result) == money(rows)


def test_currencies_are_never_added() -> None:
    db = household()
    march = month_of(date(2026, 3, 1))
    result = spend(db, march, by="category")
    assert [one.currency for one in result.totals] == ["EUR", "USD"]
    for one in result.totals:
        assert sum(group.amount for group in result.groups if group.currency == one.currency) == one.amount


def test_a_limit_is_for_each_currency_and_says_how_much_it_leaves_out() -> None:
    march = month_of(date(2026, 3, 1))
    whole, cut = (spend(household(), march, by="merchant", limit=limit) for limit in (None, 2))
    assert [group.currency for group in cut.groups] == ["EUR", "EUR", "USD", "USD"]
    assert cut.more == len(whole.groups) - 4
    assert cut.totals == whole.totals
    assert cut.groups[0] == whole.groups[0]
    months = spend(household(), ALL_TIME, Filters(currency="EUR"), by="month", limit=3)
    assert [group.name for group in months.groups] == ["2026-09", "2026-10", "2026-11"]


def test_an_answer_names_its_period_its_filters_and_its_rows() -> None:
    result = spend(household(), OCTOBER, Filters(category="Food", excluding=("Coffee",)), by="merchant")
    assert result.period == OCTOBER
    assert result.filters[:2] == ("category Food", "without Coffee")
    assert "transfers between own accounts and card payments left out" in result.filters
    assert result.rows == sum(group.rows for group in result.groups)
    assert result.groups[0].money == Money("EUR", result.groups[0].amount)


def test_nothing_is_nothing() -> None:
    result = spend(ledger_of([]), OCTOBER, by="category")
    assert (result.rows, result.totals, result.groups) == (0, (), ())


lines = st.lists(
    st.tuples(
        st.dates(date(2026, 9, 1), date(2026, 11, 30)).map(str),
        st.integers(-50000, 50000),
        st.sampled_from(("REWE 1", "ZALANDO", "NETFLIX", "Umbuchung", "Anna", "GEHALT", "Erstattung Anna")),
        st.sampled_from(("main", "save", "card", "usd")),
    ),
    max_size=25,
)


def test_a_refund_is_no_purchase() -> None:
    returned = spend(household(), ALL_TIME, Filters(merchant="Zalando"))
    refunds = sum(
        row.spent < 0 for row in list_charges(household(), ALL_TIME, Filters(merchant="Zalando")).charges
    )
    assert refunds
    assert returned.purchases == {"EUR": returned.rows - refunds}


@given(lines)
def test_the_groups_add_up_to_the_total_whatever_is_in_the_ledger(
    drawn: list[tuple[str, int, str, str]],
) -> None:
    db = ledger_of(drawn)
    ways: tuple[By, ...] = ("category", "group", "merchant", "account", "month", "week", "day")
    for by in ways:
        result = spend(db, ALL_TIME, by=by)
        for one in result.totals:
            assert (
                sum(group.amount for group in result.groups if group.currency == one.currency) == one.amount
            )
    # Whatever is neither a transfer nor an income is spending, so nothing is lost.
    for currency in ("EUR", "USD"):
        whole = -sum(
            row[0]
            for row in db.execute(
                "SELECT amount FROM transactions WHERE currency = ? AND kind IN ('spend', 'refund')",
                (currency,),
            )
        )
        assert totals(spend(db, ALL_TIME)).get(currency, 0) == whole
