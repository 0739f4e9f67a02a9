from __future__ import annotations

from typing import Any

import msgspec
import pytest

from trunkline import events as ev
from trunkline.agents.agui.questions import question_of, resume_of
from trunkline.frontends.agui.asking import answer_of, interrupt_of
from trunkline.frontends.agui.wire import ResumeEntry
from trunkline.questions import Form, Link, Option, Permission, Question, default_options

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
    entry = msgspec.convert(resume_of(interrupt, question_of(interrupt), answer), ResumeEntry)
    taken = answer_of(asked, entry, None)
    assert (taken.option_id, taken.input) == expected
    assert taken.reason == answer.reason


def test_refusing_to_answer_cancels_the_interrupt() -> None:
    question = Permission(message="Write?", call_id="c1", options=default_options())
    form = Form(message="Who?", fields=FIELDS)
    interrupt = {"id": "i", "responseSchema": FIELDS}
    declined = answered(outcome="declined")
    assert resume_of(interrupt, question, declined) == {"interruptId": "i", "status": "cancelled"}
    assert resume_of(interrupt, form, declined) == {"interruptId": "i", "status": "cancelled"}


def test_a_form_goes_back_as_fields_and_a_plain_question_as_its_answer() -> None:
    form = Form(message="Who?", fields=FIELDS)
    given = answered(outcome="accepted", content={"name": "Ada"})
    assert resume_of({"id": "i", "responseSchema": FIELDS}, form, given)["payload"] == {"name": "Ada"}
    plain = answered(outcome="accepted", content={"answer": "blue"})
    assert resume_of({"id": "i"}, form, plain)["payload"] == "blue"


def test_a_server_that_names_no_options_is_told_yes_or_no() -> None:
    interrupt = {"id": "i", "toolCallId": "c1"}
    question = question_of(interrupt)
    told = resume_of(
        interrupt, question, answered(option_id="reject", option_kind="reject_once", reason="no")
    )
    assert told == {"interruptId": "i", "status": "resolved", "payload": {"approved": False, "reason": "no"}}
