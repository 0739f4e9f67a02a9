"""One agent, streamed in several ways: what each of them costs per token.

It runs in our environment and in that of the peers, and measures what it is asked for: every line of
its input names a way, and every line of its output is what that way took. All ways run the same graph
on the same model; the peers get a connection that drops what they send, ours writes bytes.
"""

from __future__ import annotations

import asyncio
import importlib
import json
from collections.abc import AsyncIterator, Awaitable
from itertools import count
from typing import Any

from langchain import agents
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langgraph.checkpoint.memory import InMemorySaver
from measured import PIECE, Meter, measure, stream_session

# LangChain's own generics are unknown to a strict checker.
_agents: Any = agents


class Tokens(BaseChatModel):
    """Says as many pieces as its prompt asks for; it has no fields, for these are shown in every run."""

    @property
    def _llm_type(self) -> str:
        return "tokens"

    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        return self

    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
        reply = AIMessage(content=PIECE * int(messages[-1].text))
        return ChatResult(generations=[ChatGeneration(message=reply)])

    async def _astream(
        self, messages: list[BaseMessage], *args: Any, **kwargs: Any
    ) -> AsyncIterator[ChatGenerationChunk]:
        for _ in range(int(messages[-1].text)):
            yield ChatGenerationChunk(message=AIMessageChunk(content=PIECE))


def look_up(word: str) -> str:
    """Look a word up; nobody ever does here, but an agent without tools is another graph."""
    return word


def make_agent() -> Any:
    """The agent that all ways run."""
    return _agents.create_agent(Tokens(), [look_up], checkpointer=InMemorySaver())


# -- bare -----------------------------------------------------------------------------------------

threads = count()


async def stream_bare(pieces: int) -> float:
    """LangGraph's own stream of messages, and nothing else."""
    graph, heard = make_agent(), 0
    config = {"configurable": {"thread_id": str(next(threads))}}
    given = {"messages": [{"role": "user", "content": str(pieces)}]}
    meter = Meter()
    async for message, _ in graph.astream(given, config, stream_mode="messages"):
        heard += message.content.count(PIECE)
    return meter.read(pieces, heard)


# -- ours -----------------------------------------------------------------------------------------


async def stream_events(pieces: int) -> float:
    """Through a session with a journal in memory to one reader of neutral events."""
    return await stream_session(make_agent(), pieces)


class Drain:
    """A transport that counts pieces and drops them; the answer to a request wakes whoever waits."""

    congested = False

    def __init__(self) -> None:
        self.heard = 0
        self.last = b""
        self._answered = asyncio.Event()

    def write(self, data: bytes) -> None:
        self.heard += data.count(b'"' + PIECE.encode())
        self.last = data.splitlines()[-1]
        if b'"id":' in self.last:
            self._answered.set()

    async def drained(self) -> None:
        return

    async def answer(self) -> Any:
        """The result of the request that was sent."""
        await self._answered.wait()
        self._answered.clear()
        return json.loads(self.last)["result"]


async def stream_acp(pieces: int) -> float:
    """The same to an ACP client: encoder, endpoint and connection, up to the bytes of a transport."""
    from trunkline.agents.adapt import adapt
    from trunkline.frontends.acp.endpoint import AcpEndpoint
    from trunkline.journal import open_journal
    from trunkline.protocols.jsonrpc.connection import Connection
    from trunkline.session.hub import Hub

    def ask(method: str, params: dict[str, Any]) -> Awaitable[Any]:
        request = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        connection.receive(json.dumps(request).encode() + b"\n")
        return drain.answer()

    journal = await open_journal("memory:")
    async with Hub(adapt(make_agent()), journal) as hub:
        drain = Drain()
        connection = Connection(drain)
        connection.handler = AcpEndpoint(hub, connection)
        session_id = (await ask("session/new", {"cwd": "/", "mcpServers": []}))["sessionId"]
        prompt = [{"type": "text", "text": str(pieces)}]
        meter = Meter()
        result = await ask("session/prompt", {"sessionId": session_id, "prompt": prompt})
        cpu = meter.read(pieces, drain.heard)
        assert result["stopReason"] == "end_turn"
        await connection.close("measured")
    await journal.close()
    return cpu


# -- peers ----------------------------------------------------------------------------------------


class Nobody:
    """A client of the official SDK that drops whatever it is told, before it became bytes."""

    def __init__(self) -> None:
        self.heard = 0

    async def session_update(self, session_id: str, update: Any, **rest: Any) -> None:
        if update.session_update == "agent_message_chunk":
            self.heard += update.content.text.count(PIECE)


async def stream_peer(server: Any, pieces: int) -> float:
    """Through a peer's own server class."""
    schema = importlib.import_module("acp.schema")
    client = Nobody()
    server.on_connect(client)
    session = await server.new_session(cwd="/", mcp_servers=[])
    prompt = [schema.TextContentBlock(type="text", text=str(pieces))]
    meter = Meter()
    result = await server.prompt(prompt=prompt, session_id=session.session_id)
    assert result.stop_reason == "end_turn"
    return meter.read(pieces, client.heard)


async def stream_deepagents_acp(pieces: int) -> float:
    """LangChain's own server of deep agents."""
    peer = importlib.import_module("deepagents_acp.server")
    return await stream_peer(peer.AgentServerACP(make_agent()), pieces)


async def stream_langchain_acp(pieces: int) -> float:
    """acpkit's."""
    peer = importlib.import_module("langchain_acp")
    return await stream_peer(peer.create_acp_agent(make_agent()), pieces)


if __name__ == "__main__":
    measure(
        {
            "bare": stream_bare,
            "events": stream_events,
            "acp": stream_acp,
            "deepagents-acp": stream_deepagents_acp,
            "langchain-acp": stream_langchain_acp,
        }
    )
