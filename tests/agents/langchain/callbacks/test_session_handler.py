"""Models that never wait, and models in threads, on their way to a reader."""

import asyncio
import itertools
import logging
from collections.abc import AsyncIterator, Iterator, Sequence
from typing import Any
from uuid import uuid4

import pytest
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessageChunk, BaseMessage
from langchain_core.outputs import ChatGenerationChunk, ChatResult
from langchain_core.tools import tool
from langgraph.graph import MessagesState
from tests.agents.langchain.graphs import agent_of, graph_of, run_turn
from tests.agents.langchain.untyped_langchain import create_agent
from tests.hubs import collect, only, opened, session_for, soon, text_of

from trunkline import adapt
from trunkline import events as ev
from trunkline.agents.langchain.callbacks.session_handler import GraphHandler
from trunkline.agents.langchain.messages.emitter import Emitter
from trunkline.errors import JournalError
from trunkline.journal import Lease, Record
from trunkline.journal.memory import MemoryJournal
from trunkline.testing.chat import call

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
    async with session_for(adapt(create_agent(Eager(), []))) as session, session.follow() as reader:
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

    with caplog.at_level(logging.WARNING):
        told = await run_turn(adapt(graph_of(answer)), "many")
    assert text_of(told).split() == [str(number) for number in range(MANY)]
    assert not caplog.records


async def test_a_reader_that_stays_behind_does_not_make_a_model_wait() -> None:
    async with session_for(adapt(create_agent(Eager(), []))) as session, session.follow():
        told = await collect(session, "many")
    assert text_of(told).split() == [str(number) for number in range(MANY)]


class Full(MemoryJournal):
    """Refuses, a moment later, everything from the first tool that runs on."""

    is_full = False

    def append(
        self, lease: Lease, records: Sequence[Record], *, durable: bool = False
    ) -> asyncio.Future[None]:
        self.is_full = self.is_full or any(isinstance(record.event, ev.ToolUpdate) for record in records)
        if not self.is_full:
            return super().append(lease, records, durable=durable)
        refused: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        refused.get_loop().call_later(0.01, refused.set_exception, JournalError("the disk is full"))
        return refused


@pytest.mark.parametrize("caller", ["agent", "plain function"])
async def test_a_tool_whose_call_cannot_be_stored_does_not_run(caller: str) -> None:
    ran: list[str] = []

    @tool
    def effect(name: str) -> str:
        """Do something that cannot be undone."""
        ran.append(name)
        return "done"

    def use_twice(state: MessagesState) -> dict[str, Any]:
        for name in ("one", "two"):
            effect.invoke({"type": "tool_call", "id": name, "name": "effect", "args": {"name": name}})
        return {}

    if caller == "agent":
        calls = [call("effect", {"name": name}, name) for name in ("one", "two")]
        agent: Any = agent_of(calls, "Done.", tools=(effect,))[0]
    else:
        agent = adapt(graph_of(use_twice))
    async with opened(Full()) as journal:
        async with session_for(agent, journal=journal) as session:
            told = await collect(session, "go")
            assert isinstance(told[-1], ev.TurnFailed)
        # Whatever was left in a thread has ended by now.
        await soon(asyncio.get_running_loop().shutdown_default_executor())
        assert ran == []


async def test_a_tool_in_a_thread_waits_for_a_slow_disk_however_long_it_takes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("trunkline.agents.langchain.callbacks.session_handler._LOOP_PATIENCE", 0.05)
    begun, stored = asyncio.Event(), asyncio.Event()

    async def durable() -> None:
        begun.set()
        await stored.wait()

    handler = GraphHandler(Emitter(lambda event: None, "t"), durable=durable)
    starting = asyncio.create_task(
        asyncio.to_thread(asyncio.run, handler.on_tool_start({}, "", run_id=uuid4(), name="slow"))
    )
    await soon(begun.wait())
    await asyncio.wait({starting}, timeout=0.2)
    assert not starting.done()
    stored.set()
    await soon(starting)
