"""Answers as pages give them."""

import re
from typing import Any, cast

import pytest

from trunkline import events as ev
from trunkline.commands import Answer
from trunkline.content import DiffBlock
from trunkline.errors import InvalidCommand
from trunkline.frontends.aisdk.questions import approval_about, is_approved, question_part, reply_to
from trunkline.questions import Form, Link, Option, Permission, default_options

OPTIONS = default_options()


def asked(question: Any, **fields: Any) -> ev.Asked:
    return ev.Asked(question_id="q1", question=question, **fields)


def permission(**fields: Any) -> ev.Asked:
    return asked(Permission(call_id="c1", options=OPTIONS, **fields))


def answer(**fields: Any) -> Answer:
    return Answer(question_id="q1", by="me", key="aisdk:q1", **fields)


@pytest.mark.parametrize(
    ("question", "given", "expected"),
    [
        (permission(), {"approved": True}, answer(option_id="allow_once")),
        (permission(), {"approved": False, "reason": "no"}, answer(option_id="reject_once", reason="no")),
        (permission(), {"optionId": "allow_always"}, answer(option_id="allow_always")),
        (permission(), {"optionId": "allow_always", "approved": True}, answer(option_id="allow_always")),
        (
            permission(allows_edit=True),
            {"approved": True, "input": {"a": 1}},
            answer(option_id="allow_once", input={"a": 1}),
        ),
        (asked(Permission(call_id="c1")), {"approved": True}, answer(outcome="accepted")),
        (asked(Permission(call_id="c1")), {"approved": False}, answer(outcome="declined")),
        (asked(Form(fields={})), {"content": {"a": 1}}, answer(outcome="accepted", content={"a": 1})),
        (
            asked(Form(fields={}, single_answer=True)),
            {"content": "x"},
            answer(outcome="accepted", content={"answer": "x"}),
        ),
        (
            asked(Form(fields={})),
            {"declined": True},
            answer(outcome="declined", reason="the user dismissed it"),
        ),
        (asked(Link(url="https://a.b")), {}, answer(outcome="accepted")),
    ],
)
def test_an_answer_is_read_as_its_question_wants_it(question: ev.Asked, given: Any, expected: Answer) -> None:
    assert reply_to(question, given, "me") == expected


def test_a_no_never_chooses_an_option_that_may_be_a_yes() -> None:
    kinds = {"once": "allow_once", "session": "allow_session", "own": "other"}
    options = tuple(Option(option_id=name, name=name, kind=cast("Any", kind)) for name, kind in kinds.items())
    question = asked(Permission(call_id="c1", options=options))
    assert reply_to(question, {"approved": False}, "me") == answer(outcome="declined")
    assert reply_to(question, {"optionId": "session"}, "me") == answer(option_id="session")


@pytest.mark.parametrize(
    ("question", "given", "words"),
    [
        (permission(), {}, 'wants {"approved": true or false}'),
        (permission(), {"approved": "yes"}, 'wants {"approved": true or false}'),
        (permission(), {"approved": True, "reason": 3}, "reason is 3: give a text"),
        (permission(), {"optionId": "always"}, "there is no option 'always' in q1: give one of allow_once"),
        (permission(), {"optionId": "allow_once", "approved": False}, "contradict each other"),
        (permission(), {"approved": True, "input": {}}, "cannot be edited"),
        (
            asked(Permission(call_id="c1", options=(Option(option_id="n", name="N", kind="reject_once"),))),
            {"approved": True},
            "has no option that allows the call",
        ),
        (asked(Form(fields={})), {"content": 3}, "wants its fields"),
    ],
)
def test_an_answer_that_does_not_fit_says_why(question: ev.Asked, given: Any, words: str) -> None:
    with pytest.raises(InvalidCommand, match=re.escape(words)):
        reply_to(question, given, "me")


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"outcome": "accepted"}, True),
        ({"outcome": "selected", "option_id": "allow_always"}, True),
        ({"outcome": "selected", "option_id": "x", "option_kind": "allow_once"}, True),
        ({"outcome": "selected", "option_id": "reject_once"}, False),
        ({"outcome": "selected", "option_id": "unknown"}, False),
        ({"outcome": "declined"}, False),
        ({"outcome": "cancelled"}, False),
        ({"outcome": "expired"}, False),
    ],
)
def test_only_an_answer_that_allows_approves(fields: Any, expected: bool) -> None:
    question = Permission(call_id="c1", options=OPTIONS)
    assert is_approved(question, ev.Answered(question_id="q1", **fields)) is expected


def test_an_approval_says_what_is_decided_on() -> None:
    question = permission(message="Write?", allows_edit=True)
    about = approval_about(
        ev.Asked(question_id="q1", question=question.question, lane="l1"), (DiffBlock(path="/a", new="x"),)
    )

    descriptor = about["approvalDescriptor"]
    assert about["reason"] == descriptor["message"] == "Write?"
    assert descriptor["allowsEdit"] is True
    assert descriptor["content"] == [
        {"type": "data-diff", "data": {"path": "/a", "oldText": None, "newText": "x"}}
    ]
    assert descriptor["subagent"] == "l1"


def test_a_form_of_a_framework_shows_its_schema_and_its_value() -> None:
    form = Form(fields={"f": 1}, answer_schema={"type": "array"}, value={"raw": 1}, single_answer=True)
    data = question_part(asked(form), None)["data"]

    assert data["schema"] == {"type": "array"}
    assert data["fields"] == {"f": 1}
    assert data["value"] == {"raw": 1}
    assert data["singleAnswer"] is True


def test_an_option_that_wants_words_says_so() -> None:
    option = Option(option_id="n", name="N", kind="reject_once", wants_words=True)
    about = approval_about(asked(Permission(call_id="c1", options=(option,))), ())

    assert about["approvalDescriptor"]["options"][0]["wantsWords"] is True
