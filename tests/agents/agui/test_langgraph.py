from typing import Any

from trunkline import events as ev
from trunkline.agents.agui.langgraph import arguments_in, interrupt_of, without_messages
from trunkline.agents.agui.questions import AnsweredQuestion, open_questions, resume_fields
from trunkline.agents.agui.run_end import RunEnd
from trunkline.questions import Permission

CALLS: dict[str, dict[str, Any]] = {
    "c1": {"name": "sell", "arguments": '{"what": "shoes"}', "lane": None},
    "c2": {"name": "sell", "arguments": '{"what": "hats"}', "lane": "s1"},
}


def answered(**fields: Any) -> ev.Answered:
    given: dict[str, Any] = {"question_id": "q1", "outcome": "selected", **fields}
    return ev.Answered(**given)


APPROVED = answered(option_id="approve", option_kind="allow_once")


def langgraph(key: str, raw: Any) -> dict[str, Any]:
    message = raw if isinstance(raw, str) else None
    return {"id": key, "reason": "x", "message": message, "metadata": {"langgraph": {"raw": raw}}}


def review(*actions: tuple[str, Any], allowed: tuple[str, ...] = ("approve", "edit", "reject")) -> Any:
    return {
        "action_requests": [{"name": name, "args": args, "description": "May I?"} for name, args in actions],
        "review_configs": [{"action_name": name, "allowed_decisions": list(allowed)} for name, _ in actions],
    }


def test_one_interrupt_goes_back_by_its_id_and_several_of_langgraph_by_its_command() -> None:
    one, two = langgraph("i1", "Why?"), langgraph("i2", "How?")
    (alone,) = open_questions(RunEnd(interrupts=(one,)), {}, [])
    assert alone.key == "i1"
    both = open_questions(RunEnd(interrupts=(one, two)), {}, [])
    given = answered(outcome="accepted", content={"answer": "so"})
    replies = [
        AnsweredQuestion(both[0].key, both[0].question, given),
        AnsweredQuestion(*both[1][:2], answered(outcome="declined")),
    ]
    cancelled = {"__agui_cancelled__": True, "interrupt_id": "i2"}
    assert resume_fields(replies, {}) == {"command": {"resume": {"i1": "so", "i2": cancelled}}}


def test_an_interrupt_told_without_an_id_is_answered_without_one() -> None:
    (wait,) = open_questions(RunEnd(interrupts=(langgraph("", "Why?"),), as_custom=True), {}, [])
    given = answered(outcome="accepted", content={"answer": "so"})
    assert resume_fields([AnsweredQuestion(wait.key, wait.question, given)], {}) == {
        "command": {"resume": "so"}
    }


def test_the_reviews_of_one_interrupt_are_a_permission_each_and_go_back_together() -> None:
    raw = review(("sell", {"what": "hats"}), ("sell", {"what": "socks"}), ("burn", {}))
    waits = open_questions(RunEnd(interrupts=(langgraph("i1", raw),)), CALLS, [])
    asked = [wait.question for wait in waits if isinstance(wait.question, Permission)]
    assert [question.call_id for question in asked] == ["c2", "c1", "burn"]
    assert {question.allows_edit for question in asked} == {True}
    answers = (
        APPROVED,
        answered(option_id="approve", option_kind="allow_once", input={"what": "ties"}),
        answered(option_id="reject", option_kind="reject_once", reason="no"),
    )
    replies = [
        AnsweredQuestion(wait.key, wait.question, answer) for wait, answer in zip(waits, answers, strict=True)
    ]
    decisions = [
        {"type": "approve"},
        {"type": "edit", "edited_action": {"name": "sell", "args": {"what": "ties"}}},
        {"type": "reject", "message": "no"},
    ]
    assert resume_fields(replies, CALLS) == {
        "resume": [{"interruptId": "i1", "status": "resolved", "payload": {"decisions": decisions}}]
    }


def test_a_review_offers_what_its_tool_allows() -> None:
    raw = review(("sell", {}), allowed=("approve",))
    (wait,) = open_questions(RunEnd(interrupts=(langgraph("i1", raw),), as_custom=True), CALLS, [])
    assert isinstance(wait.question, Permission)
    assert [option.kind for option in wait.question.options] == ["allow_once"]
    assert not wait.question.allows_edit
    assert resume_fields([AnsweredQuestion(wait.key, wait.question, APPROVED)], CALLS) == {
        "command": {"resume": {"i1": {"decisions": [{"type": "approve"}]}}}
    }


def test_the_messages_of_a_state_are_left_out_and_give_the_arguments_of_their_calls() -> None:
    messages = [{"type": "human"}, {"type": "ai", "tool_calls": [{"id": "c1", "args": {"what": "hats"}}]}]
    state = {"messages": messages, "n": 1}
    assert without_messages(state) == {"n": 1}
    assert list(arguments_in(state)) == [("c1", {"what": "hats"})]


def test_a_state_whose_messages_are_none_of_langchain_stays_whole() -> None:
    for state in ({"messages": [{"type": "letter"}]}, {"messages": "hi"}, {"n": 1}, None):
        assert without_messages(state) is state
        assert list(arguments_in(state)) == []


def test_a_custom_event_is_an_interrupt_with_what_it_holds() -> None:
    event = {"value": '{"message": "Why?", "tool_call_id": "c1"}', "rawEvent": {"id": "i1"}}
    interrupt = interrupt_of(event)
    assert (interrupt["id"], interrupt["message"], interrupt["toolCallId"]) == ("i1", "Why?", "c1")
    assert interrupt_of({"value": "Why?"})["message"] == "Why?"
