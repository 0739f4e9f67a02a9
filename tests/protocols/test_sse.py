from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trunkline.errors import AgentProtocolError
from trunkline.protocols.sse import KEEP_ALIVE, FrameReader, write_comment, write_frame, write_frames

ENDS = st.sampled_from([b"\n", b"\r\n", b"\r"])
TEXTS = st.text(st.characters(exclude_characters="\r\n", exclude_categories=["Cs"]), min_size=1, max_size=20)


def read(*pieces: bytes) -> list[bytes]:
    reader = FrameReader()
    return [frame for piece in pieces for frame in reader.feed(piece)] + reader.close()


@given(st.lists(TEXTS, max_size=5), ENDS, st.data())
def test_frames_are_the_same_however_the_bytes_are_cut(
    texts: list[str], end: bytes, data: st.DataObject
) -> None:
    stream = b"".join(b"data: " + text.encode() + end + end for text in texts)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=6)))
    places = [0, *cuts, len(stream)]
    pieces = [stream[start:stop] for start, stop in pairwise(places)]
    assert read(*pieces) == [text.encode() for text in texts]


def test_comments_ids_and_names_are_passed_over() -> None:
    assert read(b": keep-alive\n\nid: 1-2.3\nevent: message\ndata: {}\n\n:\n\n") == [b"{}"]


def test_data_on_several_lines_is_joined() -> None:
    assert read(b"data: a\ndata:b\n\n") == [b"a\nb"]


def test_a_last_frame_without_its_empty_line_is_not_lost() -> None:
    assert read(b"data: a\n\ndata: b") == [b"a", b"b"]


def test_a_frame_without_end_is_refused_before_it_fills_the_memory() -> None:
    reader = FrameReader(longest=100)
    with pytest.raises(AgentProtocolError, match="more than 100 bytes"):
        reader.feed(b"data: " + b"x" * 200)


def test_a_frame_is_written_with_the_id_of_the_place_after_it() -> None:
    assert write_frame(b"{}") == b"data: {}\n\n"
    assert write_frame(b"{}", "1-2.3") == b"id: 1-2.3\ndata: {}\n\n"


def test_of_several_frames_the_last_has_the_id() -> None:
    assert write_frames([b"1", b"2"], 7) == b"data: 1\n\nid: 7\ndata: 2\n\n"
    assert write_frames([b"1", b"2"]) == b"data: 1\n\ndata: 2\n\n"
    assert write_frames([]) == b""


def test_the_reader_reads_what_the_writer_writes() -> None:
    stream = write_comment("open") + write_frames([b"1", b"2"], "x") + KEEP_ALIVE + write_frame(b"[DONE]")
    assert read(stream) == [b"1", b"2", b"[DONE]"]
