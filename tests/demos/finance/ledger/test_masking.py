"""Numbers of accounts and cards are hidden, and nothing else."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trunkline.demos.finance.ledger.masking import mask_number, mask_text


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("to DE89370400440532013000 today", "to ****3000 today"),
        ("to DE89 3704 0044 0532 0130 00, rent", "to ****3000, rent"),
        ("GB29NWBK60161331926819", "****6819"),
        ("card 4000 1234 5678 9010", "card ****9010"),
        ("card 4000-1234-5678-9010", "card ****9010"),
        ("account 8310006751.", "account ****6751."),
    ],
)
def test_numbers_are_hidden_but_for_their_end(text: str, masked: str) -> None:
    assert mask_text(text) == masked


@pytest.mark.parametrize(
    "text",
    [
        "2026-10-01 to 2026-10-31",
        "1,234.50 EUR",
        "REWE SAGT DANKE 1234",
        "LUFTHANSA FRANKFURT",
        "AB12 Cafe Restaurant Berlin",
        "7 11 2026",
    ],
)
def test_days_amounts_and_names_stay(text: str) -> None:
    assert mask_text(text) == text


def test_a_number_alone() -> None:
    assert (mask_number("DE89 3704"), mask_number("123"), mask_number("")) == ("****3704", "****", "")


@given(st.text(alphabet="0123456789 -DEab.", max_size=60))
def test_no_long_run_of_digits_remains(text: str) -> None:
    masked = mask_text(text)
    assert mask_text(masked) == masked


@given(st.integers(10**9, 10**18), st.text(max_size=20), st.text(max_size=20))
def test_a_number_is_hidden_wherever_it_stands(number: int, before: str, after: str) -> None:
    assert str(number) not in mask_text(f"{before} {number} {after}")
