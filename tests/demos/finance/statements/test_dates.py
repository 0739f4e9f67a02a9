"""Dates as banks write them."""

import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trunkline.demos.finance.statements.dates import DateOrder, detect_order, looks_like_date, parse_date


@pytest.mark.parametrize(
    ("text", "order"),
    [
        ("2026-03-04", "ymd"),
        ("2026-03-04", "dmy"),
        ("2026-03-04T23:59:59Z", "mdy"),
        ("2026/03/04 12:30", "dmy"),
        ("04.03.2026", "dmy"),
        ("4.3.26", "dmy"),
        ("03/04/26", "mdy"),
        ("3/4/2026", "mdy"),
        ("04-03-2026", "dmy"),
        ("26-03-04", "ymd"),
        ("20260304", "ymd"),
        ("04032026", "dmy"),
        ("4 Mar 2026", "mdy"),
        ("04-MAR-26", "ymd"),
        ("4. März 2026", "dmy"),
        ("04 mars 2026", "dmy"),
        ("Mar 4, 2026", "dmy"),
    ],
)
def test_a_date_is_read(text: str, order: DateOrder) -> None:
    assert parse_date(text, order) == datetime.date(2026, 3, 4)


@pytest.mark.parametrize(
    "text",
    ["", "2026-13-01", "31.02.2026", "12.50", "1.2.345", "10/2026", "x 4 2026", "4 Xyz 2026", "1" * 50],
)
def test_what_is_no_date_is_refused(text: str) -> None:
    assert not looks_like_date(text)


DAYS = st.dates(datetime.date(2000, 1, 1), datetime.date(2099, 12, 31))


@given(st.lists(DAYS, min_size=1), st.sampled_from(["%Y-%m-%d", "%d.%m.%Y", "%d.%m.%y", "%Y%m%d"]))
def test_dates_that_are_clear_have_one_order(days: list[datetime.date], form: str) -> None:
    texts = [day.strftime(form) for day in days]
    orders = detect_order(texts)
    if form == "%Y%m%d" and len(orders) > 1:
        return  # 20101112 is a date in every order.
    assert len(orders) == 1
    assert [parse_date(text, orders[0]) for text in texts] == days


@given(st.lists(DAYS, min_size=1), st.sampled_from(["%d/%m/%Y", "%m/%d/%Y", "%d-%m-%y", "%m/%d/%y"]))
def test_the_right_order_is_always_among_those_given(days: list[datetime.date], form: str) -> None:
    texts = [day.strftime(form) for day in days]
    right: DateOrder = "dmy" if form.startswith("%d") else "mdy"
    orders = detect_order(texts)
    assert right in orders
    clear = any(day.day > 12 for day in days)
    assert (len(orders) == 1) == clear or all(day.day == day.month for day in days)


def test_a_day_behind_a_year_needs_no_zero() -> None:
    assert parse_date("2026/1/5", "ymd") == datetime.date(2026, 1, 5)
    assert not looks_like_date("1/2/3")


def test_no_dates_have_no_order() -> None:
    assert detect_order(["x", ""]) == ()
