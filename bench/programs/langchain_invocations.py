"""One agent, invoked again and again: without middlewares, with empty ones, and with ours, off, on, each.

An invocation is two calls of the model and one of a tool. Every line of the input names a way and how
often; every line of the output is the processor time of all of them. What is on speaks ACP to a
transport that drops everything, so it is the whole cost of being seen. Empty middlewares, as many as
ours are, show what LangChain itself takes for having any.
"""

from __future__ import annotations

import asyncio
import gc
import json
import sys
import time
from collections.abc import Callable
from typing import Any

from langchain import agents
from langchain.agents.middleware import AgentMiddleware
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult

from trunkline.agents.langchain import (
    READY_MODES,
    Mode,
    ModeMiddleware,
    PermissionMiddleware,
    PlanMiddleware,
    Rule,
    SessionMiddleware,
    ToolMiddleware,
    TrunklineCallbackHandler,
    TrunklineContext,
    acp_middleware,
)

# LangChain's own generics are unknown to a strict checker.
_agents: Any = agents


class Caller(BaseChatModel):
    """Calls a tool, then says that it did."""

    @property
    def _llm_type(self) -> str:
        return "caller"

    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        return self

    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
        said = AIMessage("It is looked up.")
        if not isinstance(messages[-1], ToolMessage):
            said = AIMessage("", tool_calls=[{"id": "call_1", "name": "look_up", "args": {"word": "sun"}}])
        return ChatResult(generations=[ChatGeneration(message=said)])

    async def _agenerate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
        return self._generate(messages)


async def look_up(word: str) -> str:
    """Look a word up."""
    return f"{word}: a star"


class Nobody:
    """A client that drops whatever it is told, and is never asked."""

    def __init__(self) -> None:
        self.told = 0

    def emit(self, method: str, params: Any, /) -> None:
        self.told += 1

    async def request(self, method: str, params: Any, /, *, timeout: float | None) -> Any:
        raise AssertionError(f"nobody was to be asked for {method}")


def make_none(client: Nobody) -> tuple[Any, dict[str, Any]]:
    """The agent as it is."""
    return _agents.create_agent(Caller(), [look_up]), {}


class Empty(AgentMiddleware[Any, Any, Any]):
    """What anybody's middleware is at least."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self._number = number

    @property
    def name(self) -> str:
        return f"Empty{self._number}"

    async def awrap_model_call(self, request: Any, handler: Any) -> Any:
        return await handler(request)

    async def awrap_tool_call(self, request: Any, handler: Any) -> Any:
        return await handler(request)


def make_empty(client: Nobody) -> tuple[Any, dict[str, Any]]:
    """With as many middlewares as we have, which do nothing."""
    return _agents.create_agent(Caller(), [look_up], middleware=[Empty(number) for number in range(5)]), {}


def make_off(client: Nobody) -> tuple[Any, dict[str, Any]]:
    """With every middleware of ours, and nothing for them to do."""
    middleware = [
        SessionMiddleware(emit_state_snapshots="none"),
        ToolMiddleware(emit_tool_start=False, emit_tool_results=False, handle_errors=False),
        PermissionMiddleware({}),
        ModeMiddleware({"plain": Mode()}),
        PlanMiddleware(auto_detect_planning=False, emit_on=()),
    ]
    handler = TrunklineCallbackHandler(emit_text_chunks=False, emit_reasoning_chunks=False)
    return _agents.create_agent(Caller(), [look_up], middleware=middleware), {"callbacks": [handler]}


def make_on(client: Nobody) -> tuple[Any, dict[str, Any]]:
    """With everything on, and a client that is told."""
    line = acp_middleware(client, policy=POLICY, modes=READY_MODES, emit_state_snapshots="all")
    return _agents.create_agent(Caller(), [look_up], middleware=line), {"callbacks": line.callbacks}


POLICY = {"*": Rule(require_permission=False)}
PIECES: dict[str, Callable[[], Any]] = {
    "session": lambda: SessionMiddleware(emit_state_snapshots="all"),
    "tools": ToolMiddleware,
    "permission": lambda: PermissionMiddleware(POLICY),
    "modes": lambda: ModeMiddleware(READY_MODES),
    "plan": PlanMiddleware,
}


def make_one(piece: str) -> Callable[[Nobody], tuple[Any, dict[str, Any]]]:
    """With one of our middlewares, on, and a client that is told what there is to tell."""

    def make(client: Nobody) -> tuple[Any, dict[str, Any]]:
        return _agents.create_agent(Caller(), [look_up], middleware=[PIECES[piece]()]), {}

    return make


WAYS: dict[str, Callable[[Nobody], tuple[Any, dict[str, Any]]]] = {
    "none": make_none,
    "empty": make_empty,
    "off": make_off,
    "on": make_on,
    **{piece: make_one(piece) for piece in PIECES},
}


async def invoke(way: str, times: int) -> float:
    """Give the seconds of processor time of so many invocations."""
    client = Nobody()
    agent, config = WAYS[way](client)
    config["configurable"] = {"thread_id": "bench"}
    given = {"messages": [{"role": "user", "content": "What is the sun?"}]}
    whom = {"context": TrunklineContext(transport=client)} if way in PIECES else {}
    await agent.ainvoke(given, config, **whom)
    gc.collect()
    began = time.process_time()
    for _ in range(times):
        ended = await agent.ainvoke(given, config, **whom)
        assert len(ended["messages"]) == 4
    spent = time.process_time() - began
    if way not in PIECES:
        assert bool(client.told) == (way == "on"), "what is on tells, what is off does not"
    return spent


def main() -> None:
    """Measure what is asked for, for as long as somebody asks."""
    for line in sys.stdin:
        way, times = line.split()
        print(json.dumps(asyncio.run(invoke(way, int(times)))), flush=True)


if __name__ == "__main__":
    main()
