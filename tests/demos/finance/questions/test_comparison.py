from datetime import date

import pytest
from tests.demos.finance.questions.vocabulary import TODAY

from trunkline.demos.finance.questions.comparison import compared_periods, period_before, year_before
from trunkline.demos.finance.questions.periods import Period, month_of

OCTOBER, SEPTEMBER = month_of(date(2026, 10, 1)), month_of(date(2026, 9, 1))
NOVEMBER = Period(date(2026, 11, 1), TODAY)


def test_the_period_before_is_of_the_same_kind() -> None:
    assert period_before(OCTOBER) == SEPTEMBER
    assert period_before(Period(date(2026, 7, 1), date(2026, 9, 30))) == Period(
        date(2026, 4, 1), date(2026, 6, 30)
    )
    assert period_before(NOVEMBER) == Period(date(2026, 10, 1), date(2026, 10, 18))
    assert period_before(Period(date(2026, 11, 9), date(2026, 11, 15))) == Period(
        date(2026, 11, 2), date(2026, 11, 8)
    )


def test_a_year_that_is_not_over_is_compared_with_the_same_days_of_the_year_before() -> None:
    so_far = Period(date(2026, 1, 1), TODAY)
    assert period_before(so_far) == Period(date(2025, 1, 1), date(2025, 11, 18))
    january = Period(date(2026, 1, 1), date(2026, 1, 18))
    assert period_before(january) == Period(date(2025, 12, 1), date(2025, 12, 18))


def test_a_year_before_a_leap_day_is_the_last_of_february() -> None:
    assert year_before(month_of(date(2024, 2, 1))) == month_of(date(2023, 2, 1))
    assert year_before(month_of(date(2025, 2, 1))) == month_of(date(2024, 2, 1))


@pytest.mark.parametrize(
    ("text", "periods", "expected"),
    [
        ("compare <_period> with <_period>", [SEPTEMBER, OCTOBER], (OCTOBER, SEPTEMBER)),
        ("<_period> more than <_period>", [SEPTEMBER, OCTOBER], (SEPTEMBER, OCTOBER)),
        ("why was <_period> higher", [OCTOBER], (OCTOBER, SEPTEMBER)),
        ("compare <_period> with the same month <_period>", [OCTOBER, month_of(date(2025, 10, 1))],
         (OCTOBER, month_of(date(2025, 10, 1)))),
        ("compare <_period> with <_period>", [OCTOBER, Period(date(2025, 1, 1), date(2025, 12, 31))],
         (OCTOBER, month_of(date(2025, 10, 1)))),
        ("why more than in <_period>", [OCTOBER], (NOVEMBER, OCTOBER)),
        ("why", [], (OCTOBER, SEPTEMBER)),
        ("year on year", [], (OCTOBER, month_of(date(2025, 10, 1)))),
    ],
)  # fmt: skip
def test_the_two_periods_of_a_comparison(
    text: str, periods: list[Period], expected: tuple[Period, Period]
) -> None:
    assert compared_periods(text, periods, TODAY) == expected


def test_a_comparison_goes_on_with_the_period_before_it() -> None:
    assert compared_periods("why more than in <_period>", [SEPTEMBER], TODAY, [OCTOBER]) == (
        OCTOBER,
        SEPTEMBER,
    )
    earlier = [SEPTEMBER, OCTOBER]
    assert compared_periods("why more than in <_period>", [SEPTEMBER], TODAY, earlier) == (OCTOBER, SEPTEMBER)
    assert compared_periods("why", [], TODAY, [OCTOBER], SEPTEMBER) == (OCTOBER, SEPTEMBER)


def test_a_year_before_goes_on_with_what_was_asked() -> None:
    last_year = Period(date(2025, 1, 1), date(2025, 12, 31))
    text = "compare with the same month <_period>"
    assert compared_periods(text, [last_year], TODAY, [OCTOBER]) == (OCTOBER, month_of(date(2025, 10, 1)))
    text = "why more than in <_period>"
    assert compared_periods(text, [last_year], TODAY, [OCTOBER]) == (OCTOBER, month_of(date(2025, 10, 1)))
    assert compared_periods("compare <_period> with <_period>", [OCTOBER, OCTOBER], TODAY) == (
        OCTOBER,
        SEPTEMBER,
    )
