import json
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trunkline.safe_text import (
    PieceEscaper,
    escape,
    escape_but_colours,
    escape_json,
    one_line,
    reveal,
    safe_title,
    without_colours,
)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain ümlaut 你好 🚀\n\ttab", "plain ümlaut 你好 🚀\n\ttab"),
        ("\x1b[31mred\x1b[0m", "\\x1b[31mred\\x1b[0m"),
        ("\x9b2J", "\\x9b2J"),
        ("over\rwritten", "over\\x0dwritten"),
        ("lines\r\nend", "lines\nend"),
        ("\u202egnp.exe", "\\u202egnp.exe"),
        ("zero\u200bwidth\ufeff", "zero\u200bwidth\\ufeff"),
        ("\u2028\u2066\u200f", "\\u2028\\u2066\u200f"),
        # ruff: noqa: RUF001
        ("👨\u200d💻 می\u200cخواهم क्\u200dष", "👨\u200d💻 می\u200cخواهم क्\u200dष"),
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


@given(st.text(alphabet="ab \n", max_size=60), st.integers(2, 20))
def test_a_line_that_lost_words_ends_with_a_mark(text: str, limit: int) -> None:
    line = one_line(text, limit)
    assert len(line) <= limit
    if not line.endswith("…"):
        assert line.split() == text.split()


def test_blanks_cannot_push_the_rest_out_of_a_line_unseen() -> None:
    assert one_line("ls" + 3000 * " " + "; rm -rf ~") == "ls…"
    assert one_line("ls" + 3000 * " ") == "ls"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a b  c\n    indented", "a b  c\n    indented"),
        ("ls" + 3000 * " " + "; rm", "ls⟨3000 blanks⟩; rm"),
        ("a\t\t\t\t\t\t\t\t\tb", "a⟨9 blanks⟩b"),
        ("x\n" + 50 * " " + "y", "x\n⟨50 blanks⟩y"),
        ("x" + 30 * "\n" + "y", "x\n⟨29 empty lines⟩\ny"),
        ("a\n\n\nb", "a\n\n\nb"),
        ("a\u00a0b\u3000c", "a\\xa0b\\u3000c"),
        ("\u202efdp\u200b\x1b[2J", "\\u202efdp\\u200b\\x1b[2J"),
    ],
)
def test_what_a_person_decides_on_hides_nothing(text: str, shown: str) -> None:
    assert reveal(text) == shown


@given(st.text())
def test_every_visible_character_is_revealed(text: str) -> None:
    visible = [c for c in text if c.isalnum() and c.isascii()]
    shown = iter(reveal(text))
    assert all(c in shown for c in visible)


@given(st.dictionaries(st.text(), st.text() | st.integers()))
def test_json_means_the_same_and_hides_nothing(value: dict[str, str | int]) -> None:
    data = json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")
    shown = escape_json(data)
    assert json.loads(shown) == json.loads(data)
    assert escape(shown.decode()) == shown.decode()


@pytest.mark.parametrize("text", ["\x7f", "\x9b2J", "\u202egnp.exe", "\U000e0041", "\u2028"])
def test_controls_and_directions_are_spelled_in_json(text: str) -> None:
    shown = escape_json(json.dumps([text], ensure_ascii=False).encode())
    assert shown.isascii()
    assert b"\x7f" not in shown
    assert json.loads(shown) == [text]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[32m5 passed\x1b[0m", "\x1b[32m5 passed\x1b[0m"),
        ("\x1b[1;38;5;8mgrey\x1b[m", "\x1b[1;38;5;8mgrey\x1b[m"),
        ("\x1b[38;2;8;8;8mdark", "\x1b[38;2;8;8;8mdark"),
        ("\x1b[8mhidden", "\\x1b[8mhidden"),
        ("\x1b[31;08mhidden", "\\x1b[31;08mhidden"),
        ("\x1b[2J\x1b]0;title\x07", "\\x1b[2J\\x1b]0;title\\x07"),
    ],
)
def test_colours_pass_and_nothing_that_hides_or_moves(text: str, shown: str) -> None:
    assert escape_but_colours(text) == shown


def test_colours_can_be_left_out() -> None:
    assert without_colours("\x1b[1;32mok\x1b[0m \x1b[2J") == "ok \x1b[2J"


def test_joiners_are_shown_where_a_person_decides() -> None:
    assert one_line("a\u200db") == "a\u200db"
    assert safe_title("a\u200d\n b") == "a\\u200d b"
    assert reveal("a\u200e\xad") == "a\\u200e\\xad"


def test_a_line_end_that_is_cut_in_two_is_a_line_end() -> None:
    escaper = PieceEscaper()
    pieces = [escaper.feed(piece) for piece in ("one\r", "\ntwo\r", "", "three\r\r", "\n\r")]
    assert pieces == ["one", "\ntwo", "", "\\x0dthree\\x0d", "\n"]
    assert (escaper.end(), escaper.end()) == ("\\x0d", "")


@given(st.lists(st.text(alphabet="a\r\n\x1b")))
def test_pieces_are_escaped_as_the_whole_is(pieces: list[str]) -> None:
    escaper = PieceEscaper()
    shown = "".join(map(escaper.feed, pieces)) + escaper.end()
    assert shown == escape("".join(pieces))
