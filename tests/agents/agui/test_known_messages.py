"""A message that a server tells under another name is no second one."""

from itertools import count
from typing import Any

from tests.agents.agui.test_translator import text
from trunkline import events as ev
from trunkline.agents.agui.translator import AguiTranslator
from trunkline.conversation import Conversation
from trunkline.folding import fold
from trunkline.protocols.agui.messages import snapshot_of

Json = dict[str, Any]
NEW = map("made-up-{}".format, count())


def message(role: str, content: Any, **fields: Any) -> Json:
    """A message of a snapshot, under a name that was made up for it."""
    return {"id": next(NEW), "role": role, "content": content, **fields}


def snapshot(*messages: Json) -> Json:
    return {"type": "MESSAGES_SNAPSHOT", "messages": list(messages)}


def chunks(message_id: str, *deltas: str) -> list[Json]:
    return [{"type": "TEXT_MESSAGE_CHUNK", "messageId": message_id, "delta": delta} for delta in deltas]


def turn(history: Conversation, *events: Json) -> list[ev.AnyEvent]:
    translator = AguiTranslator(snapshot_of(history))
    return [output for event in events for output in translator.feed(event)]


def texts(expected: list[ev.AnyEvent]) -> list[str]:
    return [one.text for one in fold(expected).messages if one.text]


def test_an_answer_that_llamaindex_renames_in_each_snapshot_is_said_once() -> None:
    # As llama-index-protocols-ag-ui does it: chunks, a call, its result in a snapshot, then the answer.
    call = {"type": "TOOL_CALL_CHUNK", "toolCallId": "c1", "toolCallName": "look", "delta": "{}"}
    output = turn(
        Conversation(),
        *chunks("a1", "Let me ", "look. "),
        call,
        snapshot(
            message("user", "<state>{}</state>\n\nhi"),
            message("assistant", "Let me look."),
            message("tool", "found", toolCallId="c1"),
        ),
        *chunks("a2", "It is there."),
        snapshot(
            message("user", "<state>{}</state>\n\nhi"),
            message("assistant", "Let me look."),
            message("tool", "found", toolCallId="c1"),
            message("assistant", "It is there."),
        ),
    )
    assert texts(output) == ["Let me look. ", "It is there."]
    (call_said,) = fold(output).calls.values()
    assert (call_said.status, call_said.raw_output) == ("completed", "found")


def test_answers_of_earlier_turns_that_come_back_under_other_names_are_not_said_again() -> None:
    history = fold(
        [
            ev.TurnStarted(turn_id="t"),
            ev.UserMessage(turn_id="t", message_id="u1", content=()),
            ev.Text(turn_id="t", message_id="m1", delta="Yes."),
            ev.TurnFinished(turn_id="t"),
        ]
    )
    output = [message("user", "one"), message("assistant", "Yes."), message("user", "two")]
    assert texts(turn(history, *text("m2", "No."), snapshot(*output, message("assistant", "No.")))) == ["No."]
    again = message("assistant", "Yes.")
    assert texts(turn(history, snapshot(*output, again))) == ["Yes."], "the same words may be a new answer"
    assert texts(turn(history, snapshot({"id": "m1", "role": "assistant", "content": "Yes."}, again))) == [
        "Yes."
    ]


def test_a_message_that_says_something_else_is_another_one() -> None:
    output = turn(Conversation(), *text("m1", "One."), snapshot(message("assistant", "Two.")))
    assert texts(output) == ["One.", "Two."]
    thought = {"type": "REASONING_MESSAGE_CONTENT", "messageId": "r1", "delta": "Same."}
    output = turn(Conversation(), thought, snapshot(message("assistant", "Same.")))
    assert texts(output) == ["Same."], "words are no thoughts"


def test_two_messages_that_say_the_same_are_two_and_stay_two() -> None:
    twice = [*text("m1", "Ok."), *text("m2", "Ok.")]
    renamed = snapshot(message("assistant", "Ok."), message("assistant", "Ok."))
    assert texts(turn(Conversation(), *twice, renamed)) == ["Ok.", "Ok."]
    third = snapshot(*(message("assistant", "Ok.") for _ in range(3)))
    assert texts(turn(Conversation(), *twice, third)) == ["Ok.", "Ok.", "Ok."]
