from typing import Any, cast

import msgspec
import pytest
from ag_ui.core import Interrupt

from trunkline import events as ev
from trunkline.commands import Answer
from trunkline.errors import InvalidCommand
from trunkline.frontends.agui.questions import answer_of, interrupt_of
from trunkline.protocols.agui.wire import ResumeEntry
from trunkline.questions import Form, Link, Option, Permission, Question, default_options

PERMISSION = Permission(message="Write?", call_id="c1", options=default_options(), allows_edit=True)
FORM = Form(message="Order", fields={"type": "object", "properties": {"name": {"type": "string"}}})
LINK = Link(message="Go there", url="https://example.org")


def asked(question: Question, **fields: Any) -> ev.Asked:
    return ev.Asked(question_id="q1", question=question, **fields)


def checked_interrupt(question: Question, **fields: Any) -> dict[str, Any]:
    """Give the interrupt of a question, which the official model takes."""
    plain = msgspec.to_builtins(interrupt_of(asked(question, **fields)))
    Interrupt.model_validate(plain)
    return plain


def answered(question: Question, payload: Any = None, status: Any = "resolved") -> Answer:
    return answer_of(asked(question), ResumeEntry(interrupt_id="q1", status=status, payload=payload), "me")


def test_a_permission_names_its_call_and_says_what_an_answer_looks_like() -> None:
    interrupt = checked_interrupt(PERMISSION, expires_at=0.5, group="g", lane="l1")

    assert (interrupt["id"], interrupt["reason"], interrupt["toolCallId"]) == ("q1", "tool_call", "c1")
    assert interrupt["message"] == "Write?"
    assert interrupt["expiresAt"] == "1970-01-01T00:00:00.500000Z"
    assert interrupt["subagentRunId"] == "l1"
    schema = interrupt["responseSchema"]
    assert schema["required"] == ["approved"]
    assert schema["properties"].keys() == {"approved", "reason", "optionId", "editedArgs"}
    about = interrupt["metadata"]["trunkline"]
    assert about["group"] == "g"
    assert [option["kind"] for option in about["options"]] == [
        "allow_once", "allow_always", "reject_once", "reject_always",
    ]  # fmt: skip


def test_arguments_that_may_not_be_edited_are_not_in_the_schema() -> None:
    schema = checked_interrupt(Permission(call_id="c1", options=default_options()))["responseSchema"]

    assert "editedArgs" not in schema["properties"]


def test_an_older_client_is_sent_of_no_subagent() -> None:
    interrupt = interrupt_of(asked(PERMISSION, lane="l1"), modern=False)

    assert interrupt.subagent_run_id is None


def test_a_form_brings_its_fields_as_the_schema_of_the_answer() -> None:
    interrupt = checked_interrupt(FORM)

    assert interrupt["reason"] == "input_required"
    assert interrupt["responseSchema"] == FORM.fields
    assert "toolCallId" not in interrupt
    assert "expiresAt" not in interrupt


def test_a_link_brings_its_address() -> None:
    interrupt = checked_interrupt(LINK)

    assert interrupt["reason"] == "confirmation"
    assert interrupt["metadata"] == {"trunkline": {"url": "https://example.org"}}


@pytest.mark.parametrize(
    ("payload", "option_id"),
    [
        (True, "allow_once"),
        (False, "reject_once"),
        ({"approved": True}, "allow_once"),
        ({"approved": False, "reason": "no"}, "reject_once"),
        ({"approved": True, "optionId": "allow_always"}, "allow_always"),
        ({"optionId": "reject_always"}, "reject_always"),
    ],
)
def test_a_permission_is_answered_by_yes_and_no_or_by_an_option(payload: Any, option_id: str) -> None:
    answer = answered(PERMISSION, payload)

    assert (answer.outcome, answer.option_id, answer.by) == ("selected", option_id, "me")
    assert answer.key == "resume:q1"


def test_edited_arguments_and_a_reason_come_with_the_answer() -> None:
    answer = answered(PERMISSION, {"approved": True, "editedArgs": {"path": "b"}, "reason": "better"})

    assert (answer.input, answer.reason) == ({"path": "b"}, "better")


def test_an_answer_for_which_there_is_no_option_declines() -> None:
    only_yes = Permission(call_id="c1", options=(Option(option_id="y", name="Yes", kind="allow_once"),))

    answer = answered(only_yes, {"approved": False, "reason": "no"})

    assert (answer.outcome, answer.option_id, answer.reason) == ("declined", None, "no")


def test_a_no_never_chooses_an_option_that_may_be_a_yes() -> None:
    kinds = {"once": "allow_once", "session": "allow_session", "own": "other"}
    options = tuple(Option(option_id=name, name=name, kind=cast("Any", kind)) for name, kind in kinds.items())

    answer = answered(Permission(call_id="c1", options=options), False)

    assert (answer.outcome, answer.option_id) == ("declined", None)


@pytest.mark.parametrize("question", [PERMISSION, FORM, LINK])
def test_a_dismissed_question_is_declined(question: Question) -> None:
    answer = answered(question, status="cancelled")

    assert (answer.outcome, answer.reason) == ("declined", "the user dismissed it")


def test_a_form_and_a_link_are_accepted_with_what_came() -> None:
    assert answered(FORM, {"name": "Ada"}).content == {"name": "Ada"}
    assert answered(LINK).outcome == "accepted"


@pytest.mark.parametrize(
    ("question", "payload", "expected"),
    [
        (PERMISSION, None, 'interrupt q1 wants {"approved": true or false}'),
        (PERMISSION, "yes", 'interrupt q1 wants {"approved": true or false}'),
        (PERMISSION, {"approved": 1}, 'interrupt q1 wants {"approved": true or false}'),
        (PERMISSION, {"optionId": []}, "there is no option [] in q1: give one of allow_once"),
        (PERMISSION, {"approved": False, "optionId": "allow_once"}, "contradict each other"),
        (PERMISSION, {"approved": True, "optionId": "reject_once"}, "contradict each other"),
        (PERMISSION, {"approved": True, "reason": {}}, "the reason is {}: give a text"),
        (PERMISSION, {"optionId": "maybe"}, "there is no option 'maybe' in q1: give one of allow_once"),
        (
            Permission(call_id="c1", options=default_options()),
            {"approved": True, "editedArgs": {}},
            "the arguments of c1 cannot be edited",
        ),
        (FORM, "Ada", "interrupt q1 wants its fields: give an object as payload"),
    ],
)
def test_an_answer_that_does_not_fit_is_refused_with_what_does(
    question: Question, payload: Any, expected: str
) -> None:
    with pytest.raises(InvalidCommand) as refused:
        answered(question, payload)

    assert expected in str(refused.value)
