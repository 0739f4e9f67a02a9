"""The messages of a chat, folded from its events."""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.frontends.aisdk.responses import as_entries, responses_of, turns_of
from tests.legal_sessions import LegalSession, legal_sessions, rechunked

from trunkline import events as ev
from trunkline.content import TextBlock
from trunkline.frontends.aisdk.message_reducer import MessageReducer
from trunkline.frontends.aisdk.messages import MessageFolder, fold_ui_messages
from trunkline.protocols.aisdk.wire import VERSIONS


def turn(number: int) -> list[ev.Event]:
    turn_id = f"t{number}"
    return [
        ev.TurnStarted(turn_id=turn_id),
        ev.UserMessage(turn_id=turn_id, message_id=f"u{number}", content=(TextBlock(text="hi"),)),
        ev.Text(turn_id=turn_id, message_id=f"m{number}", delta="hello"),
        ev.TurnFinished(turn_id=turn_id),
    ]


def ids(events: list[Any]) -> list[str]:
    return [message["id"] for message in fold_ui_messages(events)]


def test_a_person_speaks_before_the_assistant_whose_id_is_the_turns() -> None:
    user, assistant = fold_ui_messages(turn(1))

    assert user == {"id": "u1", "role": "user", "parts": [{"type": "text", "text": "hi"}]}
    assert assistant == {
        "id": "t1",
        "role": "assistant",
        "metadata": {"turnId": "t1", "stopReason": "end_turn"},
        "parts": [{"type": "step-start"}, {"type": "text", "text": "hello", "state": "done"}],
    }


def test_entries_fold_as_their_events_do() -> None:
    assert fold_ui_messages(as_entries(turn(1))) == fold_ui_messages(turn(1))


def test_messages_are_right_after_every_event() -> None:
    folder = MessageFolder()
    for event in turn(1)[:3]:
        folder.feed(event)

    assert folder.messages[1]["parts"][1]["state"] == "streaming"


def test_a_conversation_that_went_back_has_only_what_is_left() -> None:
    both = [*turn(1), *turn(2)]

    assert ids([*both, ev.Rewound(to_message_id="u2")]) == ["u1", "t1", "u2"]
    assert ids([*both, ev.Rewound(to_message_id="m1")]) == ["u1", "t1"]
    assert ids([*both, ev.Rewound(to_message_id="unknown")]) == ["u1", "t1", "u2", "t2"]
    assert ids([*both, ev.Rewound(), *turn(3)]) == ["u3", "t3"]


def test_the_shared_state_goes_on_from_turn_to_turn() -> None:
    patch = ({"op": "add", "path": "/b", "value": 2},)
    bad = ({"op": "remove", "path": "/none"},)
    first, second = turn(1), turn(2)
    first.insert(2, ev.StateReplaced(turn_id="t1", state={"a": 1}))
    second.insert(2, ev.StatePatched(turn_id="t2", patch=patch))
    second.insert(2, ev.StatePatched(turn_id="t2", patch=bad))

    messages = fold_ui_messages([*first, *second])
    assert messages[-1]["parts"][1] == {"type": "data-state", "id": "state", "data": {"a": 1, "b": 2}}


def test_a_message_that_joined_a_turn_is_a_part_of_it_or_a_message_of_its_own() -> None:
    events = turn(1)
    events.insert(3, ev.UserMessage(turn_id="t1", message_id="u9", content=(TextBlock(text="faster"),)))

    assert ids(events) == ["u1", "t1"]
    assert fold_ui_messages(events)[1]["parts"][-1]["id"] == "u9"
    assert [message["id"] for message in fold_ui_messages(events, version=5)] == ["u1", "t1", "u9"]


def stories(story: LegalSession) -> list[Any]:
    return [event for event in story.events if not isinstance(event, ev.Rewound)]


@settings(max_examples=40)
@given(legal_sessions(), st.sampled_from([5, 6, 7]), st.data())
def test_other_pieces_of_the_same_stream_fold_to_the_same(
    story: LegalSession, version: Any, data: st.DataObject
) -> None:
    pieces = data.draw(rechunked(stories(story)))

    assert fold_ui_messages(pieces, version=version) == fold_ui_messages(stories(story), version=version)


@settings(max_examples=40)
@given(legal_sessions())
def test_a_replay_folds_to_what_the_responses_folded_to(story: LegalSession) -> None:
    events = stories(story)
    whole = {message["id"]: message for message in fold_ui_messages(events)}
    for made in responses_of(events, 7):
        reducer = MessageReducer(made.turn_id, VERSIONS[7])
        for chunks in made.chunks:
            reducer.feed_all(chunks)
        assert reducer.message == whole[made.turn_id]
    without = [event for event in events if not isinstance(event, ev.TurnSuspended)]
    # A replay goes through past suspensions.
    assert fold_ui_messages(without) == list(fold_ui_messages(events))
    assert len(whole) >= len(turns_of(events))
