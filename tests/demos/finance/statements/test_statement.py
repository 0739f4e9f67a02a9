"""Texts of bookings: on one line, of a bounded length, and each thing once."""

import pytest

from trunkline.demos.finance.statements.statement import LONGEST_DESCRIPTION, Problem, join_texts, shorten


@pytest.mark.parametrize(
    ("parts", "joined"),
    [
        (("Rewe", "Kauf"), "Rewe Kauf"),
        (("Rewe", None, "", "rewe"), "Rewe"),
        (("Rewe", "REWE Markt 12"), "REWE Markt 12"),
        (("Vermieter", "Miete"), "Vermieter Miete"),
        (("  a\n b ",), "a b"),
    ],
)
def test_a_description_says_each_part_once(parts: tuple[str | None, ...], joined: str) -> None:
    assert join_texts(*parts) == joined


def test_a_long_text_is_cut_and_says_so() -> None:
    assert shorten("x" * 5000) == "x" * (LONGEST_DESCRIPTION - 1) + "…"


def test_a_problem_names_its_line() -> None:
    assert str(Problem(line=7, text="a | b", reason="'a' is no date")) == "line 7: 'a' is no date: a | b"
