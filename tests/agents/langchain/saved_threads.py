"""Graphs with a thread that is saved, and what is in it."""

import asyncio
from typing import Any

from langchain_core.tools import tool

from tests.agents.langchain.graphs import graph_of, plain_graph
from tests.agents.langchain.untyped_langchain import create_agent, create_deep_agent
from tests.hubs import soon
from trunkline.session.hub import Hub
from trunkline.session.session import Session
from trunkline.testing.chat import call


class Slow:
    """A tool that answers at once or waits for ever, and says when it began to wait."""

    def __init__(self) -> None:
        self.began = asyncio.Event()
        self.cancelled = False

    @property
    def tool(self) -> Any:
        @tool
        async def work(how: str) -> str:
            """Work."""
            if how == "quick":
                return "quickly done"
            self.began.set()
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                self.cancelled = True
                raise
            return "never"

        return work


BOTH = [call("work", {"how": "quick"}, "q"), call("work", {"how": "slow"}, "s")]


def nested_graph(model: Any, tools: list[Any], checkpointer: Any) -> Any:
    """A graph whose only node is an agent."""
    return graph_of(create_agent(model, tools), checkpointer=checkpointer)


MAKERS = {
    "create_agent": create_agent,
    "deep": create_deep_agent,
    "plain": plain_graph,
    "nested": nested_graph,
}


ON_T: Any = {"configurable": {"thread_id": "t"}}


async def state_of(graph: Any, thread_id: str) -> Any:
    return await graph.aget_state({"configurable": {"thread_id": thread_id}})


async def messages_in(graph: Any, thread_id: str) -> list[Any]:
    return (await state_of(graph, thread_id)).values.get("messages", [])


def shape(messages: list[Any]) -> list[tuple[str, str]]:
    return [(message.type, message.text) for message in messages if message.type != "system"]


async def cancelled_in(slow: Slow, hub: Hub) -> Session:
    """A session whose turn was cancelled while the tool waited."""
    session = await hub.create("t")
    await session.prompt("Go")
    await soon(slow.began.wait())
    await session.cancel()
    return session
