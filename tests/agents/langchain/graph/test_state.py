"""The shared state of a graph: every change is told, also one that is made in place or only in its type."""

from __future__ import annotations

from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState
from tests.agents.langchain.loose import StateGraph
from tests.worlds import collect, events_of, only, world

from trunkline import events as ev
from trunkline.agents.langchain.agent import LangChainAgent
from trunkline.commands import Prompt
from trunkline.folding import fold


class Box(MessagesState):
    """A state with a field of its own."""

    box: dict[str, Any]


def graph(work: Any, checkpointer: Any = None) -> Any:
    builder = StateGraph(Box)
    builder.add_node("work", work)
    builder.add_edge(START, "work")
    return builder.compile(checkpointer=checkpointer)


def count_in_place(state: Box) -> Any:
    state["box"]["n"] += 1
    return {"box": state["box"]}


@pytest.mark.parametrize("durable", [False, True])
async def test_a_node_that_changes_the_clients_state_in_place_tells_the_change(durable: bool) -> None:
    agent = LangChainAgent(graph(count_in_place, InMemorySaver() if durable else None))
    async with world(agent) as hub:
        session = await hub.create()
        state: dict[str, Any] = {"box": {"n": 0}}
        for number in (1, 2, 3):
            sent = {"box": dict(state["box"])}
            events = await collect(session, Prompt.of("go", state=sent))
            assert sent == {"box": {"n": number - 1}}, "what the client sent stays as it was sent"
            told = fold(await events_of(session)).state
            assert told == {"box": {"n": number}}
            assert only(events, ev.StatePatched)
            state = told


@pytest.mark.parametrize(("before", "after"), [(1, True), (0, False), (1, 1.0), (True, 1)])
async def test_a_value_that_changes_only_its_type_is_told(before: Any, after: Any) -> None:
    def work(state: Box) -> Any:
        return {"box": {"n": after}}

    async with world(LangChainAgent(graph(work))) as hub:
        events = await collect(await hub.create(), Prompt.of("go", state={"box": {"n": before}}))
    (patched,) = only(events, ev.StatePatched)
    assert [(type(step["value"]), step["value"]) for step in patched.patch] == [(type(after), after)]


async def test_a_number_that_a_javascript_client_sends_back_is_no_change() -> None:
    def work(state: Box) -> Any:
        return {"box": {"n": 1.0}}

    async with world(LangChainAgent(graph(work, InMemorySaver()))) as hub:
        session = await hub.create()
        await collect(session, Prompt.of("go", state={"box": {"n": 0.5}}))
        events = await collect(session, Prompt.of("go", state={"box": {"n": 1}}))
    assert not only(events, ev.StateReplaced) + only(events, ev.StatePatched)
