"""What was asked in a session is in every file that is made of it."""

import time
from collections.abc import Iterator
from html import unescape

import pytest

from trunkline import events as ev
from trunkline.content import TextBlock
from trunkline.exports.html import as_html
from trunkline.exports.markdown import as_markdown, as_text
from trunkline.folding import fold
from trunkline.journal import SessionInfo
from trunkline.questions import ClientCall, Form, Link, Option, Permission, Question

INFO = SessionInfo(principal="local", session_id="sess_1", target="demo", title="A title")
SEND = Permission(
    message="Send it?", call_id="c", options=(Option(option_id="o", name="Off it goes", kind="allow_once"),)
)


def shown(question: Question, *answered: ev.Answered, call: str | None = None) -> list[str]:
    events: list[ev.Event] = [
        ev.TurnStarted(turn_id="t"),
        ev.UserMessage(turn_id="t", message_id="u", content=(TextBlock(text="Go"),)),
        *([ev.ToolCall(turn_id="t", call_id=call, name="send", title="Send it?")] if call else []),
        ev.Asked(turn_id="t", question_id="q", question=question),
        *answered,
        *([ev.TurnFinished(turn_id="t")] if answered else [ev.TurnSuspended(turn_id="t")]),
    ]
    return [unescape(render(INFO, fold(events))) for render in (as_text, as_markdown, as_html)]


def answer(**fields: object) -> ev.Answered:
    return ev.Answered(turn_id="t", question_id="q", **fields)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("question", "answered", "expected"),
    [
        (SEND, answer(outcome="selected", option_id="o"), "? Send it? (Off it goes)"),
        (
            SEND,
            answer(outcome="selected", option_id="o", option_kind="reject_once", reason="not\nnow"),
            "? Send it? (rejected) not now",
        ),
        (
            SEND,
            answer(outcome="selected", option_kind="allow_once", input={"to": "Ada"}),
            '? Send it? (allowed once) {"to": "Ada"}',
        ),
        (
            Form(message="Your name?", fields={}),
            answer(outcome="accepted", content={"name": "Ann"}),
            '? Your name? (answered) {"name": "Ann"}',
        ),
        (
            Form(message="Your name?", fields={}),
            answer(outcome="expired"),
            "? Your name? (not answered in time)",
        ),
        (
            Link(message="Log in", url="https://example.com"),
            answer(outcome="declined"),
            "? Log in https://example.com (declined)",
        ),
        (
            ClientCall(call_id="x", name="pick_colour"),
            answer(outcome="accepted", content="red"),
            "? pick_colour (answered) red",
        ),
    ],
)
def test_what_was_asked_and_answered_is_told(
    question: Question, answered: ev.Answered, expected: str
) -> None:
    for text in shown(question, answered):
        assert text.count(expected) == 1


def test_a_question_about_a_call_stands_with_the_call() -> None:
    for text in shown(SEND, answer(outcome="selected", option_kind="allow_once"), call="c"):
        assert text.count("? Send it? (allowed once)") == 1
        # The title of a call that was asked about asks no more.
        assert text.index("Send it (") < text.index("? Send it?")


def test_an_open_question_is_told_and_its_turn_waits() -> None:
    for text in shown(Form(message="Your name?", fields={})):
        assert "? Your name? (not answered yet)" in text
        assert "waits for an answer" in text.lower()


def test_the_time_for_a_session_with_many_questions_grows_with_their_number() -> None:
    def events(number: int) -> Iterator[ev.Event]:
        call_id, question_id, turn_id = f"c{number}", f"q{number}", f"t{number}"
        question = Permission(message="Send it?", call_id=call_id, options=SEND.options)
        yield ev.TurnStarted(turn_id=turn_id)
        yield ev.UserMessage(turn_id=turn_id, message_id=f"u{number}", content=(TextBlock(text="Go"),))
        yield ev.ToolCall(turn_id=turn_id, call_id=call_id, name="send")
        yield ev.Asked(turn_id=turn_id, question_id=question_id, question=question)
        yield ev.TurnFinished(turn_id=turn_id)

    conversation = fold([event for number in range(10_000) for event in events(number)])
    begun = time.process_time()
    assert as_text(INFO, conversation).count("? Send it?") == 10_000
    assert time.process_time() - begun < 3
