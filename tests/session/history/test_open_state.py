"""What opening a session learns from its records, and the snapshot of it.

That a snapshot at any record gives the same as reading all of them is a property in test_snapshots.py.
"""

from typing import cast

from hypothesis import example, given
from hypothesis import strategies as st
from tests.strategies import event_kinds, structs_of

from trunkline import events as ev
from trunkline.content import TextBlock
from trunkline.cursor import Entry
from trunkline.options import ConfigOption
from trunkline.questions import Coverage, Permission
from trunkline.session.history.open_state import OpenState, read_snapshot

MODE = ConfigOption(option_id="mode", name="Mode", value="plan", choices=())
EVENTS: list[ev.AnyEvent] = [
    ev.TurnStarted(turn_id="t1", prompt_id="p1"),
    ev.StateReplaced(turn_id="t1", state={"n": 1}),
    ev.PromptQueued(prompt_id="p2", content=(TextBlock(text="next"),)),
    ev.PromptQueued(prompt_id="p3", content=()),
    ev.PromptDropped(prompt_id="p3", reason="withdrawn"),
    ev.ConfigChanged(options=(MODE,)),
    ev.TurnFinished(turn_id="t1"),
]


def read(events: list[ev.AnyEvent]) -> OpenState:
    state = OpenState.alone()
    for seq, event in enumerate(events, 1):
        state.feed(Entry(seq, 0, 1, 0.0, event))
    return state


def test_records_give_receipts_the_queue_options_and_the_shared_state() -> None:
    state = read(EVENTS)
    assert state.receipts.by_prompt["p1"].turn_id == "t1"
    assert state.receipts.turn_starts == {"t1": 1}
    assert list(state.queue) == ["p2"]
    assert state.view.options == (MODE,)
    assert (state.view.state, state.state_before) == ({"n": 1}, None)


@given(st.lists(st.sampled_from(event_kinds()).flatmap(structs_of), max_size=5))
@example([ev.StatePatched(patch=({"op": "replace", "path": "", "value": 1},))])
@example([ev.Asked(question_id="q", question=Permission(call_id="c", covers=Coverage(tool="t", kind="k")))])
def test_events_that_are_passed_over_would_teach_no_part_anything(events: list[ev.Event]) -> None:
    state, parts = OpenState.alone(), OpenState.alone()
    for event in events:
        state.apply(Entry(1, 0, 1, 0.0, cast("ev.AnyEvent", event)))
        for part in (parts.questions, parts.permissions, parts.view):
            part.apply(event)
        assert state.questions.answered == parts.questions.answered
        assert vars(state.permissions) | {"_view": None} == vars(parts.permissions) | {"_view": None}
        assert vars(state.view) == vars(parts.view)


def test_a_prompt_that_became_a_turn_waits_no_longer() -> None:
    state = read([*EVENTS, ev.TurnStarted(turn_id="t2", prompt_id="p2")])
    assert not state.queue
    assert state.state_before == {"n": 1}


def test_a_snapshot_gives_the_same_state_back() -> None:
    payload = read(EVENTS).take()
    assert payload is not None
    snapshot = read_snapshot(payload)
    assert snapshot is not None
    restored = OpenState.alone()
    restored.restore(snapshot)
    assert restored.take() == payload
    assert restored.last is not None
    assert restored.last.seq == len(EVENTS)


def test_there_is_no_snapshot_inside_a_turn() -> None:
    assert read(EVENTS[:2]).take() is None


def test_a_snapshot_that_cannot_be_read_is_none() -> None:
    assert read_snapshot(b"{}") is None
    assert read_snapshot(b"\xff") is None
