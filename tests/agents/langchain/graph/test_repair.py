import asyncio
import operator
from collections.abc import Callable
from typing import Annotated, Any, TypedDict

import pytest
from langchain_core.messages import AIMessage, AIMessageChunk, HumanMessage, ToolMessage
from langchain_core.messages.tool import tool_call_chunk
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.func import entrypoint
from langgraph.graph import MessagesState
from tests.agents.langchain.graphs import graph_of
from tests.agents.langchain.saved_threads import (
    BOTH,
    MAKERS,
    ON_T,
    Slow,
    cancelled_in,
    messages_in,
    shape,
    state_of,
)
from tests.agents.langchain.untyped_langchain import create_agent
from tests.hubs import collect, events_of, hub_for, only, session_for, soon, text_of

from trunkline import events as ev
from trunkline.agents.langchain.agent import LangChainAgent
from trunkline.agents.langchain.graph.repair import repair
from trunkline.agents.langchain.graph.threads import history
from trunkline.agents.langchain.messages.history import UNANSWERED
from trunkline.conversation import Conversation, Message, TextPart
from trunkline.folding import fold
from trunkline.testing.chat import ScriptedChatModel, call


@pytest.mark.parametrize("kind", MAKERS)
async def test_a_cancel_inside_a_tool_leaves_a_thread_that_the_next_prompt_goes_on_from(
    kind: str, saver: Any
) -> None:
    slow, model = Slow(), ScriptedChatModel(BOTH, "Then not.")
    agent = LangChainAgent(MAKERS[kind](model, [slow.tool], checkpointer=saver))
    async with session_for(agent, session_id="t", detach_after=30.0) as session:
        async with session.follow() as reader:
            await session.prompt("Go")
            await soon(slow.began.wait())
            while not any(
                getattr(one.event, "status", None) == "completed" for one in await soon(reader.next())
            ):
                pass
        assert await session.cancel()
        assert slow.cancelled
        assert (await state_of(agent.runnable, "t")).next == ()
        events = await collect(session, "Never mind")
        folded = fold(await events_of(session))
    assert text_of(events) == "Then not."
    sent = shape(model.calls[-1].messages)
    if kind == "nested":
        # What a graph inside a node has not given back is not part of the thread.
        assert sent == [("human", "Go"), ("human", "Never mind")]
    else:
        assert sent == [
            ("human", "Go"),
            ("ai", ""),
            ("tool", "quickly done"),
            ("tool", UNANSWERED),
            ("human", "Never mind"),
        ]
    assert (folded.calls["q"].status, folded.calls["s"].status) == ("completed", "cancelled")


async def test_a_graph_inside_that_keeps_its_own_memory_is_mended_too(saver: Any) -> None:
    slow, model = Slow(), ScriptedChatModel(BOTH[1:], "Then not.")
    graph = graph_of(create_agent(model, [slow.tool], checkpointer=True), checkpointer=saver)
    async with hub_for(LangChainAgent(graph)) as hub:
        session = await cancelled_in(slow, hub)
        assert text_of(await collect(session, "Never mind")) == "Then not."
    assert [kind for kind, _ in shape(model.calls[-1].messages)] == ["human", "ai", "tool", "human"]


async def test_what_was_read_of_an_answer_that_was_cut_off_stays_in_the_thread(saver: Any) -> None:
    reached = asyncio.Event()

    async def gate() -> None:
        if len(model.calls) == 1:
            reached.set()
            await asyncio.Event().wait()

    model = ScriptedChatModel("Once upon a time", "As I said.", gate=gate)
    agent = LangChainAgent(create_agent(model, [], checkpointer=saver))
    async with session_for(agent, session_id="t") as session:
        await session.prompt("Tell me a story")
        await soon(reached.wait())
        await session.cancel()
        cut_off = (await session.history()).messages[-1]
        thread = await messages_in(agent.runnable, "t")
        assert (await state_of(agent.runnable, "t")).next == ()
        await collect(session, "Go on")
    assert cut_off.text.strip() == "Once"
    assert (thread[-1].type, thread[-1].id, thread[-1].text) == ("ai", cut_off.message_id, cut_off.text)
    assert shape(model.calls[-1].messages) == [
        ("human", "Tell me a story"),
        ("ai", cut_off.text),
        ("human", "Go on"),
    ]


async def test_a_turn_that_failed_leaves_a_thread_that_goes_on(saver: Any) -> None:
    model = ScriptedChatModel(
        [call("work", {"how": "quick"}, "q")], ["Half of", ValueError("overloaded")], "Whole."
    )
    agent = LangChainAgent(create_agent(model, [Slow().tool], checkpointer=saver))
    async with session_for(agent, session_id="t") as session:
        events = await collect(session, "Go")
        assert "overloaded" in only(events, ev.TurnFailed)[0].message
        await collect(session, "Again")
    assert shape(model.calls[-1].messages) == [
        ("human", "Go"),
        ("ai", ""),
        ("tool", "quickly done"),
        ("ai", "Half of"),
        ("human", "Again"),
    ]


async def test_a_thread_that_a_dead_process_left_in_a_tool_is_mended_by_the_next_prompt(saver: Any) -> None:
    slow, model = Slow(), ScriptedChatModel(BOTH, "Then not.")
    graph = create_agent(model, [slow.tool], checkpointer=saver)
    dying = asyncio.create_task(graph.ainvoke({"messages": [HumanMessage("Go", id="u")]}, ON_T))
    await soon(slow.began.wait())
    dying.cancel()
    await asyncio.gather(dying, return_exceptions=True)
    assert "tools" in (await state_of(graph, "t")).next
    async with hub_for(LangChainAgent(graph)) as hub:
        await collect(await hub.create("t"), "Never mind")
    assert [kind for kind, _ in shape(model.calls[-1].messages)] == ["human", "ai", "tool", "tool", "human"]


async def test_a_result_that_came_in_the_moment_of_the_cancel_is_kept(saver: Any) -> None:
    model = ScriptedChatModel([call("work", {"how": "quick"}, "q")], "Well.")
    graph = create_agent(model, [Slow().tool], checkpointer=saver, interrupt_before=["tools"])
    await graph.ainvoke({"messages": [("user", "go")]}, ON_T)
    (task,) = (state := await state_of(graph, "t")).tasks
    written = ToolMessage("quickly done", tool_call_id="q", name="work", id="r1")
    await saver.aput_writes(state.config, [("messages", [written])], task.id)
    await repair(graph, "t")
    await graph.ainvoke({"messages": [("user", "and now?")]}, ON_T)

    assert [type(message) for message in model.calls[-1].messages] == [
        HumanMessage,
        AIMessage,
        ToolMessage,
        HumanMessage,
    ]


async def test_a_call_without_an_id_does_not_end_the_session(saver: Any) -> None:
    nameless = tool_call_chunk(name="work", args='{"how": "quick"}', id=None, index=0)
    model = ScriptedChatModel([AIMessageChunk(content="", tool_call_chunks=[nameless])], "Well.")
    graph = create_agent(model, [Slow().tool], checkpointer=saver)
    async with session_for(LangChainAgent(graph), session_id="t", detach_after=30.0) as session:
        assert isinstance((await collect(session, "go"))[-1], ev.TurnFailed)
        assert text_of(await collect(session, "and now?")) == "Well."
    _, made, answer, _ = model.calls[-1].messages
    assert isinstance(made, AIMessage)
    assert isinstance(answer, ToolMessage)
    assert [call["id"] for call in made.tool_calls] == [answer.tool_call_id]


async def test_a_sound_thread_is_left_alone(saver: Any) -> None:
    graph = create_agent(ScriptedChatModel("Hello."), [], checkpointer=saver)
    await graph.ainvoke({"messages": [("user", "Hi")]}, ON_T)
    before = await state_of(graph, "t")
    await repair(graph, "t")
    await repair(graph, "never used")
    assert (await state_of(graph, "t")).config == before.config
    assert await messages_in(graph, "never used") == []


class OnlyAdds(TypedDict):
    """A state whose messages never take the place of others."""

    messages: Annotated[list[Any], operator.add]


def says(message: AIMessage) -> Callable[[Any], Any]:
    """A node that answers with this."""
    return lambda state: {"messages": [message]}


EMPTY = {
    "by a node": AIMessage("", id="a1"),
    "refusing": AIMessage(
        "", id="a1", additional_kwargs={"refusal": "No."}, response_metadata={"model_provider": "openai"}
    ),
    "by a model": AIMessage("", id="a1", response_metadata={"model_provider": "google_genai"}),
}


@pytest.mark.parametrize(
    ("made", "adds", "left"),
    [
        ("by a node", False, ["Hi", ""]),
        ("refusing", False, ["Hi", ""]),
        ("by a model", True, ["Hi", ""]),
        ("by a model", False, ["Hi"]),
    ],
)
async def test_an_empty_answer_goes_only_where_its_provider_would_refuse_it_and_the_state_lets_it_go(
    made: str, adds: bool, left: list[str]
) -> None:
    state = OnlyAdds if adds else MessagesState
    compiled = graph_of(says(EMPTY[made]), state, checkpointer=InMemorySaver())
    given = {"messages": [HumanMessage("Hi", id="h1")]}
    await compiled.ainvoke(given, ON_T)
    shown = Conversation(
        messages=[Message(message_id="x", role="agent", parts=[TextPart(part_id="p", text="a draft")])]
    )

    async def output() -> Conversation:
        return shown

    await repair(compiled, "t", output, refused=True)
    assert [message.content for message in await messages_in(compiled, "t")] == left


async def test_a_state_that_only_adds_keeps_what_a_model_refused() -> None:
    compiled = graph_of(says(AIMessage("Hm.")), OnlyAdds, checkpointer=InMemorySaver())
    picture = {"type": "image", "base64": "AAAA", "mime_type": "image/png"}
    given = {"messages": [HumanMessage([picture], id="h1")]}
    await compiled.ainvoke(given, ON_T)
    await repair(compiled, "t", refused=True)
    assert [message.content for message in await messages_in(compiled, "t")] == [[picture], "Hm."]


async def test_a_graph_without_messages_is_only_cleared() -> None:
    began = asyncio.Event()

    async def flow(words: str) -> str:
        began.set()
        await asyncio.Event().wait()
        return words

    make: Any = entrypoint(checkpointer=InMemorySaver())
    graph: Any = make(flow)
    running = asyncio.create_task(graph.ainvoke("go", ON_T))
    await soon(began.wait())
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    assert (await state_of(graph, "t")).next == ("flow",)
    await repair(graph, "t")
    assert (await state_of(graph, "t")).next == ()
    assert await history(graph, "t") is None
