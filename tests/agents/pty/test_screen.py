"""The screen: what a person would see, whatever a program writes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trunkline.agents.pty.screen import Screen


def seen(data: bytes, rows: int = 4, columns: int = 10) -> list[str]:
    screen = Screen(rows, columns)
    screen.feed(data)
    return [row.text for row in screen.rows()]


@pytest.mark.parametrize(
    ("data", "rows"),
    [
        (b"a\r\nb", ["a", "b", "", ""]),
        (b"10%\r20%\r30%", ["30%", "", "", ""]),
        (b"abc\b\bX", ["aXc", "", "", ""]),
        (b"a\tb", ["a       b", "", "", ""]),
        (b"\x1b[2;3Hx\x1b[Hy", ["y", "  x", "", ""]),
        (b"abcdef\x1b[3D\x1b[K", ["abc", "", "", ""]),
        (b"abcdef\x1b[3D\x1b[1K", ["    ef", "", "", ""]),
        (b"abc\x1b[2K", ["", "", "", ""]),
        (b"a\r\nb\r\nc\x1b[2A\x1b[J", ["a", "", "", ""]),
        (b"a\r\nb\r\nc\x1b[1J", ["", "", "", ""]),
        (b"abcd\x1b[2D\x1b[P", ["abd", "", "", ""]),
        (b"abcd\x1b[2D\x1b[2@", ["ab  cd", "", "", ""]),
        (b"abcd\x1b[3D\x1b[2X", ["a  d", "", "", ""]),
        (b"a\r\nb\x1b[A\x1b[L", ["", "a", "b", ""]),
        (b"a\r\nb\x1b[A\x1b[M", ["b", "", "", ""]),
        (b"a\x1b[3b", ["aaaa", "", "", ""]),
        (b"abc\x1b[4hX\x1b[DY\x1b[4l", ["abcYX", "", "", ""]),
        (b"a\x1b7\x1b[3;3Hb\x1b8c", ["ac", "", "  b", ""]),
        (b"a\x1b[s\x1b[3;3Hb\x1b[uc", ["ac", "", "  b", ""]),
        (b"a\x1bEb\x1bDc", ["a", "b", " c", ""]),
        (b"a\r\nb\x1bMc\x1bMd", ["  d", "ac", "b", ""]),
        (b"\x1b[2;3r\x1b[3;1Hx\ny", ["", "x", " y", ""]),
        (b"a\x1b[2Eb\x1b[Fc\x1b[3Gd\x1b[4de", ["a", "c d", "b", "   e"]),
        (b"a\r\nb\x1b[T", ["", "a", "b", ""]),
        (b"\x1b[?7labcdefghijkl", ["abcdefghil", "", "", ""]),
        ("日本\u0301x".encode(), ["日本\u0301x", "", "", ""]),
        ("123456789日".encode(), ["123456789", "日", "", ""]),
        (b"\x1b[31mred\x1b[0m\x1b]0;title\x07", ["red", "", "", ""]),
        (b"old\x1bcnew", ["new", "", "", ""]),
    ],
)
def test_what_is_written_is_seen_as_on_a_terminal(data: bytes, rows: list[str]) -> None:
    assert seen(data) == rows


def test_lines_that_scroll_away_are_kept_until_they_are_taken() -> None:
    screen = Screen(2, 10)
    screen.feed(b"1\r\n2\r\n3\r\n4")
    assert [row.text for row in screen.take_scrolled()] == ["1", "2"]
    assert screen.take_scrolled() == []
    assert screen.top == 2


def test_a_screen_that_is_cleared_scrolls_away() -> None:
    screen = Screen(4, 10)
    screen.feed(b"1\r\n2\x1b[2J\x1b[Hnew")
    assert [row.text for row in screen.take_scrolled()] == ["1", "2"]
    assert [row.text for row in screen.rows()] == ["new", "", "", ""]


def test_a_long_line_goes_on_in_the_next_row() -> None:
    screen = Screen(4, 4)
    screen.feed(b"abcdef\r\nx")
    assert [(row.text, row.continues) for row in screen.rows()[:2]] == [("abcd", True), ("ef", False)]


def test_a_program_that_draws_the_whole_screen_leaves_the_main_one_as_it_was() -> None:
    screen = Screen(3, 10)
    screen.feed(b"shell\x1b[?1049h\x1b[Hfull")
    assert (screen.is_full_screen, screen.rows()[0].text) == (True, "full")
    screen.feed(b"\r\n" * 9)
    assert screen.scrolled == []
    screen.feed(b"\x1b[?1049l!")
    assert (screen.is_full_screen, screen.rows()[0].text) == (False, "shell!")


def test_what_the_program_asks_the_terminal_is_answered_and_the_answers_are_bounded() -> None:
    screen = Screen(3, 10)
    screen.feed(b"ab\x1b[6n\x1b[5n\x1b[c")
    assert screen.replies == [b"\x1b[1;3R", b"\x1b[0n", b"\x1b[?1;2c"]
    screen.feed(b"\x1b[c" * 1000)
    assert len(screen.replies) < 100


def test_the_program_says_whether_pasted_text_is_marked() -> None:
    screen = Screen()
    screen.feed(b"\x1b[?2004h")
    assert screen.pastes
    screen.feed(b"\x1b[?2004l")
    assert not screen.pastes


def _sequence(final: str, numbers: list[int]) -> str:
    return f"\x1b[{';'.join(map(str, numbers))}{final}"


_SEQUENCES = st.builds(
    _sequence,
    st.sampled_from("ABCDEFGHJKLMPSTXdfhlmnrsub@`"),
    st.lists(st.integers(0, 10_000), max_size=3),
)
_STREAMS = st.lists(
    st.text("ab日\u0301\r\n\b\t")
    | _SEQUENCES
    | st.sampled_from(["\x1b7", "\x1b8", "\x1bM", "\x1b[?1049h", "\x1b[?1049l"])
)


@given(_STREAMS, st.integers(1, 5), st.integers(2, 8))
def test_whatever_is_written_the_screen_keeps_its_size(parts: list[str], rows: int, columns: int) -> None:
    screen = Screen(rows, columns)
    for part in parts:
        screen.feed(part.encode())
        assert len(screen.rows()) == rows
        assert 0 <= screen.row < rows
        assert 0 <= screen.column <= columns
        assert all(len(row.cells) <= columns for row in screen.rows())


@given(_STREAMS, st.integers(1, 7))
def test_any_chunks_are_seen_as_the_same_screen(parts: list[str], size: int) -> None:
    data = "".join(parts).encode()
    whole, pieces = Screen(4, 6), Screen(4, 6)
    whole.feed(data)
    for at in range(0, len(data), size):
        pieces.feed(data[at : at + size])
    assert [row.text for row in whole.rows()] == [row.text for row in pieces.rows()]
    assert [row.text for row in whole.scrolled] == [row.text for row in pieces.scrolled]
