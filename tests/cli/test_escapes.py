from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trunkline.cli.escapes import escape, one_line


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain ümlaut 你好 🚀\n\ttab", "plain ümlaut 你好 🚀\n\ttab"),
        ("\x1b[31mred\x1b[0m", "\\x1b[31mred\\x1b[0m"),
        ("\x9b2J", "\\x9b2J"),
        ("over\rwritten", "over\\x0dwritten"),
        ("lines\r\nend", "lines\nend"),
        ("\u202egnp.exe", "\\u202egnp.exe"),
        ("zero\u200bwidth\ufeff", "zero\\u200bwidth\\ufeff"),
        ("\u2028\u2066\u200f", "\\u2028\\u2066\\u200f"),
        ("\U000e0041", "\\U000e0041"),
        ("half \ud800", "half \\ud800"),
    ],
)
def test_what_is_not_what_it_seems_is_shown_as_an_escape(text: str, shown: str) -> None:
    assert escape(text) == shown


@given(st.text())
def test_nothing_that_controls_or_hides_gets_through(text: str) -> None:
    shown = escape(text)
    # Cc controls, Cf formats and directions, Cs halves, Zl and Zp line ends
    hidden = {c for c in shown if unicodedata.category(c) in ("Cc", "Cs", "Zl", "Zp")} - {"\n", "\t"}
    assert hidden == set()
    assert not {
        c for c in shown if unicodedata.bidirectional(c) in ("RLO", "LRO", "RLE", "LRE", "RLI", "LRI")
    }


def test_a_single_line_is_short_and_safe() -> None:
    assert one_line("two\n  lines\x07") == "two lines\\x07"
    assert one_line("x" * 500, 10) == "x" * 9 + "…"
