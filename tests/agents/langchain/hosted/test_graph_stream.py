"""The state, the plan and the custom events of an agent that the caller built, however it is called."""

from operator import itemgetter
from typing import Any

import pytest
from langchain.agents.middleware import TodoListMiddleware
from langchain_core.tools import tool
from langgraph.config import get_store, get_stream_writer
from langgraph.graph import START, MessagesState
from langgraph.prebuilt import ToolRuntime
from langgraph.store.memory import InMemoryStore
from tests.agents.langchain.agui_client import WAYS, Page, Way, ainvoke
from tests.agents.langchain.recorded_updates import PROMPT, on_thread, states
from tests.agents.langchain.untyped_langchain import StateGraph, create_agent
from tests.hubs import soon

from trunkline.agents.langchain.hosted.acp import acp_agent
from trunkline.agents.langchain.hosted.agui import agui_agent, agui_system
from trunkline.testing.chat import ScriptedChatModel, call
from trunkline.testing.recording import RecordingTransport


class Counting(MessagesState):
    """A state with a field of its own."""

    count: int
    plan: list[str]


def counting(*, writes: Any = None, store: Any = None) -> Any:
    """A graph of two nodes that count, and that a caller built."""

    def count(state: Any) -> Any:
        if writes is not None:
            get_stream_writer()(writes)
        return {"count": state.get("count", 0) + 1, "plan": ["Count"]}

    builder = StateGraph(Counting)
    builder.add_node("one", count)
    builder.add_node("two", count)
    builder.add_edge(START, "one")
    builder.add_edge("one", "two")
    return builder.compile(store=store)


def values(page: Page, kind: str) -> list[Any]:
    """What the events of a kind brought."""
    fields = {"STATE_SNAPSHOT": "snapshot", "STATE_DELTA": "delta", "CUSTOM": "value"}
    return [event[fields[kind]] for event in page.events if event["type"] == kind]


@WAYS
async def test_the_state_and_the_plan_of_a_built_agent_are_shown(run: Way, page: Page) -> None:
    await run(agui_agent(counting(), transport=page), PROMPT, on_thread("t1"))
    assert values(page, "STATE_SNAPSHOT") == [{"count": 1, "plan": ["Count"]}]
    assert values(page, "STATE_DELTA") == [[{"op": "replace", "path": "/count", "value": 2}]]
    plans = [event["value"]["entries"] for event in page.events if event.get("name") == "trunkline.plan"]
    assert [[entry["content"] for entry in plan] for plan in plans] == [["Count"]]


async def test_the_todos_of_a_built_agent_are_its_plan() -> None:
    client = RecordingTransport()
    todos = [{"content": "Mix", "status": "in_progress"}]
    model = ScriptedChatModel(call("write_todos", {"todos": todos}), "Done.")
    agent = acp_agent(create_agent(model, [], middleware=[TodoListMiddleware()]), transport=client)
    await soon(agent.ainvoke(PROMPT, on_thread("s1")))
    plans = [update["entries"] for update in client.updates if update["sessionUpdate"] == "plan"]
    assert [[entry["content"] for entry in plan] for plan in plans] == [["Mix"]]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"emit_state_snapshots": "none"}, []),
        ({"emit_state_snapshots": "final", "state_mapper": itemgetter("count")}, [2]),
        ({"emit_state_snapshots": "all", "state_mapper": itemgetter("count")}, [1, 2]),
    ],
)
async def test_the_options_of_the_state_count_for_a_built_agent(options: Any, expected: list[Any]) -> None:
    client = RecordingTransport()
    await soon(acp_agent(counting(), transport=client, **options).ainvoke(PROMPT, on_thread("s1")))
    assert states(client) == expected


# -- get_stream_writer() -----------------------------------------------------------------------------


@tool
def report(runtime: ToolRuntime[Any, Any]) -> str:
    """Write a report, in both ways that LangGraph has."""
    get_stream_writer()({"done": 1})
    runtime.stream_writer({"done": 2})
    return "reported"


SCRIPT = (call("report"), "Done.")


@WAYS
async def test_what_a_tool_writes_is_a_custom_event(run: Way, page: Page) -> None:
    await run(agui_agent(ScriptedChatModel(*SCRIPT), [report], transport=page), PROMPT)
    assert values(page, "CUSTOM") == [{"done": 1}, {"done": 2}]


@WAYS
async def test_what_a_node_of_a_built_agent_writes_is_a_custom_event(run: Way, page: Page) -> None:
    await run(agui_agent(counting(writes={"half": True}), transport=page, emit_activities=True), PROMPT)
    assert values(page, "CUSTOM") == [{"half": True}] * 2


async def test_what_a_tool_writes_reaches_the_client_of_middlewares_and_the_caller(page: Page) -> None:
    middleware, callbacks = agui_system(page)
    agent = create_agent(ScriptedChatModel(*SCRIPT, each_turn=True), [report], middleware=middleware)
    await soon(agent.ainvoke(PROMPT, {"callbacks": callbacks}))
    assert values(page, "CUSTOM") == [{"done": 1}, {"done": 2}]
    stream = agent.astream(PROMPT, {"callbacks": callbacks}, stream_mode="custom")
    assert [item async for item in stream] == [{"done": 1}, {"done": 2}]
    assert values(page, "CUSTOM") == [{"done": 1}, {"done": 2}] * 2


async def test_a_caller_that_streams_custom_events_gets_them_too(page: Page) -> None:
    agent = agui_agent(ScriptedChatModel(*SCRIPT), [report], transport=page)
    items = [item async for item in agent.astream(PROMPT, stream_mode=["custom", "values"])]
    assert [data for mode, data in items if mode == "custom"] == [{"done": 1}, {"done": 2}]
    assert values(page, "CUSTOM") == [{"done": 1}, {"done": 2}]


async def test_the_store_of_a_built_agent_stays_its_own(page: Page) -> None:
    def look(state: Any) -> Any:
        get_store().put(("n",), "k", {"v": 1})
        return {"count": 1}

    builder = StateGraph(Counting)
    builder.add_node("look", look)
    builder.add_edge(START, "look")
    store = InMemoryStore()
    await ainvoke(agui_agent(builder.compile(store=store), transport=page), PROMPT)
    assert store.get(("n",), "k") is not None


async def test_an_agent_inside_a_node_of_another_graph_still_runs(page: Page) -> None:
    inner = agui_agent(counting(writes="inner"), transport=page)

    async def ask(state: Any) -> Any:
        return {"count": (await inner.ainvoke(PROMPT))["count"]}

    builder = StateGraph(Counting)
    builder.add_node("ask", ask)
    builder.add_edge(START, "ask")
    assert (await soon(builder.compile().ainvoke(PROMPT)))["count"] == 2
    assert page.outcome == "success"
