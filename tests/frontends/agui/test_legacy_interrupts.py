"""Interrupts as an event and a command: which question an answer without an id is for."""

from typing import Any

import pytest

from trunkline import events as ev
from trunkline.errors import InvalidCommand
from trunkline.frontends.agui.legacy_interrupts import has_answer, interrupt_events, with_resume
from trunkline.protocols.agui.wire import Custom, RunAgentInput
from trunkline.questions import ClientCall, Form, Permission, Question


def asked(**questions: Question) -> dict[str, ev.Asked]:
    return {key: ev.Asked(question_id=key, question=one) for key, one in questions.items()}


def form(value: Any) -> Form:
    return Form(fields={}, value=value, single_answer=True)


def request(resume: Any, **command: Any) -> RunAgentInput:
    props = {"command": {"resume": resume, **command}}
    return RunAgentInput(thread_id="t", run_id="r", messages=[], forwarded_props=props)


def entries(made: RunAgentInput) -> list[tuple[str, Any]]:
    return [(entry.interrupt_id, entry.payload) for entry in made.resume or ()]


TOOL = ClientCall(call_id="c1")


@pytest.mark.parametrize(
    ("resume", "payload"),
    [("red", "red"), ('{"a": 1}', {"a": 1}), ({"a": 1}, {"a": 1}), (False, False), (["x"], ["x"]), ("1", 1)],
)
def test_the_answer_is_for_the_one_question_that_is_open(resume: Any, payload: Any) -> None:
    made = with_resume(request(resume), asked(q=form("?"), tool=TOOL))
    assert has_answer(request(resume))
    assert entries(made) == [("q", payload)]


@pytest.mark.parametrize("props", [None, {}, [], {"command": None}, {"command": {"resume": None}}])
def test_without_an_answer_a_request_stays_as_it_is(props: Any) -> None:
    given = RunAgentInput(thread_id="t", run_id="r", messages=[], forwarded_props=props)
    assert not has_answer(given)
    assert with_resume(given, asked(q=form("?"))) is given


def test_an_answer_to_several_questions_is_refused() -> None:
    with pytest.raises(InvalidCommand, match="which of a, b it answers: send `resume`"):
        with_resume(request("x"), asked(a=form("?"), b=Permission(call_id="c")))


@pytest.mark.parametrize(
    ("event", "found"), [({"n": 2}, "new"), ('{"n":2}', "new"), ({"n": 1}, "old"), (None, "new")]
)
def test_the_value_of_the_event_says_which_question_was_meant(event: Any, found: str) -> None:
    made = with_resume(request("x", interruptEvent=event), asked(new=form({"n": 2})), ["older", "old", "new"])
    assert entries(made) == [(found, "x")]


def test_the_event_has_the_value_as_json_text_and_a_text_as_it_is() -> None:
    questions = asked(a=form({"n": 1}), b=form("Which?"), c=Permission(call_id="c"), d=Form(fields={}))
    events = interrupt_events(questions.values(), 5)
    assert [(event.name, event.value) for event in events if isinstance(event, Custom)] == [
        ("on_interrupt", '{"n":1}'),
        ("on_interrupt", "Which?"),
    ]
