"""Amounts as banks write them."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trunkline.demos.finance.statements.amounts import (
    DecimalMark,
    detect_decimal,
    looks_like_amount,
    parse_amount,
    parse_currency,
    parse_direction,
    to_minor,
)


@pytest.mark.parametrize(
    ("text", "decimal", "value", "currency", "marker"),
    [
        ("-1,234.56", "point", "-1234.56", None, None),
        ("1.234,56", "comma", "1234.56", None, None),
        ("1 234,56 €", "comma", "1234.56", "EUR", None),
        ("1\u202f234,56\xa0€", "comma", "1234.56", "EUR", None),
        ("CHF 1'234.50", "point", "1234.50", "CHF", None),
        ("(12.00)", "point", "-12.00", None, None),
        ("12.00-", "point", "-12.00", None, None),
        ("\u221212,5", "comma", "-12.5", None, None),
        ("-$4.50", "point", "-4.50", "USD", None),
        ("$-4.50", "point", "-4.50", "USD", None),
        ("£12", "point", "12", "GBP", None),
        ("12,50 S", "comma", "12.50", None, "out"),
        ("12.50 CR", "point", "12.50", None, "in"),
        ("+.5", "point", "0.5", None, None),
        ("1,23,456.78", "point", "123456.78", None, None),
        ("12.30 EUR", "point", "12.30", "EUR", None),
        ("kr 1 234,50", "comma", "1234.50", None, None),
        ("kr.12,50", "comma", "12.50", None, None),
        ("-1 234,50 kr", "comma", "-1234.50", None, None),
    ],
)
def test_an_amount_is_read(
    text: str, decimal: DecimalMark, value: str, currency: str | None, marker: str | None
) -> None:
    assert parse_amount(text, decimal) == (Decimal(value), currency, marker)


@pytest.mark.parametrize(
    "text",
    ["", "x", "1.2.3", "12,34", "--5", "(5", "(-5)", "5 apples", "2026-01-02", "1,2345.00", "9" * 60],
)
def test_what_is_no_amount_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        parse_amount(text, "point")


@given(
    st.integers(-(10**12), 10**12),
    st.sampled_from(["point", "comma"]),
    st.sampled_from(["", "other", " ", "'"]),
)
def test_any_amount_survives_being_written(cents: int, decimal: DecimalMark, thousands: str) -> None:
    mark, other = (".", ",") if decimal == "point" else (",", ".")
    whole, part = divmod(abs(cents), 100)
    grouped = f"{whole:,}".replace(",", other if thousands == "other" else thousands)
    text = f"{'-' if cents < 0 else ''}{grouped}{mark}{part:02d}"
    assert to_minor(parse_amount(text, decimal).value, "EUR") == cents
    assert detect_decimal([text]) == {decimal}
    assert looks_like_amount(text)


def test_currencies_have_their_own_minor_units() -> None:
    assert [to_minor(Decimal("12"), code) for code in ("JPY", "EUR", "KWD")] == [12, 1200, 12000]
    with pytest.raises(ValueError, match="more digits"):
        to_minor(Decimal("1.5"), "JPY")


def test_symbols_codes_and_markers_have_one_meaning() -> None:
    assert [parse_currency(text) for text in ("€", "usd", " C$ ", "points")] == ["EUR", "USD", "CAD", None]
    assert [parse_direction(text) for text in ("Soll", "H", "Bij", "DR.", "x")] == [
        "out",
        "in",
        "in",
        "out",
        None,
    ]


def test_the_decimal_mark_is_that_of_most_amounts() -> None:
    assert detect_decimal(["1,50", "2,50", "3.50"]) == {"comma"}
    assert detect_decimal(["1.234.567"]) == {"comma"}
    assert detect_decimal(["1,234"]) == {"point", "comma"}
    assert detect_decimal(["12", "x"]) == {"point"}
