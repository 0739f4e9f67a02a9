from datetime import date
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trunkline.demos.finance.answers.phrases import (
    add_up,
    amount_of,
    basis,
    bold,
    count,
    join,
    money,
    table,
    when,
)
from trunkline.demos.finance.ledger.selection import LEFT_OUT, NETTED, SEPARATE

TODAY = date(2026, 11, 18)


@given(st.integers(min_value=-(10**12), max_value=10**12), st.sampled_from(["EUR", "USD"]))
def test_an_amount_is_read_as_it_is_written(cents: int, currency: str) -> None:
    amount = Decimal(cents) / 100
    assert amount_of(money(amount.quantize(Decimal("0.01")), currency)) == (amount, currency)


def test_currencies_are_added_apart() -> None:
    assert add_up(["1.50 EUR", "2.00 USD", "1,000.00 EUR"]) == ["1,001.50 EUR", "2.00 USD"]


def test_lists_and_counts_read_as_english() -> None:
    assert join(["a"]) == "a"
    assert join(["a", "b", "c"]) == "a, b and c"
    assert join([]) == "nothing"
    assert bold([]) == "**nothing**"
    assert count(1, "row") == "1 row"
    assert count(1200, "category", "categories") == "1,200 categories"


@pytest.mark.parametrize(
    ("start", "end", "words"),
    [
        ("2026-10-01", "2026-10-31", "In October 2026"),
        ("2026-10-03", "2026-10-03", "On 3 October 2026"),
        ("2026-10-03", "2026-10-05", "From 3 to 5 October 2026"),
        ("2026-01-01", "2026-11-18", "In 2026 so far (1 January to 18 November 2026)"),
        (None, "2026-11-18", "Over all time up to 18 November 2026"),
    ],
)
def test_a_sentence_begins_with_its_period(start: str | None, end: str, words: str) -> None:
    assert when({"period": {"start": start, "end": end}}, TODAY) == words


def test_a_cell_cannot_break_its_table() -> None:
    assert table(("A|B",), [("x|y\nz",), (None,)]) == "| A\\|B |\n| --- |\n| x\\|y z |\n|  |"


def test_columns_of_amounts_are_set_to_the_right() -> None:
    shown = table(("Shop", "Spent", "Day"), [("Rewe", "1,311.09 EUR", "2026-10-01"), ("Lidl", "", "x")])
    assert shown.splitlines()[1] == "| --- | ---: | --- |"


def test_what_a_figure_stands_on_is_said_in_one_short_line() -> None:
    period = {"start": "2026-10-01", "end": "2026-10-31"}
    filters = ["category Groceries", LEFT_OUT, NETTED, SEPARATE]
    one = {"period": period, "rows": 2, "filters": filters, "totals": ["3.00 EUR"]}
    days = "_2026-10-01 to 2026-10-31; 2 transactions; category Groceries; no transfers; refunds netted"
    assert basis(one, TODAY) == f'{days}. "Show the SQL" shows the query._'
    two = {**one, "totals": ["3.00 EUR", "4.00 USD"]}
    assert basis(two, TODAY) == f'{days}; currencies kept apart. "Show the SQL" shows the query._'
