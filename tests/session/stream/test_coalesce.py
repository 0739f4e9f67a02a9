"""Joining deltas loses nothing, and a cursor taken anywhere leads on to exactly the rest."""

from typing import Any, cast, get_args

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.legal_sessions import LegalSession, legal_sessions
from tests.strategies import sloppy_streams

from trunkline import events as ev
from trunkline.commands import Cancel
from trunkline.cursor import piece_of, remainder
from trunkline.folding import fold
from trunkline.grammar import Grammar
from trunkline.session.settings import Settings
from trunkline.session.stream.coalesce import Coalescer

LIMIT = Settings().coalesce_limit

streams = st.one_of(legal_sessions().map(lambda story: story.events), sloppy_streams())


def text(delta: str, message_id: str = "m1", **fields: Any) -> ev.Text:
    return ev.Text(message_id=message_id, delta=delta, **fields)


def records_of(coalescer: Coalescer, *events: ev.Event) -> list[tuple[int, ev.AnyEvent]]:
    for event in events:
        coalescer.add(event)
    coalescer.seal()
    return cast("list[tuple[int, ev.AnyEvent]]", coalescer.take())


def play(events: list[ev.Event], data: st.DataObject) -> tuple[list[tuple[int, int]], list[tuple[int, Any]]]:
    """Coalesce with seals and takes at any moments; give the positions and the records."""
    coalescer = Coalescer(last_seq=10, limit=data.draw(st.sampled_from([1, 4, LIMIT])))
    positions: list[tuple[int, int]] = []
    records: list[tuple[int, Any]] = []
    for event in events:
        positions.append(coalescer.add(event))
        moment = data.draw(st.integers(0, 5))
        if moment == 0:
            coalescer.seal()
        if moment == 1:
            records += coalescer.take()
    coalescer.seal()
    assert not coalescer.waiting
    left, last = coalescer.ready, coalescer.take()
    assert (left, coalescer.ready) == (len(last), 0)
    return positions, records + last


@given(streams, st.data())
def test_any_stream_folds_to_the_same_after_it_was_joined(
    events: list[ev.Event], data: st.DataObject
) -> None:
    _, records = play(events, data)
    assert fold(event for _, event in records) == fold(events)
    assert [seq for seq, _ in records] == list(range(11, 11 + len(records)))


@given(streams, st.data())
def test_places_grow_and_end_where_the_records_end(events: list[ev.Event], data: st.DataObject) -> None:
    positions, records = play(events, data)
    for event, before, after in zip(events[1:], positions, positions[1:], strict=False):
        assert after > before or (after == before and piece_of(event) == "")
    ends = dict(positions)
    assert ends == {seq: len(piece_of(event) or "") for seq, event in records}


@given(streams, st.data())
def test_a_reader_cut_off_anywhere_gets_exactly_the_rest(events: list[ev.Event], data: st.DataObject) -> None:
    positions, records = play(events, data)
    seen = data.draw(st.integers(0, len(events)))
    position = positions[seen - 1] if seen else (10, 0)
    rest: list[ev.Event] = []
    for seq, event in records:
        left = remainder(event, position[1]) if seq == position[0] else event if seq > position[0] else None
        rest += [left] if left is not None else []
    assert fold([*events[:seen], *rest]) == fold(events)
    assert _letters([*events[:seen], *rest]) == _letters(events)


def _letters(events: list[ev.Event]) -> str:
    return "".join(piece_of(event) or "." * (piece_of(event) is None) for event in events)


@given(streams, st.data())
def test_a_delta_that_continues_the_open_record_needs_no_grammar(
    events: list[ev.Event], data: st.DataObject
) -> None:
    # A line asks the coalescer first; what it says and where must not depend on that.
    long, short = (Grammar(), Coalescer(limit=LIMIT)), (Grammar(), Coalescer(limit=LIMIT))
    for event in events:
        expected = [(*long[1].add(legal), legal) for legal in long[0].feed(event)]
        offset = short[1].extend(cast("ev.Delta", event)) if isinstance(event, get_args(ev.Delta)) else 0
        if offset:
            assert [(short[1].last_seq, offset, event)] == expected
        else:
            assert [(*short[1].add(legal), legal) for legal in short[0].feed(event)] == expected
        if data.draw(st.integers(0, 5)) == 0:
            long[1].seal()
            short[1].seal()


@given(streams)
def test_plain_text_takes_the_same_place_by_its_own_way(events: list[ev.Event]) -> None:
    ids: dict[tuple[str | None, str], str] = {}
    one, other = Coalescer(limit=4), Coalescer(limit=4)
    for event in events:
        position = one.add(event)
        if isinstance(event, ev.Text) and event.lane is None and event.meta is None:
            # As a turn says it: the message's id is one object, and that of another turn is another.
            own = ids.setdefault((event.turn_id, event.message_id), "".join([*event.message_id]))
            offset = other.extend_text(own, event.delta)
            event = msgspec.structs.replace(event, message_id=own)
            assert position == ((other.last_seq, offset) if offset else other.add(event))
        else:
            assert position == other.add(event)
    one.seal()
    other.seal()
    assert one.take() == other.take()


def test_text_of_an_equal_id_that_is_another_object_goes_the_long_way() -> None:
    coalescer = Coalescer(limit=LIMIT)
    first = "".join(["m", "1"])
    coalescer.add(text("a", first))
    assert coalescer.extend_text("".join(["m", "1"]), "b") == 0
    assert coalescer.extend_text(first, "b") == 2
    assert coalescer.extend_text(first, "") == 0
    coalescer.seal()
    assert coalescer.extend_text(first, "c") == 0


@given(legal_sessions())
def test_a_session_is_written_with_fewer_records_than_events(story: LegalSession) -> None:
    records = records_of(Coalescer(limit=LIMIT), *story.events)
    neighbours = sum(
        type(one) is type(two) is ev.Text and cast("Any", one).message_id == cast("Any", two).message_id
        for one, two in zip(story.events, story.events[1:], strict=False)
    )
    assert len(records) <= len(story.events) - neighbours


# -- what is joined, and what is not ---------------------------------------------------------------

CONTINUED: list[tuple[ev.Event, ev.Event, ev.Event]] = [
    (text("a"), text("b"), text("ab")),
    (
        ev.Thought(message_id="m1", delta="a"),
        ev.Thought(message_id="m1", delta="b"),
        ev.Thought(message_id="m1", delta="ab"),
    ),
    (
        ev.ToolInput(call_id="c1", delta="a"),
        ev.ToolInput(call_id="c1", delta="b"),
        ev.ToolInput(call_id="c1", delta="ab"),
    ),
    (
        ev.TerminalOutput(terminal_id="x", data="a"),
        ev.TerminalOutput(terminal_id="x", data="b"),
        ev.TerminalOutput(terminal_id="x", data="ab"),
    ),
]


@pytest.mark.parametrize(("first", "second", "joined"), CONTINUED)
def test_neighbouring_deltas_become_one_record(first: ev.Event, second: ev.Event, joined: ev.Event) -> None:
    coalescer = Coalescer(limit=LIMIT)
    assert [coalescer.add(first), coalescer.add(second)] == [(1, 1), (1, 2)]
    assert coalescer.waiting
    assert coalescer.take() == []
    coalescer.seal()
    assert coalescer.take() == [(1, joined)]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (text("a"), text("b", message_id="m2")),
        (text("a"), text("b", lane="a")),
        (text("a"), text("b", turn_id="t2")),
        (text("a"), text("b", meta={"k": 1})),
        (text("a", meta={"k": 1}), text("b")),
        (text("a", meta={"k": 1}), text("b", meta={"k": 1})),
        (text("a"), ev.Thought(message_id="m1", delta="b")),
        (ev.Thought(message_id="m1", delta="a"), ev.Thought(message_id="m1", delta="b", signature="s")),
        (ev.Thought(message_id="m1", delta="a", signature="s"), ev.Thought(message_id="m1", delta="b")),
        (ev.TerminalOutput(terminal_id="x", data="a"), ev.TerminalOutput(terminal_id="x", exited=True)),
        (ev.ToolInput(call_id="c1", delta="a"), ev.ToolInput(call_id="c2", delta="b")),
    ],
)
def test_what_differs_in_anything_but_its_text_is_a_record_of_its_own(
    first: ev.Event, second: ev.Event
) -> None:
    assert records_of(Coalescer(limit=LIMIT), first, second) == [(1, first), (2, second)]


def test_any_other_event_closes_the_open_record() -> None:
    coalescer = Coalescer(limit=LIMIT)
    plan = ev.Plan()
    assert [coalescer.add(event) for event in (text("a"), plan, text("b"))] == [(1, 1), (2, 0), (3, 1)]
    assert coalescer.take() == [(1, text("a")), (2, plan)]
    assert coalescer.waiting


def test_a_full_record_is_closed_by_the_next_delta() -> None:
    coalescer = Coalescer(limit=4)
    assert [coalescer.add(text("abc")) for _ in range(3)] == [(1, 3), (1, 6), (2, 3)]


def test_a_sealed_record_is_never_written_to_again() -> None:
    coalescer = Coalescer(limit=LIMIT)
    coalescer.add(text("a"))
    coalescer.seal()
    coalescer.seal()
    assert coalescer.add(text("b")) == (2, 1)
    assert coalescer.take() == [(1, text("a"))]


def test_a_command_is_a_record_between_the_others() -> None:
    coalescer = Coalescer(last_seq=6, limit=LIMIT)
    coalescer.add(text("a"))
    coalescer.add_command(Cancel())
    assert coalescer.add(text("b")) == (9, 1)
    coalescer.seal()
    assert coalescer.take() == [(7, text("a")), (8, Cancel()), (9, text("b"))]


def test_anything_but_text_is_due_at_once_and_text_when_there_is_much() -> None:
    coalescer = Coalescer(limit=1)
    coalescer.add(text("a"))
    coalescer.add(text("b"))
    assert (coalescer.ready, coalescer.due) == (1, False)
    coalescer.add(ev.Plan())
    assert coalescer.due
    coalescer.take()
    assert not coalescer.due
    coalescer.add_command(Cancel())
    assert coalescer.due
    coalescer.take()
    for _ in range(20):
        coalescer.add(text("a"))
    assert coalescer.due


def test_an_event_that_stands_alone_is_written_as_the_very_object_it_is() -> None:
    event = text("a")
    assert records_of(Coalescer(limit=LIMIT), event)[0][1] is event


def test_offsets_count_characters_however_many_bytes_they_have() -> None:
    coalescer = Coalescer(limit=LIMIT)
    assert [coalescer.add(text("é")), coalescer.add(text("😀"))] == [(1, 1), (1, 2)]


def test_a_large_piece_is_written_without_waiting_for_others() -> None:
    coalescer = Coalescer(limit=100)
    coalescer.add(text("x" * 799))
    coalescer.add(text("x" * 800, "m2"))
    assert not coalescer.due
    coalescer.seal()
    assert coalescer.due
    assert len(coalescer.take()) == 2
    assert not coalescer.due
