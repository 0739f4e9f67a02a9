"""Conditions as SQL, and statements with their values filled in."""

import sqlite3

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trunkline.demos.finance.ledger.selection import Filters, conditions, fill, literal, phrases


@given(st.text() | st.integers(-(2**62), 2**62) | st.none())
def test_a_filled_in_value_is_the_value(value: str | int | None) -> None:
    expected = value.replace("\0", "") if isinstance(value, str) else value
    if isinstance(expected, str) and not _is_text(expected):
        return
    db = sqlite3.connect(":memory:")
    assert db.execute(f"SELECT {literal(value)}").fetchone() == (expected,)
    db.close()


def _is_text(value: str) -> bool:
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def test_values_fill_their_places() -> None:
    assert fill("a = ? AND b = ?", ("it's ?", None)) == "a = 'it''s ?' AND b = NULL"
    with pytest.raises(ValueError, match="1 values for 2 places"):
        fill("a = ? AND b = ?", ("x",))


def test_no_filter_is_no_condition_and_is_said() -> None:
    assert conditions(Filters(), None).sql == "1"
    said = phrases(Filters(category="Food", excluding=("Coffee",)))
    assert said[:2] == ("category Food", "without Coffee")
    assert "transfers between own accounts and card payments left out" in said
