"""Graphs that were compiled to stop somewhere ask whether to go on."""

from typing import Any

import pytest
from langchain_core.messages import AIMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState

from tests.agents.langchain.graphs import agent_of, calls_of, terminal
from tests.agents.langchain.untyped_langchain import StateGraph
from tests.hubs import collect, hub_for, only, session_for, text_of
from trunkline import adapt
from trunkline import events as ev
from trunkline.commands import Answer
from trunkline.questions import Form, Permission
from trunkline.session.session import Session
from trunkline.testing.chat import call


async def answered(session: Session, prompt: str, *answers: dict[str, Any]) -> list[Any]:
    """A turn whose questions are answered with these, in order."""
    left = iter(answers)

    async def answer(asked: ev.Asked) -> None:
        await session.answer(Answer(question_id=asked.question_id, **next(left)))

    return await collect(session, prompt, {ev.Asked: answer})


@pytest.mark.parametrize("saver", [None, InMemorySaver()])
async def test_each_call_that_a_graph_stops_before_is_asked_about_and_runs(saver: Any) -> None:
    calls = [call("weather", {"city": "Rome"}, "w1"), call("weather", {"city": "Oslo"}, "w2")]
    agent, _ = agent_of(calls, "Sunny.", checkpointer=saver, interrupt_before=["tools"])
    async with hub_for(agent) as hub:
        events = await answered(await hub.create(), "go", {"option_id": "approve"}, {"option_id": "approve"})
    asked = [event.question for event in only(events, ev.Asked)]
    assert [question.call_id for question in asked if isinstance(question, Permission)] == ["w1", "w2"]
    assert [made.status for made in calls_of(events).values()] == ["completed", "completed"]
    assert text_of(events) == "Sunny."


async def test_a_call_that_is_refused_at_a_breakpoint_ends_the_turn_and_the_next_one_goes_on() -> None:
    saver = InMemorySaver()
    agent, _ = agent_of(
        [call("weather", {"city": "Rome"}, "w1")], "Well.", checkpointer=saver, interrupt_before=["tools"]
    )
    async with session_for(agent) as session:
        events = await answered(session, "go", {"option_id": "reject"})
        assert isinstance(terminal(events), ev.TurnFinished)
        assert calls_of(events)["w1"].status == "denied"
        assert text_of(await answered(session, "and now?")) == "Well."


@pytest.mark.parametrize(("goes_on", "words"), [(True, "One. Two."), (False, "One. ")])
async def test_a_graph_that_stops_between_two_nodes_goes_on_when_it_may(goes_on: bool, words: str) -> None:
    def one(state: MessagesState) -> dict[str, Any]:
        return {"messages": [AIMessage("One. ")]}

    def two(state: MessagesState) -> dict[str, Any]:
        return {"messages": [AIMessage("Two.")]}

    builder = StateGraph(MessagesState).add_sequence([one, two])
    builder.add_edge(START, "one")
    graph = builder.compile(checkpointer=InMemorySaver(), interrupt_after=["one"])
    async with hub_for(adapt(graph)) as hub:
        given = {"outcome": "accepted", "content": {"answer": goes_on}}
        events = await answered(await hub.create(), "go", given)
    (asked,) = only(events, ev.Asked)
    assert isinstance(asked.question, Form)
    assert asked.question.message == "The agent stopped before two. Shall it go on?"
    assert text_of(events) == words
