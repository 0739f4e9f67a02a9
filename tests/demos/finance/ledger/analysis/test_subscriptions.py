"""What comes again and again: rhythm, price, due days, and the end."""

from datetime import date, timedelta

import pytest
from tests.demos.finance.ledger.ledgers import TODAY, Line, household, ledger_of

from trunkline.demos.finance.ledger.analysis.subscriptions import Subscription, subscriptions
from trunkline.demos.finance.ledger.results import Money, month_of


def months(
    text: str, day: int, amounts: list[int], first: date = date(2025, 12, 1), step: int = 1
) -> list[Line]:
    found: list[Line] = []
    for number, amount in enumerate(amounts):
        count = first.year * 12 + first.month - 1 + number * step
        month = month_of(date(count // 12, count % 12 + 1, 1))
        found.append(Line(str(month.start.replace(day=min(day, month.end.day))), -amount, text))
    return found


def one(lines: list[Line], today: date = TODAY) -> Subscription:
    (found,) = subscriptions(ledger_of(lines), today).subscriptions
    return found


def test_the_subscriptions_of_the_household_are_found_with_their_rises() -> None:
    result = subscriptions(household(), TODAY)
    found = {one.merchant: one for one in result.subscriptions}
    assert set(found) == {
        "Hausverwaltung Kruse", "Vattenfall", "Deutschlandticket", "Telekom", "Rundfunkbeitrag", "Netflix",
        "Spotify", "UNICEF", "Amazon Prime", "HUK-Coburg", "1Password", "iCloud", "McFit",
    }  # fmt: skip
    assert {one.merchant for one in result.subscriptions if one.status == "cancelled"} == {"McFit"}
    changes = {name: one.price_changes for name, one in found.items() if one.price_changes}
    assert set(changes) == {"Vattenfall", "Netflix", "Spotify"}
    netflix = changes["Netflix"][-1]
    assert (str(netflix.day), netflix.before, netflix.after) == ("2026-07-12", 1399, 1599)
    assert found["Rundfunkbeitrag"].cadence == "quarterly"
    assert found["Amazon Prime"].cadence == "yearly"


def test_what_is_due_is_in_the_order_of_days_and_within_the_days_asked_for() -> None:
    result = subscriptions(household(), TODAY, due_within=14)
    assert [(str(due.day), due.merchant) for due in result.due] == [
        ("2026-11-19", "iCloud"),
        ("2026-12-01", "Hausverwaltung Kruse"),
    ]


@pytest.mark.parametrize(
    ("weeks", "cadence", "yearly"),
    [(1, "weekly", 52), (2, "fortnightly", 26), (4, "four-weekly", 13)],
)
def test_rhythms_of_weeks(weeks: int, cadence: str, yearly: int) -> None:
    days = [TODAY - timedelta(weeks=weeks * number, days=3) for number in range(6)]
    found = one([Line(str(day), -1999, "GYM CLUB") for day in sorted(days)])
    assert (found.cadence, found.yearly) == (cadence, 1999 * yearly)
    assert found.next_due == days[0] + timedelta(weeks=weeks)


@pytest.mark.parametrize(
    ("step", "cadence", "yearly"), [(1, "monthly", 12), (3, "quarterly", 4), (12, "yearly", 1)]
)
def test_rhythms_of_months(step: int, cadence: str, yearly: int) -> None:
    count = {1: 12, 3: 4, 12: 2}[step]
    found = one(months("NETFLIX", 12, [999] * count, date(2025, 11, 1), step))
    assert (found.cadence, found.amount, found.yearly, found.charges) == (cadence, 999, 999 * yearly, count)


def test_a_price_that_rose_is_seen_after_three_charges() -> None:
    found = one(months("NETFLIX", 12, [1549, 1549, 1799], date(2026, 9, 1)))
    assert [(change.before, change.after) for change in found.price_changes] == [(1549, 1799)]
    for amounts in ([1549, 1649, 1799], [1549, 1549, 2399]):
        assert subscriptions(ledger_of(months("SHOP", 12, amounts, date(2026, 9, 1))), TODAY).rows == 0


def test_a_week_is_a_rhythm_too_and_each_of_its_days_is_due() -> None:
    lines = [Line(str(TODAY - timedelta(weeks=week)), -500, "HELLOFRESH") for week in range(8)]
    result = subscriptions(ledger_of(lines), TODAY)
    assert result.subscriptions[0].cadence == "weekly"
    assert [due.day for due in result.due] == [TODAY + timedelta(weeks=week) for week in range(1, 5)]
    assert result.totals == (Money("EUR", round(500 * 52 / 12)),)


def test_the_last_day_of_a_month_is_the_31st() -> None:
    lines = months("NETFLIX", 31, [999] * 12, date(2025, 11, 1))
    assert str(one(lines, date(2026, 11, 1)).next_due) == "2026-11-30"


def test_a_price_rise_is_one_series() -> None:
    found = one(months("NETFLIX", 12, [1299] * 6 + [1599] * 6))
    assert [(str(change.day), change.before, change.after) for change in found.price_changes] == [
        ("2026-06-12", 1299, 1599)
    ]


def test_a_price_that_fell_is_one_series_too() -> None:
    found = one(months("NETFLIX", 12, [1599] * 6 + [1299] * 6))
    assert [(change.before, change.after) for change in found.price_changes] == [(1599, 1299)]


def test_what_did_not_come_any_more_is_cancelled_but_not_what_is_late() -> None:
    lines = months("NETFLIX", 12, [999] * 6)
    assert one(lines, date(2026, 6, 20)).status == "active"
    late = subscriptions(ledger_of(lines), date(2026, 6, 20))
    assert late.due[0].day == date(2026, 6, 20)
    ended = one(lines, date(2026, 7, 20))
    assert (ended.status, ended.next_due) == ("cancelled", None)
    assert subscriptions(ledger_of(lines), date(2026, 7, 20)).totals == ()


def test_a_double_charge_does_not_break_the_rhythm() -> None:
    lines = months("NETFLIX", 12, [999] * 10)
    assert one([*lines, Line("2026-03-13", -999, "NETFLIX")]).charges == 10


def test_a_membership_is_found_among_other_purchases_of_the_shop() -> None:
    others = [
        Line(f"2026-{month:02d}-{3 + month * 2:02d}", -1000 - 377 * month, "ADOBE") for month in range(1, 9)
    ]
    found = one([*months("ADOBE", 12, [1199] * 11), *others])
    assert (found.amount, found.charges) == (1199, 11)


@pytest.mark.parametrize(
    "lines",
    [
        [
            Line(str(date(2026, 1, 5) + timedelta(weeks=week)), -(2000 + 137 * (week * 7 % 30)), "REWE")
            for week in range(30)
        ],
        [Line(f"2026-{month:02d}-{1 + month * 7 % 27:02d}", -5000, "SOMEBODY") for month in range(1, 8, 2)],
        months("NETFLIX", 12, [999, 999]),
        [Line("2025-12-09", -12990, "AMZN"), Line("2026-12-09", -3990, "AMZN")],
    ],
    ids=["a shop every week", "no rhythm", "two months", "two presents"],
)
def test_these_are_no_subscriptions(lines: list[Line]) -> None:
    assert subscriptions(ledger_of(lines), TODAY).subscriptions == ()


def test_the_totals_and_the_rows_are_those_of_the_series() -> None:
    db = ledger_of([*months("NETFLIX", 12, [1200] * 11), *months("SPOTIFY", 4, [600] * 11)])
    result = subscriptions(db, TODAY)
    assert result.totals == (Money("EUR", 1800),)
    assert result.rows == 22
    assert len(db.execute(result.sql).fetchall()) == 22
