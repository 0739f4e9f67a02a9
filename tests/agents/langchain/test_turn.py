"""Graphs that are built in other ways than create_agent builds them, and what is seen of them."""

import asyncio
import operator
import sys
from dataclasses import dataclass
from typing import Annotated, Any, TypedDict

import pytest
from langchain_core.chat_history import InMemoryChatMessageHistory
from langchain_core.messages import AIMessage, BaseMessage, RemoveMessage
from langchain_core.prompts import ChatPromptTemplate, MessagesPlaceholder
from langchain_core.runnables.history import RunnableWithMessageHistory
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.func import entrypoint
from langgraph.graph import MessagesState
from langgraph.graph.message import REMOVE_ALL_MESSAGES
from langgraph.prebuilt import ToolRuntime
from pydantic import BaseModel

from tests.agents.langchain.graphs import (
    PARIS,
    ROME,
    agent_of,
    broken,
    calls_of,
    check_settled,
    converse,
    folded,
    graph_of,
    pieces,
    run_turn,
    terminal,
    weather,
)
from tests.agents.langchain.untyped_langchain import create_agent
from tests.hubs import collect, hub_for, only, session_for, text_of
from trunkline import adapt
from trunkline import events as ev
from trunkline.commands import Prompt
from trunkline.testing.chat import ScriptedChatModel, call


class Appended(TypedDict):
    """A state whose messages are only ever appended: nobody gives them ids or makes them messages."""

    messages: Annotated[list[Any], operator.add]


@pytest.mark.parametrize("saver", [None, InMemorySaver()])
@pytest.mark.parametrize(
    "answer", [AIMessage("Fine."), {"role": "assistant", "content": "Fine."}, ("ai", "Fine.")]
)
async def test_messages_without_ids_are_said_once_in_every_turn(answer: Any, saver: Any) -> None:
    def node(state: Appended) -> dict[str, Any]:
        return {"messages": [answer]}

    agent = adapt(graph_of(node, Appended, checkpointer=saver))
    async with session_for(agent) as session:
        turns = [await collect(session, prompt) for prompt in ("one", "two")]
        loaded = await session.history()
    assert [text_of(events) for events in turns] == ["Fine.", "Fine."]
    assert [message.text for message in loaded.messages] == ["one", "Fine.", "two", "Fine."]


async def test_a_message_that_a_node_puts_before_its_models_is_not_lost() -> None:
    model = ScriptedChatModel("of the model")

    async def node(state: MessagesState) -> dict[str, Any]:
        return {"messages": [AIMessage("before"), await model.ainvoke(state["messages"]), AIMessage("after")]}

    events = await run_turn(adapt(graph_of(node)), "go")
    assert sorted(message.text for message in folded(events).messages[1:]) == [
        "after",
        "before",
        "of the model",
    ]


class Route(BaseModel):
    """Where to go next."""

    where: str


@pytest.mark.parametrize("kept", [False, True])
async def test_a_model_that_is_not_to_be_streamed_is_seen_only_in_what_its_node_keeps(kept: bool) -> None:
    model = ScriptedChatModel("Aside.").with_config(tags=["nostream"])

    async def node(state: MessagesState) -> dict[str, Any]:
        aside = await model.ainvoke(state["messages"])
        return {"messages": [aside if kept else AIMessage("Kept.")]}

    events = await run_turn(adapt(graph_of(node)), "go")
    assert text_of(events) == ("Aside." if kept else "Kept.")


async def test_the_structured_answer_that_a_node_asks_a_model_for_is_no_call_of_a_tool() -> None:
    router = ScriptedChatModel([call("Route", {"where": "home"})]).with_structured_output(Route)

    async def node(state: MessagesState) -> dict[str, Any]:
        route: Any = await router.ainvoke(state["messages"])
        return {"messages": [AIMessage(f"To {route.where}.")]}

    events = await run_turn(adapt(graph_of(node)), "go")
    assert text_of(events) == "To home."
    assert not calls_of(events)


@pytest.mark.filterwarnings("ignore::langchain_core._api.LangChainDeprecationWarning")
async def test_a_runnable_that_keeps_its_own_history_keeps_one_for_each_session() -> None:
    kept: dict[str, InMemoryChatMessageHistory] = {}

    def history_of(session_id: str) -> InMemoryChatMessageHistory:
        return kept.setdefault(session_id, InMemoryChatMessageHistory())

    model = ScriptedChatModel("One.", "Two.", "Three.")
    chain = ChatPromptTemplate.from_messages([MessagesPlaceholder("history"), ("human", "{input}")]) | model
    made: Any = RunnableWithMessageHistory(
        chain, history_of, input_messages_key="input", history_messages_key="history"
    )
    async with hub_for(adapt(made)) as hub:
        session = await hub.create()
        await collect(session, "first")
        await collect(session, "second")
        await collect(await hub.create(), "other")
    heard = [[message.text for message in called.messages] for called in model.calls]
    assert heard == [["first"], ["first", "One.", "second"], ["other"]]


async def test_a_function_that_remembers_is_given_the_new_message_only() -> None:
    model = ScriptedChatModel("One.", "Two.")

    @entrypoint(checkpointer=InMemorySaver())
    async def chat(messages: list[BaseMessage], *, previous: Any = None) -> Any:
        asked = [*(previous or ()), *messages]
        answer = await model.ainvoke(asked)
        return entrypoint.final(value=answer, save=[*asked, answer])

    async with session_for(adapt(chat)) as session:
        turns = [await collect(session, prompt) for prompt in ("first", "second")]
        shown = await session.history()
    assert [text_of(events) for events in turns] == ["One.", "Two."]
    assert [message.text for message in model.calls[1].messages] == ["first", "One.", "second"]
    assert [message.text for message in shown.messages] == ["first", "One.", "second", "Two."]


@entrypoint()
async def echo(text: str) -> str:
    """Answer with text to text."""
    return f"You said {text}."


@entrypoint()
async def echo_state(inputs: dict[str, Any]) -> dict[str, Any]:
    """Answer with a state to a state."""
    return {"messages": [AIMessage(f"You said {inputs['messages'][-1].text}.")]}


@pytest.mark.parametrize("name", ["echo", "echo_state"])
async def test_a_function_that_asks_no_model_says_what_it_gives(name: str) -> None:
    function: Any = globals()[name]
    assert text_of(await run_turn(adapt(function), "hi")) == "You said hi."


async def test_messages_that_a_graph_forgot_are_not_given_to_it_again() -> None:
    model = ScriptedChatModel("One.", "Two.")

    async def node(state: MessagesState) -> dict[str, Any]:
        await model.ainvoke(state["messages"])
        return {"messages": [RemoveMessage(REMOVE_ALL_MESSAGES)]}

    await converse(adapt(graph_of(node, checkpointer=InMemorySaver())), "first", "second")
    assert [message.text for message in model.calls[1].messages] == ["second"]


async def test_a_tool_that_raises_in_an_agent_that_is_a_node_is_a_failed_call_and_the_turn_goes_on() -> None:
    inner = create_agent(ScriptedChatModel([call("broken", {}, "b1")], "Sorry."), [broken], name="inner")
    events = await run_turn(adapt(graph_of(graph_of(inner), checkpointer=InMemorySaver())), "go")
    assert (calls_of(events)["b1"].status, text_of(events)) == ("failed", "Sorry.")


async def test_a_tool_that_exits_fails_and_takes_nobody_with_it() -> None:
    @tool
    def leave() -> str:
        """Leave the program."""
        sys.exit(3)

    agent, _ = agent_of([call("leave", {}, "l1")], "Still here.", tools=[leave])
    events = await run_turn(agent, "go")
    assert (calls_of(events)["l1"].reason, text_of(events)) == ("Error: SystemExit: 3", "Still here.")


async def test_a_call_that_a_limit_kept_from_running_is_failed_by_the_agent_and_not_blamed_on_it() -> None:
    answers = [[call("weather", {"city": str(number)})] for number in range(9)]
    model = ScriptedChatModel(*answers)
    agent = create_agent(model, [weather], checkpointer=InMemorySaver()).with_config(recursion_limit=3)
    events = await run_turn(adapt(agent), "go")
    assert terminal(events) == ev.TurnFinished(turn_id=events[0].turn_id, stop_reason="max_turn_requests")
    assert [made.status for made in calls_of(events).values()] == ["completed", "failed"]
    assert not only(events, ev.Notice)


@dataclass
class Who:
    name: str


async def test_the_context_that_is_bound_to_an_agent_reaches_its_tools() -> None:
    @tool
    def whoami(runtime: ToolRuntime[Who, Any]) -> str:
        """Tell who asks."""
        return runtime.context.name

    model = ScriptedChatModel([call("whoami", {}, "w1")], "There.")
    agent = create_agent(model, [whoami], context_schema=Who).bind(context=Who("Ada"))
    events = await run_turn(adapt(agent), "go")
    assert calls_of(events)["w1"].raw_output == "Ada"


async def test_half_a_character_in_a_result_or_in_arguments_spoils_nothing_else() -> None:
    @tool
    def halve(text: str) -> str:
        """Give half a character."""
        return "half \ud83d"

    agent, _ = agent_of([call("halve", '{"text": "\ud83d"}', "h1")], "Done.", tools=[halve])
    events = await run_turn(agent, "go")
    made = calls_of(events)["h1"]
    assert (made.status, made.input, made.raw_output) == ("completed", {"text": "\ufffd"}, "half \ufffd")


async def test_a_big_result_is_told_once() -> None:
    size = 1_000_000

    @tool
    def dump() -> str:
        """Give a lot."""
        return "x" * size

    agent, _ = agent_of([call("dump", {}, "d1")], "Done.", tools=[dump], checkpointer=InMemorySaver())
    events = await run_turn(agent)
    heavy = [event for event in events if len(ev.encode_event(event)) > size]
    # Once to be read, and once as it was returned.
    assert len(heavy) == 1
    assert sum(len(ev.encode_event(event)) for event in events) < 2.1 * size


async def test_runs_of_one_thread_wait_for_each_other_and_none_is_lost() -> None:
    agent, _ = agent_of("One.", "Two.", "Three.", checkpointer=InMemorySaver())
    async with session_for(agent, session_id="t") as session:
        prompts = [Prompt.of(word, message_id=word, busy="queue") for word in ("a", "b", "c")]
        turns = await asyncio.gather(*(collect(session, prompt) for prompt in prompts))
        state = await agent.runnable.aget_state({"configurable": {"thread_id": "t"}})
    assert [text_of(events) for events in turns] == ["One.", "Two.", "Three."]
    assert [message.text for message in state.values["messages"]] == ["a", "One.", "b", "Two.", "c", "Three."]


async def test_calls_of_parallel_subagents_are_all_shown_in_their_own_lanes() -> None:
    inner = ScriptedChatModel(
        [
            pieces(("x1", "weather", "", 0), ("x2", "weather", "", 1)),
            pieces((None, None, PARIS, 0), (None, None, ROME, 1)),
        ],
        "Both sunny.",
        each_turn=True,
    )
    worker = create_agent(inner, [weather], name="worker")

    @tool
    async def task(what: str) -> str:
        """Let a subagent do it."""
        done = await worker.ainvoke({"messages": [("user", what)]})
        return str(done["messages"][-1].text)

    agent, _ = agent_of(
        [call("task", {"what": "one"}, "t1"), call("task", {"what": "two"}, "t2")], "Done.", tools=[task]
    )
    events = await run_turn(agent)
    check_settled(events)
    shown = folded(events)
    leaves = {(one.lane, one.native_id): one for one in shown.calls.values() if one.lane is not None}
    assert set(leaves) == {(lane, native) for lane in ("t1", "t2") for native in ("x1", "x2")}
    assert len({one.call_id for one in leaves.values()}) == 4
    for (_, native), one in leaves.items():
        assert (one.arguments, one.status) == (PARIS if native == "x1" else ROME, "completed")
    assert {lane: state.parent_call_id for lane, state in shown.lanes.items()} == {"t1": "t1", "t2": "t2"}
    assert text_of([event for event in events if event.lane is None]) == "Done."
