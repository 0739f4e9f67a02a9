from typing import Any

import msgspec
import pytest

from trunkline import events as ev
from trunkline.agents.agui.questions import (
    AnsweredQuestion,
    OpenQuestion,
    open_questions,
    question_of,
    resume_fields,
)
from trunkline.agents.agui.run_end import RunEnd
from trunkline.frontends.agui.questions import answer_of, interrupt_of
from trunkline.protocols.agui.wire import ResumeEntry
from trunkline.questions import ClientCall, Form, Link, Option, Permission, Question, default_options

FIELDS: dict[str, Any] = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}


@pytest.mark.parametrize(
    "question",
    [
        Permission(message="Write?", call_id="c1", options=default_options(), allows_edit=True),
        Permission(message="Write?", call_id="c1", options=default_options(always=False)),
        Form(message="Who?", fields=FIELDS),
        Link(message="Log in", url="https://example.org/login"),
    ],
)
def test_a_question_of_ours_comes_back_from_our_own_wire_as_it_was(question: Question) -> None:
    interrupt = msgspec.to_builtins(interrupt_of(ev.Asked(question_id="q1", question=question)))
    assert question_of(interrupt) == question


@pytest.mark.parametrize(
    ("interrupt", "expected"),
    [
        (
            {"id": "i", "reason": "tool_call", "message": "Run?", "toolCallId": "c1"},
            Permission(
                message="Run?",
                call_id="c1",
                options=(
                    Option(option_id="approve", name="Approve", kind="allow_once"),
                    Option(option_id="reject", name="Reject", kind="reject_once"),
                ),
            ),
        ),
        (
            {"id": "i", "reason": "input_required", "responseSchema": FIELDS},
            Form(message="input_required", fields=FIELDS),
        ),
        (
            {"id": "i", "reason": "langgraph:interrupt", "message": "Which colour?"},
            Form(
                message="Which colour?",
                fields={"type": "object", "properties": {"answer": {"type": "string", "title": "Answer"}}},
                single_answer=True,
            ),
        ),
    ],
)
def test_interrupts_of_other_servers_are_questions(interrupt: dict[str, Any], expected: Question) -> None:
    assert question_of(interrupt) == expected


def answered(**fields: Any) -> ev.Answered:
    given: dict[str, Any] = {"question_id": "q1", "outcome": "selected", **fields}
    return ev.Answered(**given)


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (answered(option_id="allow_once", option_kind="allow_once"), ("allow_once", None)),
        (
            answered(option_id="allow_always", option_kind="allow_always", input={"a": 1}),
            ("allow_always", {"a": 1}),
        ),
        (answered(option_id="reject_once", option_kind="reject_once", reason="no"), ("reject_once", None)),
    ],
)
def test_an_answer_reaches_a_server_of_ours_as_it_was_given(answer: ev.Answered, expected: Any) -> None:
    question = Permission(message="Write?", call_id="c1", options=default_options(), allows_edit=True)
    asked = ev.Asked(question_id="q1", question=question)
    interrupt = msgspec.to_builtins(interrupt_of(asked))
    entry = msgspec.convert(entry_of("q1", question_of(interrupt), answer), ResumeEntry)
    taken = answer_of(asked, entry, None)
    assert (taken.option_id, taken.input) == expected
    assert taken.reason == answer.reason


def entry_of(key: str, question: Question, answer: ev.Answered) -> dict[str, Any]:
    """The one entry that answers a question."""
    (entry,) = resume_fields([AnsweredQuestion(key, question, answer)], {})["resume"]
    return entry


def test_refusing_to_answer_cancels_the_interrupt() -> None:
    question = Permission(message="Write?", call_id="c1", options=default_options())
    declined = answered(outcome="declined")
    for refused in (question, Form(message="Who?", fields=FIELDS)):
        assert entry_of("i", refused, declined) == {"interruptId": "i", "status": "cancelled"}


def test_a_form_goes_back_as_fields_and_a_plain_question_as_its_answer() -> None:
    form = Form(message="Who?", fields=FIELDS)
    given = answered(outcome="accepted", content={"name": "Ada"})
    assert entry_of("i", form, given)["payload"] == {"name": "Ada"}
    plain = question_of({"id": "i", "message": "Which colour?"})
    assert entry_of("i", plain, answered(outcome="accepted", content={"answer": "blue"}))["payload"] == "blue"


def test_a_server_that_names_no_options_is_sent_yes_or_no_also_by_a_later_process() -> None:
    question = question_of({"id": "i", "toolCallId": "c1"})
    kept = msgspec.json.decode(msgspec.json.encode(question), type=Permission)
    answer = answered(option_id="reject", option_kind="reject_once", reason="no")
    for one in (question, kept):
        assert entry_of("i", one, answer) == {
            "interruptId": "i",
            "status": "resolved",
            "payload": {"approved": False, "reason": "no"},
        }


# -- what a run stopped for ------------------------------------------------------------------------

CALLS: dict[str, dict[str, Any]] = {
    "c1": {"name": "sell", "arguments": '{"what": "shoes"}', "lane": None},
    "c2": {"name": "sell", "arguments": '{"what": "hats"}', "lane": "s1"},
    "c3": {"name": "pick", "arguments": "nonsense", "lane": None},
}


def test_calls_of_the_front_ends_tools_are_asked_with_what_is_known_of_their_arguments() -> None:
    ending = RunEnd(pending=("c1", "c3", "unknown"))
    assert open_questions(ending, CALLS, ["pick"]) == [
        OpenQuestion("client:c3", ClientCall(call_id="c3", name="pick", input="nonsense"))
    ]


def test_answers_of_client_tools_are_messages_and_no_resume() -> None:
    question = ClientCall(call_id="c3", name="pick")
    assert resume_fields([AnsweredQuestion("client:c3", question, answered(outcome="accepted"))], CALLS) == {}
