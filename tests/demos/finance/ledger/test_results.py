"""Money and periods."""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trunkline.demos.finance.ledger.results import Money, Period, format_amount, month_of


@pytest.mark.parametrize(
    ("amount", "currency", "text"),
    [
        (123450, "EUR", "1,234.50 EUR"),
        (-5, "EUR", "-0.05 EUR"),
        (1500, "JPY", "1,500 JPY"),
        (1, "KWD", "0.001 KWD"),
    ],
)
def test_minor_units_are_written_as_people_do(amount: int, currency: str, text: str) -> None:
    assert format_amount(amount, currency) == str(Money(currency, amount)) == text


@given(st.dates(date(1, 2, 1), date(9998, 12, 31)))
def test_a_month_has_all_its_days(day: date) -> None:
    month = month_of(day)
    assert month.start <= day <= month.end
    assert 28 <= month.days <= 31
    assert month.start.day == 1
    assert date.fromordinal(month.end.toordinal() + 1).day == 1


def test_a_period_says_its_days() -> None:
    assert str(Period(date(2026, 1, 1), date(2026, 1, 31))) == "2026-01-01 to 2026-01-31"
