from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.demos.finance.questions.vocabulary import TODAY

from trunkline.demos.finance.questions.periods import (
    BEGINNING,
    Period,
    describe_period,
    find_periods,
    mend_months,
    month_of,
)


def days(text: str, today: date = TODAY) -> list[str]:
    return [f"{found.period.start} {found.period.end}" for found in find_periods(mend_months(text), today)]


@pytest.mark.parametrize(
    ("text", "period"),
    [
        ("last month", "2026-10-01 2026-10-31"),
        ("this month", "2026-11-01 2026-11-18"),
        ("this week", "2026-11-16 2026-11-18"),
        ("last week", "2026-11-09 2026-11-15"),
        ("this year", "2026-01-01 2026-11-18"),
        ("year to date", "2026-01-01 2026-11-18"),
        ("last year", "2025-01-01 2025-12-31"),
        ("yesterday", "2026-11-17 2026-11-17"),
        ("the day before yesterday", "2026-11-16 2026-11-16"),
        ("today", "2026-11-18 2026-11-18"),
        ("october", "2026-10-01 2026-10-31"),
        ("december", "2025-12-01 2025-12-31"),
        ("october 2025", "2025-10-01 2025-10-31"),
        ("oct '25", "2025-10-01 2025-10-31"),
        ("october last year", "2025-10-01 2025-10-31"),
        ("last year in october", "2025-10-01 2025-10-31"),
        ("2025 in october", "2025-10-01 2025-10-31"),
        ("last november", "2025-11-01 2025-11-30"),
        ("3 october", "2026-10-03 2026-10-03"),
        ("october 3rd, 2025", "2025-10-03 2025-10-03"),
        ("2026-10-03", "2026-10-03 2026-10-03"),
        ("3.10.2026", "2026-10-03 2026-10-03"),
        ("2026-10", "2026-10-01 2026-10-31"),
        ("q3", "2026-07-01 2026-09-30"),
        ("q4 2025", "2025-10-01 2025-12-31"),
        ("the third quarter of 2025", "2025-07-01 2025-09-30"),
        ("first half of 2026", "2026-01-01 2026-06-30"),
        ("h2", "2026-07-01 2026-11-18"),
        ("last quarter", "2026-07-01 2026-09-30"),
        ("last 30 days", "2026-10-20 2026-11-18"),
        ("past two weeks", "2026-11-05 2026-11-18"),
        ("last 3 months", "2026-08-01 2026-10-31"),
        ("last 2 years", "2024-11-19 2026-11-18"),
        ("two months ago", "2026-09-01 2026-09-30"),
        ("a year ago", "2025-01-01 2025-12-31"),
        ("the month before last", "2026-09-01 2026-09-30"),
        ("since march", "2026-03-01 2026-11-18"),
        ("since 1 march 2025", "2025-03-01 2026-11-18"),
        ("from march to now", "2026-03-01 2026-11-18"),
        ("between 3 may and 9 june", "2026-05-03 2026-06-09"),
        ("between march and may 2025", "2025-03-01 2025-05-31"),
        ("from november to february", "2025-11-01 2026-02-28"),
        ("september to october", "2026-09-01 2026-10-31"),
        ("2025", "2025-01-01 2025-12-31"),
        ("last friday", "2026-11-13 2026-11-13"),
        ("last weekend", "2026-11-14 2026-11-15"),
        ("the first week of october", "2026-10-01 2026-10-07"),
        ("third week of february 2025", "2025-02-15 2025-02-21"),
        ("last week of september", "2026-09-24 2026-09-30"),
        ("second half of october", "2026-10-16 2026-10-31"),
        ("first half of october last year", "2025-10-01 2025-10-15"),
        ("the last 10 days of may", "2026-05-22 2026-05-31"),
        ("between 10 and 20 october", "2026-10-10 2026-10-20"),
        ("from 1st to 15th of october", "2026-10-01 2026-10-15"),
        ("from oct 1st to the 15th", "2026-10-01 2026-10-15"),
        ("oct 1-15", "2026-10-01 2026-10-15"),
        ("1-15 oct", "2026-10-01 2026-10-15"),
        ("october 1 to 5 november", "2026-10-01 2026-11-05"),
        ("10 to 20 december", "2025-12-10 2025-12-20"),
        ("after june", "2026-07-01 2026-11-18"),
        ("after 10 june", "2026-06-11 2026-11-18"),
        ("ocotber 2026", "2026-10-01 2026-10-31"),
        ("in may", "2026-05-01 2026-05-31"),
        ("october of last year", "2025-10-01 2025-10-31"),
        ("the last quarter of 2025", "2025-10-01 2025-12-31"),
        ("final half of 2025", "2025-07-01 2025-12-31"),
        ("october a year ago", "2025-10-01 2025-10-31"),
        ("october two years ago", "2024-10-01 2024-10-31"),
        ("3 october 2 years ago", "2024-10-03 2024-10-03"),
        ("in oct 25", "2025-10-01 2025-10-31"),
        ("on oct 25", "2026-10-25 2026-10-25"),
        ("in oct 30", "2026-10-30 2026-10-30"),
        ("from october", "2026-10-01 2026-11-18"),
        ("transactions from october", "2026-10-01 2026-10-31"),
        ("transactions from october on", "2026-10-01 2026-11-18"),
        ("payments from the last week of september", "2026-09-24 2026-09-30"),
        ("since the last week of september", "2026-09-24 2026-11-18"),
        ("all time", f"{BEGINNING} 2026-11-18"),
    ],
)
def test_a_period_in_english_is_found(text: str, period: str) -> None:
    assert days(text) == [period]


@pytest.mark.parametrize(
    "text",
    [
        "may i see it",
        "2026-02-30",
        "12 monkeys",
        "q7",
        "augustine",
        "match day",
        "2026-13",
        "",
    ],
)
def test_what_is_no_period_is_not_taken_for_one(text: str) -> None:
    assert days(text) == []


def test_two_periods_stay_two() -> None:
    assert days("compare september with october") == ["2026-09-01 2026-09-30", "2026-10-01 2026-10-31"]


@pytest.mark.parametrize(
    ("period", "words"),
    [
        (month_of(date(2026, 10, 5)), "October 2026"),
        (Period(date(2026, 11, 1), TODAY), "November 2026 so far (1 to 18 November 2026)"),
        (Period(date(2026, 1, 1), TODAY), "2026 so far (1 January to 18 November 2026)"),
        (Period(date(2026, 7, 1), date(2026, 9, 30)), "Q3 2026"),
        (Period(date(2025, 1, 1), date(2025, 12, 31)), "2025"),
        (Period(TODAY, TODAY), "18 November 2026"),
        (Period(date(2025, 12, 3), date(2026, 1, 4)), "3 December 2025 to 4 January 2026"),
        (Period(date(2026, 8, 1), date(2026, 10, 31)), "1 August to 31 October 2026"),
        (Period(BEGINNING, TODAY), "all time up to 18 November 2026"),
    ],
)
def test_a_period_is_said_in_words(period: Period, words: str) -> None:
    assert describe_period(period, TODAY) == words


@given(st.dates(date(2001, 1, 1), date(2099, 12, 31)), st.dates(date(2001, 1, 1), date(2099, 12, 31)))
def test_the_words_of_a_whole_month_are_read_back(day: date, today: date) -> None:
    month = month_of(day)
    if month.end < today:
        assert [found.period for found in find_periods(describe_period(month, today).lower(), today)] == [
            month
        ]


@given(st.text(alphabet="abcdefghijklmnopqrstuvwxyz0123456789 .-'", max_size=40), st.dates(date(1950, 1, 1)))
def test_any_text_is_read_without_an_error(text: str, today: date) -> None:
    for found in find_periods(text, min(today, date(9990, 1, 1))):
        assert found.period.start <= found.period.end
        assert 0 <= found.begin < found.end <= len(text)


def test_a_month_has_no_third_half() -> None:
    assert days("the second half of october") == ["2026-10-16 2026-10-31"]
    assert days("the last half of october") == ["2026-10-16 2026-10-31"]
    for place in ("third", "fourth"):
        assert days(f"the {place} half of october") == ["2026-10-01 2026-10-31"]


def test_a_month_back_over_new_year() -> None:
    assert month_of(date(2026, 1, 31), 2) == Period(date(2025, 11, 1), date(2025, 11, 30))
    assert month_of(TODAY).days == 30
    assert month_of(TODAY).end + timedelta(days=1) == date(2026, 12, 1)


@pytest.mark.parametrize(
    ("text", "periods"),
    [
        ("october and december 2025", ["2025-10-01 2025-10-31", "2025-12-01 2025-12-31"]),
        (
            "october november and december 2025",
            ["2025-10-01 2025-10-31", "2025-11-01 2025-11-30", "2025-12-01 2025-12-31"],
        ),
        ("october or november 2025", ["2025-10-01 2025-10-31", "2025-11-01 2025-11-30"]),
        ("october and october 2025", ["2026-10-01 2026-10-31", "2025-10-01 2025-10-31"]),
        ("october 2024 and november 2025", ["2024-10-01 2024-10-31", "2025-11-01 2025-11-30"]),
        ("october, and rent in november 2025", ["2026-10-01 2026-10-31", "2025-11-01 2025-11-30"]),
    ],
)
def test_months_that_are_joined_share_the_year_of_the_last(text: str, periods: list[str]) -> None:
    assert days(text) == periods


def test_days_of_the_week_from_one_to_another_end_before_today() -> None:
    """Today is a Wednesday."""
    assert days("from monday to wednesday") == ["2026-11-09 2026-11-11"]
    assert days("from monday to tuesday") == ["2026-11-16 2026-11-17"]
    assert days("between friday and sunday") == ["2026-11-13 2026-11-15"]
