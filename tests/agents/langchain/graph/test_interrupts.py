from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain.agents.middleware import human_in_the_loop
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langgraph.types import Interrupt
from pydantic import TypeAdapter

from trunkline.agents.langchain.graph.free_form_interrupts import DECLINED
from trunkline.agents.langchain.graph.interrupts import (
    OpenCalls,
    Pending,
    pending_questions,
    read_answer,
    resume_value,
)
from trunkline.commands import Answer
from trunkline.errors import AgentError
from trunkline.events import Answered, Asked
from trunkline.questions import Form, Permission
from trunkline.session.questions import check_answer

ALL = ("approve", "edit", "reject", "respond")


def made(name: str, args: dict[str, Any], id: str) -> dict[str, Any]:
    return {"name": name, "args": args, "id": id, "type": "tool_call"}


def calls_of(*calls: dict[str, Any], lane: str | None = None) -> OpenCalls:
    found = OpenCalls()
    found.see(lane, HumanMessage("do it"))
    tool_calls: Any = list(calls)
    found.see(lane, AIMessage(content="", tool_calls=tool_calls))
    return found


def batch(*actions: tuple[str, dict[str, Any]], id: str = "i1", **allowed: tuple[str, ...]) -> Interrupt[Any]:
    value = {
        "action_requests": [
            {"name": name, "args": args, "description": f"May {name}?"} for name, args in actions
        ],
        "review_configs": [
            {"action_name": name, "allowed_decisions": list(allowed.get(name, ALL))} for name, _ in actions
        ],
    }
    return Interrupt(value=value, id=id)


def approval(*allowed: str, call_id: str = "c1", id: str = "i1") -> Interrupt[Any]:
    """An interrupt as the middleware makes it: its schema comes from LangChain itself."""
    make_schema: Any = vars(human_in_the_loop)["_decision_schema"]
    value = {
        "type": "tool_approval",
        "tool_call_id": call_id,
        "name": "rm",
        "args": {"p": 1},
        "description": "",
    }
    return Interrupt(
        value=value, id=id, response_schema=TypeAdapter(make_schema(allowed, "rm")).json_schema()
    )


def ask(interrupt: Interrupt[Any], calls: OpenCalls | None = None) -> Pending:
    (item,) = pending_questions([interrupt], calls or calls_of(made("rm", {"p": 1}, "c1")))
    return item


def answer(item: Pending, option: str | None = None, **fields: Any) -> Answered:
    if option is not None:
        fields["option_id"] = option
    asked = Asked(question_id="q", question=item.question)
    return check_answer(asked, Answer(question_id="q", **fields))


def call_id_of(item: Pending) -> str:
    assert isinstance(item.question, Permission)
    return item.question.call_id


def decided(item: Pending, option: str | None = None, **fields: Any) -> Any:
    return resume_value([item], {item.key: answer(item, option, **fields)})["i1"]


# -- which call is meant -----------------------------------------------------------------------------


def test_an_action_with_changed_arguments_takes_no_other_actions_call() -> None:
    calls = calls_of(made("rm", {"p": 1}, "a"), made("rm", {"p": 2}, "b"))
    items = pending_questions([batch(("rm", {"p": 9}), ("rm", {"p": 1}))], calls)
    assert [item.native_id for item in items] == ["b", "a"]


def test_a_call_that_was_answered_is_not_asked_about() -> None:
    calls = calls_of(made("rm", {"p": 1}, "a"), made("rm", {"p": 1}, "b"))
    calls.see(None, ToolMessage("done", tool_call_id="a"))
    assert ask(batch(("rm", {"p": 1})), calls).native_id == "b"


def test_an_action_that_no_call_explains_still_gets_a_call_to_show() -> None:
    shown: list[Any] = []

    def describe(lane: str | None, call: Any) -> str:
        shown.append((lane, call))
        return f"shown:{call['id']}"

    (item,) = pending_questions([batch(("rm", {"p": 1}))], OpenCalls(), describe)
    assert call_id_of(item) == "shown:i1#0"
    assert shown == [(None, {"id": "i1#0", "name": "rm", "args": {"p": 1}})]


@given(st.lists(st.tuples(st.sampled_from(["rm", "mv"]), st.integers(0, 2), st.booleans()), max_size=6))
def test_gated_calls_are_found_whatever_is_gated(plan: list[tuple[str, int, bool]]) -> None:
    # What a predicate (``when``) lets through depends on a call's name and arguments alone.
    gates = {(name, n): gated for name, n, gated in plan}
    calls = [made(name, {"p": n}, f"c{place}") for place, (name, n, _) in enumerate(plan)]
    gated = [call for call in calls if gates[call["name"], call["args"]["p"]]]
    if not gated:
        return
    interrupt = batch(*((call["name"], call["args"]) for call in gated))
    items = pending_questions([interrupt], calls_of(*calls))
    assert [item.native_id for item in items] == [call["id"] for call in gated]


@given(st.permutations(range(4)), st.integers(0, 2))
def test_an_edited_order_finds_the_same_calls(order: list[int], same: int) -> None:
    calls = [made("rm", {"p": place % (same + 1)}, f"c{place}") for place in range(4)]
    items = pending_questions([batch(*(("rm", calls[n]["args"]) for n in order))], calls_of(*calls))
    found = [item.native_id for item in items]
    assert sorted(str(native) for native in found) == ["c0", "c1", "c2", "c3"]
    args = {call["id"]: call["args"] for call in calls}
    assert [args[str(native)] for native in found] == [calls[n]["args"] for n in order]


# -- what may be decided -----------------------------------------------------------------------------


@pytest.mark.parametrize("shape", ["batched", "per_call"])
@pytest.mark.parametrize(
    ("allowed", "options", "edits"),
    [
        (("approve", "reject"), ["approve", "reject"], False),
        (("approve", "edit", "reject"), ["approve", "reject"], True),
        (ALL, ["approve", "reject", "respond"], True),
        (("edit",), ["edit"], True),
        (("edit", "reject"), ["edit", "reject"], True),
        (("reject", "respond"), ["reject", "respond"], False),
        (("approve",), ["approve"], False),
        (("approve", "approve", "edit"), ["approve"], True),
    ],
)
def test_only_the_allowed_decisions_are_offered(
    shape: str, allowed: tuple[str, ...], options: list[str], edits: bool
) -> None:
    item = ask(batch(("rm", {"p": 1}), rm=allowed) if shape == "batched" else approval(*allowed))
    assert isinstance(item.question, Permission)
    assert [option.option_id for option in item.question.options] == options
    assert item.question.allows_edit is edits
    assert item.question.call_id == "c1"


def test_a_reviewer_that_says_nothing_of_decisions_can_be_approved_or_rejected() -> None:
    value = {"action_requests": [{"name": "rm"}]}
    item = ask(Interrupt(value=value, id="i1"))
    assert item.decisions == ("approve", "reject")
    assert item.question.message == "Run rm?"
    bare: dict[str, Any] = {"type": "tool_approval", "tool_call_id": "c1", "name": "rm", "args": {}}
    assert ask(Interrupt(value=bare, id="i1")).decisions == ("approve", "reject")
    named: dict[str, Any] = {**bare, "allowed_decisions": ["respond", "reject"]}
    assert ask(Interrupt(value=named, id="i1")).decisions == ("respond", "reject")


@pytest.mark.parametrize(
    "value",
    [
        {"action_requests": []},
        {"action_requests": [1]},
        {"action_requests": [{"name": "rm"}], "review_configs": 5},
        {"type": "tool_approval", "tool_call_id": "c1", "allowed_decisions": 5},
        {"type": "trunkline.question"},
    ],
)
def test_a_value_that_only_looks_like_a_known_one_is_a_free_question(value: dict[str, Any]) -> None:
    item = ask(Interrupt(value=value, id="i1"))
    assert isinstance(item.question, Form)
    assert resume_value([item], {}) == {"i1": DECLINED}


@pytest.mark.parametrize("outcome", ["accepted", "declined", "cancelled", "expired"])
def test_an_option_counts_only_where_it_was_selected(outcome: str) -> None:
    answered = read_answer({"outcome": outcome, "option_kind": "allow_once"}, "q1")
    assert answered is not None
    assert answered.option_kind is None


@pytest.mark.parametrize("shape", ["batched", "per_call"])
def test_every_decision_is_said_as_the_middleware_wants_it(shape: str) -> None:
    item = ask(batch(("rm", {"p": 1})) if shape == "batched" else approval(*ALL))

    def decide(option: str | None, **fields: Any) -> Any:
        value = decided(item, option, **fields)
        return value["decisions"][0] if shape == "batched" else value

    assert decide("approve") == {"type": "approve"}
    assert decide("approve", input={"p": 1}) == {"type": "approve"}
    edited = {"type": "edit", "edited_action": {"name": "rm", "args": {"p": 2}}}
    assert decide("approve", input={"p": 2}) == edited
    assert decide("reject") == {"type": "reject"}
    assert decide("reject", reason="not that one") == {"type": "reject", "message": "not that one"}
    assert decide("respond", reason="gone already") == {"type": "respond", "message": "gone already"}
    assert decide("respond") == {"type": "respond", "message": DECLINED}
    assert decide(None, outcome="declined", reason="no") == {"type": "reject", "message": "no"}
    assert decide(None, outcome="expired") == {"type": "reject"}


def test_a_batch_is_decided_by_position_and_an_interrupt_by_its_id() -> None:
    calls = calls_of(made("rm", {"p": 1}, "a"), made("rm", {"p": 2}, "b"), made("rm", {"p": 1}, "c1"))
    both = batch(("rm", {"p": 1}), ("rm", {"p": 2}))
    items = pending_questions([both, approval(*ALL, id="i2"), Interrupt(value="Why?", id="i3")], calls)
    answers = {
        items[1].key: answer(items[1], "approve"),
        items[2].key: answer(items[2], "approve"),
        items[3].key: answer(items[3], outcome="accepted", content={"answer": "because"}),
    }
    assert resume_value(items, answers) == {
        "i1": {"decisions": [{"type": "reject"}, {"type": "approve"}]},
        "i2": {"type": "approve"},
        "i3": "because",
    }


def test_an_edit_that_must_be_one_is_one_even_without_a_change() -> None:
    item = ask(approval("edit", "reject"))
    assert decided(item, "edit") == {"type": "edit", "edited_action": {"name": "rm", "args": {"p": 1}}}


def test_a_tool_that_only_asks_the_user_is_a_form() -> None:
    item = ask(approval("respond"))
    assert isinstance(item.question, Form)
    assert item.question.call_id == "c1"
    assert decided(item, outcome="accepted", content={"answer": "blue"}) == {
        "type": "respond",
        "message": "blue",
    }
    assert decided(item, outcome="declined") == {"type": "respond", "message": DECLINED}


def test_a_refusal_where_none_is_allowed_is_said_in_words_or_ends_the_turn() -> None:
    assert decided(ask(approval("approve", "respond")), outcome="declined") == {
        "type": "respond",
        "message": "The user refused this call.",
    }
    with pytest.raises(AgentError, match="allow the decision 'reject'"):
        decided(ask(approval("approve")), outcome="declined")


@given(st.sets(st.sampled_from(ALL), min_size=1), st.data(), st.booleans())
def test_what_is_decided_is_always_allowed(allowed: set[str], data: st.DataObject, batched: bool) -> None:
    words = tuple(sorted(allowed))
    item = ask(batch(("rm", {"p": 1}), rm=words) if batched else approval(*words))
    given: dict[str, Any] = {"outcome": data.draw(st.sampled_from(["declined", "accepted"]))}
    if given["outcome"] == "accepted":
        given["content"] = {"answer": "x"}
    if isinstance(item.question, Permission):
        options = [option.option_id for option in item.question.options]
        given = {"outcome": "selected", "option_id": data.draw(st.sampled_from(options))}
        if item.question.allows_edit:
            given["input"] = data.draw(st.sampled_from([None, {"p": 1}, {"p": 2}]))
    decision = decided(item, **given)
    decision = decision["decisions"][0] if batched else decision
    assert decision["type"] in allowed
    make_schema: Any = vars(human_in_the_loop)["_decision_schema"]
    TypeAdapter(make_schema(words, "rm")).validate_python(decision)
