"""Charges far above the usual, and charges that came twice."""

from datetime import date, timedelta

import pytest
from tests.demos.finance.ledger.ledgers import TODAY, Line, household, ledger_of

from trunkline.demos.finance.ledger.analysis.unusual import double_charges, unusual_charges
from trunkline.demos.finance.ledger.results import Money, Period, month_of

ALL_TIME = Period(date(2020, 1, 1), date(2030, 1, 1))
OCTOBER = month_of(date(2026, 10, 1))


def weekly(text: str, *amounts: int, account: str = "main") -> list[Line]:
    start = date(2026, 1, 5)
    return [
        Line(str(start + timedelta(weeks=week)), -amount, text, account)
        for week, amount in enumerate(amounts)
    ]


def test_the_pharmacy_and_the_laptop_of_october_are_unusual() -> None:
    result = unusual_charges(household(), OCTOBER)
    names = [one.charge.merchant for one in result.unusual]
    assert "Apotheke Am Park" in names
    assert "MediaMarkt" in names
    assert "Hausverwaltung Kruse" not in names
    pharmacy = next(one for one in result.unusual if one.charge.merchant == "Apotheke Am Park")
    assert pharmacy.compared_with == "merchant"
    assert pharmacy.times > 5
    assert result.rows > 40


def test_a_charge_is_unusual_against_its_merchant() -> None:
    usual = weekly("REWE", 3000, 3500, 2800, 3100, 3300, 3000)
    result = unusual_charges(ledger_of([*usual, *weekly("REWE", 0, 0, 0, 0, 0, 0, 20000)[6:]]), ALL_TIME)
    assert [(one.charge.spent, one.usual, one.sample) for one in result.unusual] == [(20000, 3050, 6)]
    assert result.totals == (Money("EUR", 20000),)


def test_one_odd_charge_does_not_make_the_next_one_usual() -> None:
    amounts = (3000, 3500, 2800, 3100, 3300, 90000, 3000, 80000)
    result = unusual_charges(ledger_of(weekly("REWE", *amounts)), ALL_TIME)
    assert sorted(one.charge.spent for one in result.unusual) == [80000, 90000]


@pytest.mark.parametrize(
    "amounts", [(3000, 3500, 2800, 3100, 3300, 5200), (3000, 3000, 20000), (100,) * 9 + (900,)]
)
def test_a_little_more_few_charges_and_small_ones_are_not_unusual(amounts: tuple[int, ...]) -> None:
    assert unusual_charges(ledger_of(weekly("REWE", *amounts)), ALL_TIME).unusual == ()


def test_where_the_merchant_is_new_its_category_tells() -> None:
    lines = [
        *weekly("REWE", 3000, 3100, 2900),
        *weekly("LIDL", 3000, 3100, 2900),
        *weekly("EDEKA", 3000, 2900, 3200),
    ]
    lines.append(Line("2026-06-01", -30000, "ALNATURA"))
    result = unusual_charges(ledger_of(lines), ALL_TIME)
    assert [(one.charge.merchant, one.compared_with) for one in result.unusual] == [("Alnatura", "category")]


def test_one_merchant_is_no_category_and_what_came_before_is_known() -> None:
    lines = [
        *weekly("ICLOUD", *(299,) * 10),
        Line("2025-12-09", -3588, "1PASSWORD"),
        Line("2026-12-09", -3588, "1PASSWORD"),
    ]
    assert unusual_charges(ledger_of(lines), ALL_TIME).unusual == ()


def test_currencies_have_their_own_usual() -> None:
    lines = [*weekly("REWE", *(3000,) * 6), *weekly("REWE", 0, 0, 0, 0, 0, 0, 20000, account="usd")[6:]]
    assert unusual_charges(ledger_of(lines), ALL_TIME).unusual == ()


def test_the_book_shop_of_the_household_charged_twice() -> None:
    db = household()
    result = double_charges(db, Period(date(2024, 11, 1), TODAY))
    assert [(one.first.merchant, one.second.spent) for one in result.doubles] == [("Thalia", 6490)]
    assert result.totals == (Money("EUR", 6490),)
    assert [row[2] for row in db.execute(result.sql)].count("Thalia") == 1


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (Line("2026-03-01", -6490, "THALIA"), Line("2026-03-01", -6490, "THALIA")),
        (Line("2026-03-01", -6490, "THALIA"), Line("2026-03-03", -6490, "THALIA 99")),
    ],
)
def test_equal_charges_within_days_may_be_a_mistake(first: Line, second: Line) -> None:
    result = double_charges(ledger_of([first, second]), ALL_TIME)
    assert [(one.first.id, one.second.id) for one in result.doubles] == [(1, 2)]


@pytest.mark.parametrize(
    "lines",
    [
        [Line("2026-03-01", -6490, "THALIA"), Line("2026-03-05", -6490, "THALIA")],
        [Line("2026-03-01", -6490, "THALIA"), Line("2026-03-01", -6491, "THALIA")],
        [Line("2026-03-01", -6490, "THALIA"), Line("2026-03-01", -6490, "ZALANDO")],
        [Line("2026-03-01", -6490, "THALIA"), Line("2026-03-01", -6490, "THALIA", "card")],
        [Line("2026-03-01", -290, "MTA"), Line("2026-03-01", -290, "MTA")],
        [
            Line("2026-03-01", -6490, "THALIA"),
            Line("2026-03-01", -6490, "THALIA"),
            Line("2026-03-09", 6490, "THALIA"),
        ],
        [Line("2026-03-01", -5000, "GELDAUTOMAT 1"), Line("2026-03-02", -5000, "GELDAUTOMAT 1")],
        [Line(f"2026-03-{day:02d}", -800, "KANTINE NORD") for day in range(1, 20)],
    ],
    ids=["days apart", "amounts", "merchants", "accounts", "small", "refunded", "cash", "a fixed price"],
)
def test_these_are_no_double_charges(lines: list[Line]) -> None:
    assert double_charges(ledger_of(lines), ALL_TIME).doubles == ()


def test_a_subscription_that_is_charged_twice_is_one() -> None:
    lines = [Line(f"2026-{month:02d}-12", -1599, "NETFLIX") for month in range(1, 9)]
    lines.append(Line("2026-05-13", -1599, "NETFLIX"))
    result = double_charges(ledger_of(lines), ALL_TIME)
    assert [str(one.second.day) for one in result.doubles] == ["2026-05-13"]


def test_a_second_charge_counts_in_its_own_period() -> None:
    db = ledger_of([("2026-02-28", -6490, "THALIA"), ("2026-03-01", -6490, "THALIA")])
    assert len(double_charges(db, month_of(date(2026, 3, 1))).doubles) == 1
    assert double_charges(db, month_of(date(2026, 2, 1))).doubles == ()
