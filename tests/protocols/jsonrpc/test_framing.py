import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.strategies import translate

from trunkline.protocols.jsonrpc.framing import LineFramer, Oversize
from trunkline.translate import Translator


def lines_of(stream: bytes, max_line: int = 1024, size: int | None = None) -> list[bytes | Oversize]:
    step = size or max(len(stream), 1)
    chunks = [stream[at : at + step] for at in range(0, len(stream), step)]
    framer: Translator[bytes, bytes | Oversize] = LineFramer(max_line)
    return translate(framer, chunks)


@pytest.mark.parametrize(
    ("stream", "lines"),
    [
        (b"", []),
        (b"a\nb\n", [b"a", b"b"]),
        (b"a\r\nb\r\n", [b"a", b"b"]),
        (b"\n\r\n  \n\t\r\na\n\n", [b"a"]),
        (b"a\nrest", [b"a", b"rest"]),
        (b"a\n \r", [b"a"]),
        (b"a\rb\n", [b"a\rb"]),
        ("a\u2028b\u0085c\x0b\x0c\x1cd\n".encode(), ["a\u2028b\u0085c\x0b\x0c\x1cd".encode()]),
        ("世界 é\nñ\n".encode(), ["世界 é".encode(), "ñ".encode()]),
    ],
)
@pytest.mark.parametrize("size", [None, 1, 2, 3])
def test_a_stream_is_cut_at_newlines_only(stream: bytes, lines: list[bytes], size: int | None) -> None:
    assert lines_of(stream, size=size) == lines


@pytest.mark.parametrize("size", [None, 1, 7, 10, 11])
def test_a_line_above_the_limit_becomes_one_marker_with_its_whole_size(size: int | None) -> None:
    stream = b"1234567890\n" + b"x" * 11 + b"\nok\n" + b"y" * 40 + b"\nend"
    assert lines_of(stream, 10, size) == [b"1234567890", Oversize(11, 10), b"ok", Oversize(40, 10), b"end"]


@pytest.mark.parametrize("size", [None, 1])
def test_a_line_above_the_limit_that_never_ends_is_sent_on_close(size: int | None) -> None:
    assert lines_of(b"a\n" + b"x" * 99, 10, size) == [b"a", Oversize(99, 10)]


def test_closing_twice_says_nothing_the_second_time() -> None:
    framer = LineFramer()
    framer.feed(b"rest")
    assert framer.close() == [b"rest"]
    assert framer.close() == []


@given(st.lists(st.sampled_from([b"a", b"\n", b"\r", b" ", "é".encode(), b"x" * 9]), max_size=40), st.data())
def test_how_the_stream_was_chunked_never_shows(parts: list[bytes], data: st.DataObject) -> None:
    stream = b"".join(parts)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=8)))
    chunks = [stream[a:b] for a, b in zip([0, *cuts], [*cuts, len(stream)], strict=True)]
    assert translate(LineFramer(8), chunks) == translate(LineFramer(8), [stream])


def test_an_endless_line_takes_no_more_memory_than_the_limit() -> None:
    framer = LineFramer(64 * 1024)
    chunk = b"x" * 4096
    tracemalloc.start()
    try:
        for _ in range(4096):
            assert framer.feed(chunk) == []
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 256 * 1024
    assert framer.feed(b"\nafter\n") == [Oversize(4096 * 4096, 64 * 1024), b"after"]


def test_a_long_line_in_tiny_chunks_is_moved_only_a_few_times() -> None:
    """Joining per chunk would copy half of (8 MB / 16 B) * 8 MB: the test's timeout is the proof."""
    framer = LineFramer()
    for _ in range(512 * 1024):
        framer.feed(b"0123456789abcdef")
    (line,) = framer.feed(b"\n")
    assert isinstance(line, bytes)
    assert len(line) == 8 * 1024 * 1024


def test_a_line_that_is_too_long_is_known_before_it_ends() -> None:
    framer = LineFramer(max_line=10)
    assert framer.feed(b"0123456789") == []
    assert framer.overflow is None
    assert framer.feed(b"x") == []
    assert framer.overflow == Oversize(11, 10)
    assert framer.feed(b"\n") == [Oversize(11, 10)]
    assert framer.overflow is None
