"""Calls that the agent wants to be approved: one question each, in this process or in the next."""

from tests.agents.openai.sdk_agents import (
    agent_of,
    call,
    conversation,
    finish,
    named,
    paying,
    sent,
    started,
    statuses,
    stopped,
)
from tests.hubs import collect, events_of, only, session_for
from trunkline import events as ev
from trunkline.questions import Permission
from trunkline.workspace import Policy
from trunkline.workspace.rules import Rule


async def test_parallel_calls_are_asked_about_together_and_the_others_run_first() -> None:
    agent, model, payments = paying()
    async with session_for(agent) as session:
        await started(session)
        asked = await stopped(session, 2)
        assert statuses(await conversation(session)) == {"p1": "pending", "w1": "completed", "p2": "pending"}
        assert payments.paid == []
        shown = await finish(session, {one.question.call_id: "allow_once" for one in asked})
    assert payments.paid == [3, 4]
    assert set(statuses(shown).values()) == {"completed"}
    assert [kind for kind, _ in sent(model)] == [
        "user", "call p1", "call w1", "call p2", "output w1", "output p1", "output p2",
    ]  # fmt: skip


async def test_a_refused_call_is_denied_and_the_model_reads_why() -> None:
    agent, model, payments = paying([call("pay", "p1", amount=3)], "All right.")
    async with session_for(agent) as session:
        await started(session)
        (asked,) = await stopped(session, 1)
        assert isinstance(asked.question, Permission)
        shown = await finish(
            session, {asked.question.call_id: {"option_id": "reject_once", "reason": "too much"}}
        )
    assert payments.paid == []
    assert (named(shown)["p1"].status, named(shown)["p1"].reason) == ("denied", "too much")
    assert sent(model)[-1] == ("output p1", "too much")


async def test_always_is_kept_for_the_session_and_no_second_question_comes() -> None:
    agent, _, payments = paying([call("pay", "p1", amount=3)], "One.", [call("pay", "p2", amount=4)], "Two.")
    async with session_for(agent) as session:
        await started(session)
        (asked,) = await stopped(session, 1)
        await finish(session, {asked.question.call_id: "allow_always"})
        events = await collect(session, "Once more.")
    assert payments.paid == [3, 4]
    assert not only(events, ev.Asked)
    assert [one.by for one in only(events, ev.Decided)] == ["earlier answer"]


async def test_edited_arguments_are_those_that_the_tool_runs_with_and_the_card_shows() -> None:
    agent, _, payments = paying([call("pay", "p1", amount=300)], "Done.")
    async with session_for(agent) as session:
        await started(session)
        (asked,) = await stopped(session, 1)
        assert asked.question.allows_edit
        answer = {"option_id": "allow_once", "input": {"amount": 3}}
        shown = await finish(session, {asked.question.call_id: answer})
    assert payments.paid == [3]
    assert (named(shown)["p1"].input, named(shown)["p1"].status) == ({"amount": 3}, "completed")


async def test_a_call_with_a_rule_and_an_approval_is_asked_about_once() -> None:
    agent, _, payments = paying([call("pay", "p1", amount=3)], "Done.")
    policy = Policy(rules=(Rule(decision="ask", tool="pay"),))
    async with session_for(agent, policy=policy) as session:
        await started(session)
        (asked,) = await stopped(session, 1)
        await finish(session, {asked.question.call_id: "allow_once"})
        events = await events_of(session)
    assert payments.paid == [3]
    assert len(only(events, ev.Asked)) == 1


async def test_what_the_policy_denies_nobody_is_asked_about() -> None:
    agent, _, payments = paying([call("pay", "p1", amount=3)], "Done.")
    policy = Policy(rules=(Rule(decision="deny", tool="pay"),))
    async with session_for(agent, policy=policy) as session:
        events = await collect(session, "Pay.")
    assert payments.paid == []
    assert not only(events, ev.Asked)
    assert [(one.allowed, one.by) for one in only(events, ev.Decided)] == [(False, "policy")]


# -- live, by the operator's policy ------------------------------------------------------------------------


async def test_the_policy_asks_about_parallel_calls_while_the_run_goes_on() -> None:
    agent, model = agent_of([call("weather", "w1", city="Rome"), call("weather", "w2", city="Oslo")], "Done.")
    async with session_for(agent, policy=Policy.ask()) as session:
        await started(session)
        first, second = await stopped(session, 2)
        shown = await finish(
            session,
            {
                first.question.call_id: {"option_id": "allow_once", "input": {"city": "Bari"}},
                second.question.call_id: {"option_id": "reject_once", "reason": "not there"},
            },
        )
    assert statuses(shown) == {"w1": "completed", "w2": "denied"}
    assert sent(model)[-2:] == [("output w1", "It is sunny in Bari."), ("output w2", "not there")]


async def test_the_policy_can_allow_without_a_question() -> None:
    agent, _ = agent_of([call("weather", "w1", city="Rome")], "Done.")
    policy = Policy(rules=(Rule(decision="allow", tool="weather"),))
    async with session_for(agent, policy=policy) as session:
        events = await collect(session, "Go.")
    assert not only(events, ev.Asked)
    assert [(one.allowed, one.tool) for one in only(events, ev.Decided)] == [(True, "weather")]
