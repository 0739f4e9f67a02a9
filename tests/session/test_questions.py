"""The questions: answers are checked against their questions, and the first one wins."""

import asyncio
import math
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.hubs import soon

from trunkline import events as ev
from trunkline.commands import Answer
from trunkline.errors import AlreadyAnswered, InvalidCommand, TrunklineError
from trunkline.questions import ClientCall, Form, Link, Option, Permission, Question, default_options
from trunkline.session.questions import OpenQuestions, check_answer, expiring, seconds_left


def asked(question: Question, question_id: str = "q") -> ev.Asked:
    return ev.Asked(turn_id="t", question_id=question_id, question=question)


PERMISSION = Permission(call_id="c", options=default_options(), allows_edit=True)
FORM = Form(
    fields={
        "type": "object",
        "properties": {
            "name": {"type": "string"},
            "age": {"type": "integer"},
            "size": {"type": "number"},
            "sure": {"type": "boolean"},
            "color": {"type": "string", "enum": ["red", "blue"]},
            "free": {},
        },
        "required": ["name"],
    }
)

GOOD: list[tuple[Question, Answer, dict[str, Any]]] = [
    (PERMISSION, Answer(question_id="q", option_id="allow_once"), {"option_kind": "allow_once"}),
    (PERMISSION, Answer(question_id="q", option_id="allow_once", input={"a": 1}), {"input": {"a": 1}}),
    (PERMISSION, Answer(question_id="q", outcome="declined"), {"outcome": "declined", "option_id": None}),
    (PERMISSION, Answer(question_id="q", outcome="cancelled"), {"outcome": "cancelled"}),
    (FORM, Answer(question_id="q", outcome="declined"), {"outcome": "declined"}),
    (
        FORM,
        Answer(question_id="q", outcome="accepted", content={"name": "x", "size": 1, "free": [1]}),
        {"content": {"name": "x", "size": 1, "free": [1]}},
    ),
    (Link(url="https://example.org"), Answer(question_id="q", outcome="accepted"), {"outcome": "accepted"}),
    (ClientCall(call_id="c"), Answer(question_id="q", outcome="accepted", content=[1]), {"content": [1]}),
]
BAD: list[tuple[Question, Answer, str]] = [
    (PERMISSION, Answer(question_id="q", option_id="nope"), "choose one of allow_once"),
    (PERMISSION, Answer(question_id="q"), "selecting one of its options"),
    (PERMISSION, Answer(question_id="q", option_id="allow_once", input=[1]), "are an object"),
    (PERMISSION, Answer(question_id="q", outcome="accepted", option_id="allow_once"), "selecting one"),
    (
        Permission(call_id="c", options=default_options()),
        Answer(question_id="q", option_id="allow_once", input={}),
        "does not allow its arguments",
    ),
    (FORM, Answer(question_id="q", option_id="x"), "a Form has no options"),
    (FORM, Answer(question_id="q", outcome="accepted", content=[1]), "fields as an object"),
    (FORM, Answer(question_id="q", outcome="accepted", content={}), "'name' is missing"),
    (FORM, Answer(question_id="q", outcome="accepted", content={"name": 1}), "must be of type string"),
    (FORM, Answer(question_id="q", outcome="accepted", content={"name": "x", "age": True}), "integer"),
    (FORM, Answer(question_id="q", outcome="accepted", content={"name": "x", "zip": 1}), "no field 'zip'"),
    (FORM, Answer(question_id="q", outcome="accepted", content={"name": "x", "color": "green"}), "one of"),
    (Link(url="https://example.org"), Answer(question_id="q"), "a Link has no options"),
]


@pytest.mark.parametrize(("question", "answer", "expected"), GOOD)
def test_an_answer_that_fits_becomes_an_event(
    question: Question, answer: Answer, expected: dict[str, Any]
) -> None:
    answered = check_answer(asked(question), answer)
    assert {name: getattr(answered, name) for name in expected} == expected
    assert (answered.question_id, answered.turn_id) == ("q", "t")


@pytest.mark.parametrize(("question", "answer", "why"), BAD)
def test_an_answer_that_does_not_fit_is_refused_with_what_would(
    question: Question, answer: Answer, why: str
) -> None:
    with pytest.raises(InvalidCommand, match=why):
        check_answer(asked(question), answer)


@given(st.lists(st.tuples(st.integers(0, 2), st.booleans(), st.sampled_from("abc")), max_size=12))
def test_the_first_answer_wins_under_any_interleaving(moves: list[tuple[int, bool, str]]) -> None:
    async def play() -> None:
        emitted: list[Any] = []
        questions = OpenQuestions(emitted.append)
        futures = [questions.ask(asked(PERMISSION, f"q{i}"), expires_in=60) for i in range(3)]
        first: dict[int, tuple[bool, str]] = {}
        for number, yes, who in moves:
            answer = Answer(
                question_id=f"q{number}", option_id="allow_once" if yes else "reject_once", by=who
            )
            if number in first:
                with pytest.raises(AlreadyAnswered) as late:
                    questions.answer([answer])
                assert late.value.by == first[number][1]
            else:
                questions.answer([answer])
                first[number] = (yes, who)
        for number, (yes, who) in first.items():
            answered = await futures[number]
            assert (answered.option_kind == "allow_once", answered.by) == (yes, who)
        answers = [event for event in emitted if isinstance(event, ev.Answered)]
        assert len({event.question_id for event in answers}) == len(answers) == len(first)
        assert set(questions.open) == {f"q{i}" for i in range(3) if i not in first}
        questions.discard_all()
        assert not questions.open

    asyncio.run(play())


async def test_an_expired_permission_without_a_reject_option_is_expired() -> None:
    emitted: list[Any] = []
    questions = OpenQuestions(emitted.append)
    only_allow = Permission(call_id="c", options=(Option(option_id="y", name="Yes", kind="allow_once"),))
    answered = await soon(questions.ask(asked(only_allow), expires_in=0))
    assert (answered.outcome, answered.option_id, answered.by) == ("expired", None, "trunkline")
    with pytest.raises(AlreadyAnswered, match="already answered by trunkline"):
        questions.answer([Answer(question_id="q", option_id="y")])


async def test_all_answers_are_taken_or_none() -> None:
    questions = OpenQuestions(lambda event: None)
    questions.ask(asked(PERMISSION, "q1"), expires_in=60)
    questions.ask(asked(FORM, "q2"), expires_in=60)
    with pytest.raises(TrunklineError):
        questions.answer([Answer(question_id="q1", option_id="allow_once"), Answer(question_id="q2")])
    with pytest.raises(InvalidCommand, match="no open question 'q9'"):
        questions.answer([Answer(question_id="q1", option_id="allow_once"), Answer(question_id="q9")])
    assert set(questions.open) == {"q1", "q2"}
    questions.discard_all()


def test_a_question_of_an_earlier_process_keeps_its_own_deadline() -> None:
    assert seconds_left(ev.Asked(question_id="q", question=PERMISSION, expires_at=1.0), 60) == 0
    assert seconds_left(asked(PERMISSION), 60) == 60


@pytest.mark.parametrize("endless", [math.inf, math.nan])
async def test_a_question_without_end_has_a_time_that_every_wire_can_tell(endless: float) -> None:
    told: list[ev.Event] = []
    questions = OpenQuestions(told.append)
    questions.ask(asked(PERMISSION), expires_in=endless)
    questions.reopen(expiring(asked(PERMISSION, "q2"), endless), expires_in=endless)
    [event] = told
    assert isinstance(event, ev.Asked)
    for one in (event, questions.open["q2"]):
        assert int((one.expires_at or 0) * 1000) > time.time() * 1000
    questions.discard_all()
