"""The outline: the ids of a conversation in their order."""

from hypothesis import given
from hypothesis import strategies as st

from tests.legal_sessions import rewound_sessions
from trunkline import events as ev
from trunkline.content import TextBlock
from trunkline.folding import fold
from trunkline.grammar import Grammar, Phase
from trunkline.outline import Outline, OutlineReader, PresentOutline, Step


def turn(number: int) -> list[ev.Event]:
    """A turn with a prompt, an answer, a call in it and one that belongs to no message."""
    return [
        ev.TurnStarted(turn_id=f"t{number}", prompt_id=f"p{number}"),
        ev.UserMessage(message_id=f"u{number}", content=(TextBlock(text="hi"),)),
        ev.Text(message_id=f"a{number}", delta="hello"),
        ev.ToolCall(call_id=f"c{number}", name="t", message_id=f"a{number}"),
        ev.ToolUpdate(call_id=f"c{number}", status="completed"),
        ev.ToolCall(call_id=f"loose{number}", name="t"),
        ev.Thought(message_id=f"h{number}", delta="hm"),
    ]


def steps_of(*events: ev.Event) -> list[Step]:
    reader = OutlineReader()
    return [step for event in events for step in reader.feed(event)] + reader.close()


def outline_of(*events: ev.Event) -> Outline:
    outline = Outline()
    outline.extend(steps_of(*events))
    return outline


def test_shown_messages_are_those_with_text_and_calls_without_a_message() -> None:
    outline = outline_of(*turn(1), *turn(2))
    assert outline.shown_messages == ["u1", "a1", "loose1", "u2", "a2", "loose2"]
    assert set(outline.turn_of) == {"u1", "a1", "h1", "u2", "a2", "h2"}
    assert outline.calls["c1"].ended
    assert not outline.calls["loose1"].ended
    assert outline.results["c2:result"].call_id == "c2"


def test_going_back_takes_back_what_is_behind_and_remembers_its_ids() -> None:
    outline = outline_of(*turn(1), *turn(2), ev.Rewound(to_message_id="a1"))
    assert outline.shown_messages == ["u1", "a1", "loose1"]
    assert "c2" not in outline.calls
    assert {"u2", "a2", "c2", "c2:result"} <= outline.known_ids
    assert outline_of(*turn(1), ev.Rewound(to_message_id=None)).shown_messages == []
    assert outline_of(*turn(1), ev.Rewound(to_message_id="unknown")).shown_messages == ["u1", "a1", "loose1"]


def test_the_present_is_a_past_and_the_last_turn_and_does_not_grow_with_the_past() -> None:
    past = outline_of(*turn(1), *turn(2))
    present = PresentOutline(past, steps_of(*turn(3)))
    past.extend(steps_of(*turn(4)))
    assert [name for name in present.shown_messages if name.startswith("a")] == ["a1", "a2", "a3"]
    assert present.length == 9
    assert (present.last_message, present.before("u2"), present.before("u1")) == ("a3", "a1", None)
    assert (present.turn_of("a3"), present.turn_of("h3"), present.turn_of("no")) == ("t3", None, None)
    assert present.turns_from("t2") == ["t2", "t3"]
    assert present.has_call("c3")
    assert not present.is_empty


def test_the_present_after_going_back_leaves_the_past_alone() -> None:
    past = outline_of(*turn(1), *turn(2))
    present = PresentOutline(past, steps_of(ev.Rewound(to_message_id="u1"), *turn(3)))
    assert [name for name in present.shown_messages if name[0] == "u"] == ["u1", "u3"]
    assert not present.has_message("a2")
    assert present.has_id("a2")
    assert "u2" in past.shown_messages


@given(rewound_sessions(), st.data())
def test_an_outline_of_pages_is_the_outline_of_the_conversation(
    events: list[ev.Event], data: st.DataObject
) -> None:
    outline, pages = Outline(), OutlineReader()
    grammar = Grammar()
    for event in events:
        grammar.feed(event)
        outline.extend(pages.feed(event))
        if grammar.phase is Phase.IDLE and data.draw(st.booleans()):
            outline.extend(pages.close())
    outline.extend(pages.close())
    conversation = fold(events)
    assert set(outline.turn_of) == {message.message_id for message in conversation.messages}
    assert {call.call_id for call in outline.results.values()} == set(conversation.calls)
    of_turns = [[one.message_id for one in turn.messages] for turn in outline.turns]
    assert [name for turn in of_turns for name in turn] == [
        message.message_id for message in conversation.messages
    ]
