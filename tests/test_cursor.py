"""Cursors are carried by front ends as text, and name a place inside of what was said."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.strategies import event_kinds, structs_of
from trunkline import events as ev
from trunkline.content import TextBlock
from trunkline.cursor import Cursor, Entry, cut, piece_of, remainder
from trunkline.errors import PeerError

numbers = st.integers(0, 10**18 - 1)
events = st.one_of([structs_of(kind) for kind in event_kinds()])


@given(numbers, numbers, numbers)
def test_a_cursor_survives_being_written_and_read(fence: int, record: int, offset: int) -> None:
    cursor = Cursor(fence, record, offset)
    assert Cursor.parse(str(cursor)) == cursor


def test_a_cursor_without_an_offset_stands_before_the_first_character() -> None:
    assert Cursor.parse("3-14") == Cursor(3, 14, 0)
    assert str(Cursor(3, 14)) == "3-14.0"


@pytest.mark.parametrize(
    "text",
    [
        "", "-", "1", "1-", "-1", "1-2.", "1-2.3.4", "1.2-3", " 1-2", "1-2\n", "+1-2", "1-\u0663", "0x1-2",
        "1--2", "9" * 19 + "-1", "1-" + "9" * 5000,
    ],
)  # fmt: skip
def test_what_is_no_cursor_is_the_fault_of_the_peer(text: str) -> None:
    with pytest.raises(PeerError, match="not a cursor") as caught:
        Cursor.parse(text)
    assert len(str(caught.value)) < 150


@given(st.text())
def test_any_text_is_a_cursor_or_a_peer_error(text: str) -> None:
    try:
        Cursor.parse(text)
    except PeerError:
        return


def test_cursors_of_one_fence_are_ordered() -> None:
    assert Cursor(1, 2, 9) < Cursor(1, 3, 0) < Cursor(1, 3, 1)


def test_an_entry_knows_the_place_right_after_it() -> None:
    entry = Entry(7, 3, 2, 0.5, ev.Text(message_id="m1", delta="abc"))
    assert entry.cursor == Cursor(2, 7, 3)


@given(events, st.integers(0, 8))
def test_what_was_seen_and_what_is_left_make_the_whole(event: ev.AnyEvent, offset: int) -> None:
    piece, left = piece_of(event), remainder(event, offset)
    if piece is None:
        assert left is None
    else:
        rest = "" if left is None else piece_of(left)
        assert rest == piece[offset:]
        assert left is None or remainder(left, len(rest or "")) is None


@given(events, st.integers(0, 8))
def test_both_sides_of_a_cut_differ_from_the_whole_in_their_text_only(event: ev.AnyEvent, at: int) -> None:
    sides = cut(event, at)
    assert "".join(piece_of(side) or "" for side in sides) == (piece_of(event) or "")
    assert all(piece_of(side) != "" for side in sides)
    for side in sides:
        if side is not None:
            assert {piece_of(side)} != {None}
            assert type(side) is type(event)
            assert (side.turn_id, side.lane, side.meta) == (event.turn_id, event.lane, event.meta)


@pytest.mark.parametrize(
    ("event", "piece"),
    [
        (ev.Text(message_id="m1", delta="ab"), "ab"),
        (ev.Thought(message_id="m1", delta="ab"), "ab"),
        (ev.ToolInput(call_id="c1", delta="ab"), "ab"),
        (ev.TerminalOutput(terminal_id="x", data="ab"), "ab"),
        (ev.Thought(message_id="m1", delta="ab", signature="s"), None),
        (ev.TerminalOutput(terminal_id="x", data="ab", exited=True), None),
        (ev.Media(message_id="m1", content=TextBlock(text="ab")), None),
        (ev.ToolUpdate(call_id="c1", output="ab"), None),
    ],
)
def test_only_what_merely_appends_comes_in_pieces(event: ev.AnyEvent, piece: str | None) -> None:
    assert piece_of(event) == piece
    left = remainder(event, 1)
    assert (left and piece_of(left)) == (piece and "b")
