"""Models that never wait, and models in threads, on their way to a reader."""

from __future__ import annotations

import itertools
import logging
from collections.abc import AsyncIterator, Iterator
from typing import Any
from uuid import uuid4

import pytest
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessageChunk, BaseMessage
from langchain_core.outputs import ChatGenerationChunk, ChatResult
from langgraph.graph import MessagesState

from tests.agents.langchain.loose import StateGraph, create_agent
from tests.worlds import collect, only, soon, text_of, world
from trunkline import adapt
from trunkline import events as ev
from trunkline.agents.langchain.emitter import Emitter
from trunkline.agents.langchain.handler import GraphHandler
from trunkline.testing.chat import ScriptedChatModel

MANY = 1_000


class Eager(BaseChatModel):
    """Says as much as it can, and never waits for anything."""

    @property
    def _llm_type(self) -> str:
        return "eager"

    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        return self

    def _generate(self, *args: Any, **kwargs: Any) -> ChatResult:
        raise NotImplementedError

    def _stream(
        self, messages: list[BaseMessage], *args: Any, **kwargs: Any
    ) -> Iterator[ChatGenerationChunk]:
        words = itertools.count() if messages[-1].text == "for ever" else range(MANY)
        for number in words:
            yield ChatGenerationChunk(message=AIMessageChunk(content=f"{number} "))

    async def _astream(
        self, messages: list[BaseMessage], *args: Any, **kwargs: Any
    ) -> AsyncIterator[ChatGenerationChunk]:
        for chunk in self._stream(messages):
            yield chunk


async def test_a_model_that_never_waits_is_read_while_it_speaks_and_can_be_cancelled() -> None:
    async with world(adapt(create_agent(Eager(), []))) as hub:
        session = await hub.create()
        async with session.follow() as reader:
            await session.prompt("for ever")
            said: list[Any] = []
            while not only(said, ev.Text):
                said += [entry.event for entry in await soon(reader.next())]
            assert await soon(session.cancel())
            while not only(said, ev.TurnFinished):
                said += [entry.event for entry in await soon(reader.next())]
    assert only(said, ev.TurnFinished)[0].stop_reason == "cancelled"
    words = text_of(said).split()
    assert words == [str(number) for number in range(len(words))]


async def test_a_model_that_a_plain_function_calls_in_a_thread_is_heard_whole(
    caplog: pytest.LogCaptureFixture,
) -> None:
    model = Eager()

    def answer(state: dict[str, Any]) -> dict[str, Any]:
        return {"messages": [model.invoke(state["messages"])]}

    graph = StateGraph(MessagesState)
    graph.add_node("answer", answer)
    graph.set_entry_point("answer")
    with caplog.at_level(logging.WARNING):
        async with world(adapt(graph.compile())) as hub:
            told = await collect(await hub.create(), "many")
    assert text_of(told).split() == [str(number) for number in range(MANY)]
    assert not caplog.records


async def test_a_reader_that_stays_behind_does_not_make_a_model_wait() -> None:
    async with world(adapt(create_agent(Eager(), []))) as hub:
        session = await hub.create()
        async with session.follow():
            told = await collect(session, "many")
    assert text_of(told).split() == [str(number) for number in range(MANY)]


async def test_a_model_that_does_not_stream_is_said_whole() -> None:
    model = ScriptedChatModel("one two three", streaming=False)
    async with world(adapt(create_agent(model, []))) as hub:
        told = await collect(await hub.create(), "go")
    assert [event.delta for event in only(told, ev.Text)] == ["one two three"]


async def test_what_a_failed_subagent_left_running_says_nothing_any_more() -> None:
    said: list[Any] = []
    handler = GraphHandler(Emitter(said.append, "turn"))
    turn, task, inside, late = uuid4(), uuid4(), uuid4(), uuid4()
    await handler.on_chain_start({}, {}, run_id=turn)
    await handler.on_tool_start({}, "", run_id=task, parent_run_id=turn, tool_call_id="t", name="task")
    await handler.on_chain_start({}, {}, run_id=inside, parent_run_id=task)
    await handler.on_chat_model_start({}, [[]], run_id=uuid4(), parent_run_id=inside)
    await handler.on_tool_error(ValueError("no"), run_id=task)
    assert isinstance(said[-1], ev.SubagentFinished)
    before = list(said)
    await handler.on_tool_start({}, "", run_id=late, parent_run_id=inside, tool_call_id="l", name="late")
    await handler.on_tool_end("done", run_id=late)
    await handler.on_chat_model_start({}, [[]], run_id=late, parent_run_id=inside)
    await handler.on_llm_start({}, [], run_id=late, parent_run_id=inside)
    await handler.on_llm_new_token(
        "x", chunk=ChatGenerationChunk(message=AIMessageChunk(content="x")), run_id=late
    )
    assert said == before
