"""The tail of a stream of bytes."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trunkline.transports.process.output_tail import Tail


def fed(limit: int, *pieces: bytes) -> Tail:
    tail = Tail(limit)
    for piece in pieces:
        tail.feed(piece)
    tail.close()
    return tail


@pytest.mark.parametrize(
    ("limit", "data", "text", "truncated"),
    [
        (10, b"hello", "hello", False),
        (5, b"hello", "hello", False),
        (4, b"hello", "ello", True),
        (5, "a世界".encode(), "界", True),
        (6, "a世界".encode(), "世界", True),
        (7, "a世界".encode(), "a世界", False),
        (2, "世".encode(), "", True),
        (0, b"x", "", True),
        (0, b"", "", False),
        (10, b"a\xffb", "a\ufffdb", False),
        (10, "世".encode()[:2], "\ufffd", False),
    ],
)
def test_the_end_is_kept_and_cut_between_characters(
    limit: int, data: bytes, text: str, truncated: bool
) -> None:
    tail = fed(limit, data)
    assert (tail.text, tail.truncated) == (text, truncated)


@given(st.text(), st.integers(0, 40), st.lists(st.integers(0, 200)))
def test_how_the_bytes_were_split_makes_no_difference(text: str, limit: int, cuts: list[int]) -> None:
    data = text.encode()
    edges = sorted({0, len(data), *(cut for cut in cuts if cut < len(data))})
    pieces = [data[start:end] for start, end in pairwise(edges)]
    tail = fed(limit, *pieces)
    assert tail.text == fed(limit, data).text
    assert text.endswith(tail.text)
    assert len(tail.text.encode()) <= limit
    assert tail.truncated == (len(data) > limit)


def test_half_a_character_waits_for_its_other_half() -> None:
    tail, data = Tail(10), "世".encode()
    tail.feed(data[:1])
    assert tail.text == ""
    tail.feed(data[1:])
    assert tail.text == "世"


def test_a_reader_gets_each_byte_once_and_learns_what_it_missed() -> None:
    tail = Tail(6)
    tail.feed(b"abc")
    assert tail.since(0) == (0, "abc", 3)
    assert tail.since(3) == (0, "", 3)
    tail.feed(b"defgh")
    assert tail.since(3) == (0, "defgh", 8)
    assert tail.since(0) == (2, "cdefgh", 8)
    tail.feed("世界".encode())
    assert tail.since(8) == (0, "世界", 14)
    assert tail.since(3) == (5, "世界", 14)
