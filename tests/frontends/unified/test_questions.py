"""Answers of clients: chosen by kind, never for good by accident, and always to the right question."""

from typing import Any

import pytest

from trunkline import events as ev
from trunkline import questions as qu
from trunkline.errors import InvalidCommand
from trunkline.frontends.unified.questions import read_answer


def permission(*kinds: str, question_id: str = "q1", call_id: str = "c1", edit: bool = False) -> ev.Asked:
    options: Any = [qu.Option(option_id=f"{kind}!", name=kind, kind=kind) for kind in kinds]  # pyright: ignore[reportArgumentType]
    question = qu.Permission(call_id=call_id, options=tuple(options), allows_edit=edit)
    return ev.Asked(question_id=question_id, question=question)


def chosen(asked: ev.Asked, **metadata: Any) -> tuple[str, str | None]:
    answer = read_answer({"request_id": asked.question_id, **metadata}, {asked.question_id: asked}, "i")
    return answer.outcome, answer.option_id


@pytest.mark.parametrize(
    ("kinds", "behavior", "expected"),
    [
        (("allow_always", "allow_once", "reject_once"), "allow", ("selected", "allow_once!")),
        (("allow_once", "reject_always", "reject_once"), "deny", ("selected", "reject_once!")),
        (("allow_once", "reject_always"), "deny", ("declined", None)),
        (("allow_once",), "deny", ("declined", None)),
    ],
)
def test_an_option_is_chosen_by_its_kind(
    kinds: tuple[str, ...], behavior: str, expected: tuple[str, str | None]
) -> None:
    assert chosen(permission(*kinds), behavior=behavior) == expected


def test_nothing_is_allowed_for_good_unless_it_is_named() -> None:
    asked = permission("allow_always", "reject_once")
    with pytest.raises(InvalidCommand, match=r"allow_always! \(allow_always\)"):
        chosen(asked, behavior="allow")
    assert chosen(asked, behavior="allow", optionId="allow_always!") == ("selected", "allow_always!")
    assert chosen(asked, option_id="reject_once!") == ("selected", "reject_once!")


def test_edited_arguments_come_with_an_answer_that_allows() -> None:
    asked = permission("allow_once", "reject_once", edit=True)
    metadata = {"request_id": "q1", "updated_input": {"a": 1}}
    assert read_answer({**metadata, "behavior": "allow"}, {"q1": asked}, "i").input == {"a": 1}
    assert read_answer({**metadata, "behavior": "deny"}, {"q1": asked}, "i").input is None


def test_parallel_questions_are_told_apart_and_one_may_be_named_by_its_call() -> None:
    both = {
        "q1": permission("allow_once"),
        "q2": permission("allow_once", question_id="q2", call_id="c2"),
    }
    assert read_answer({"request_id": "q1", "behavior": "allow"}, both, "i").question_id == "q1"
    assert read_answer({"tool_use_id": "c2", "behavior": "allow"}, both, "i").question_id == "q2"
    assert read_answer({"request_id": "c2", "behavior": "allow"}, both, "i").question_id == "q2"
    both["q3"] = permission("allow_once", question_id="q3", call_id="c2")
    with pytest.raises(InvalidCommand, match="2 questions are about 'c2'"):
        read_answer({"tool_use_id": "c2", "behavior": "allow"}, both, "i")


def test_an_answer_to_a_question_that_is_gone_is_left_to_the_session() -> None:
    answer = read_answer({"request_id": "q9", "behavior": "allow"}, {}, "i")
    assert answer.question_id == "q9"


@pytest.mark.parametrize(
    ("question", "metadata", "outcome", "content"),
    [
        (qu.Form(fields={}), {"behavior": "allow", "content": {"a": 1}}, "accepted", {"a": 1}),
        (qu.Form(fields={}), {"behavior": "allow", "updated_input": {"a": 1}}, "accepted", {"a": 1}),
        (qu.Form(fields={}), {"behavior": "deny"}, "declined", None),
        (qu.Link(url="u"), {"behavior": "allow"}, "accepted", None),
        (qu.ClientCall(call_id="c"), {"behavior": "allow", "content": "it rains"}, "accepted", "it rains"),
    ],
)
def test_forms_links_and_client_tools_are_accepted_or_declined(
    question: qu.Question, metadata: dict[str, Any], outcome: str, content: Any
) -> None:
    asked = ev.Asked(question_id="q1", question=question)
    answer = read_answer({"request_id": "q1", **metadata}, {"q1": asked}, "i")
    assert (answer.outcome, answer.content) == (outcome, content)
