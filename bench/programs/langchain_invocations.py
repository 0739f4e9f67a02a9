"""One agent, invoked again and again: without middlewares, with empty ones, and with ours, off, on, each.

An invocation is two calls of the model and one of a tool. The input names the ways, how many turns each
has and how many invocations a turn is; the output has the processor time of an invocation in every turn. What
is on speaks ACP to a transport that drops everything, so it is the whole cost of being seen. Empty
middlewares, as many as ours are, and an empty callback handler show what LangChain takes for having any.
"""

from __future__ import annotations

import asyncio
import gc
import json
import random
import sys
import time
from collections.abc import Callable
from typing import Any

from langchain import agents
from langchain.agents.middleware import AgentMiddleware
from langchain_core.callbacks import BaseCallbackHandler
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
        reply = AIMessage("It is looked up.")
        if not isinstance(messages[-1], ToolMessage):
            reply = AIMessage("", tool_calls=[{"id": "call_1", "name": "look_up", "args": {"word": "sun"}}])
        return ChatResult(generations=[ChatGeneration(message=reply)])

    async def _agenerate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
        return self._generate(messages)


async def look_up(word: str) -> str:
    """Look a word up."""
    return f"{word}: a star"


class Nobody:
    """A client that drops whatever it is told, and is never asked."""

    def __init__(self) -> None:
        self.updates = 0

    def emit(self, method: str, params: Any, /) -> None:
        self.updates += 1

    async def request(self, method: str, params: Any, /, *, timeout: float | None) -> Any:
        raise AssertionError(f"nobody was to be asked for {method}")


Make = Callable[[Nobody], tuple[Any, dict[str, Any]]]


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


def make_empties(count: int) -> Make:
    """With middlewares that do nothing."""

    def make(client: Nobody) -> tuple[Any, dict[str, Any]]:
        middleware = [Empty(number) for number in range(count)]
        return _agents.create_agent(Caller(), [look_up], middleware=middleware), {}

    return make


class Inline(BaseCallbackHandler):
    """What anybody's callback handler is at least, where it must not take a thread."""

    run_inline = True


def make_handled(handler: Callable[[], BaseCallbackHandler]) -> Make:
    """With a callback handler alone."""

    def make(client: Nobody) -> tuple[Any, dict[str, Any]]:
        return _agents.create_agent(Caller(), [look_up]), {"callbacks": [handler()]}

    return make


def make_off(client: Nobody) -> tuple[Any, dict[str, Any]]:
    """With every middleware of ours that has something to turn off, and everything off."""
    middleware = [
        SessionMiddleware(emit_state_snapshots="none"),
        ToolMiddleware(emit_tool_start=False, emit_tool_results=False, handle_errors=False),
        ModeMiddleware({"plain": Mode()}),
        PlanMiddleware(auto_detect_planning=False, emit_on=()),
    ]
    return _agents.create_agent(Caller(), [look_up], middleware=middleware), {}


def make_on(client: Nobody) -> tuple[Any, dict[str, Any]]:
    """With everything on, and a client that is told."""
    line = acp_middleware(client, policy=POLICY, modes=READY_MODES, emit_state_snapshots="all")
    return _agents.create_agent(Caller(), [look_up], middleware=line), {"callbacks": line.callbacks}


WARM = 10
POLICY = {"*": Rule(require_permission=False)}
PIECES: dict[str, Callable[[], Any]] = {
    "session": lambda: SessionMiddleware(emit_state_snapshots="all"),
    "tools": ToolMiddleware,
    "permission": lambda: PermissionMiddleware(POLICY),
    "modes": lambda: ModeMiddleware(READY_MODES),
    "plan": PlanMiddleware,
}


def make_one(piece: str) -> Make:
    """With one of our middlewares, on, and a client that is told what there is to tell."""

    def make(client: Nobody) -> tuple[Any, dict[str, Any]]:
        return _agents.create_agent(Caller(), [look_up], middleware=[PIECES[piece]()]), {}

    return make


WAYS: dict[str, Make] = {
    "none": make_none,
    "again": make_none,
    "empty": make_empties(1),
    "empties": make_empties(5),
    "handler": make_handled(Inline),
    "mute": make_handled(
        lambda: TrunklineCallbackHandler(emit_text_chunks=False, emit_reasoning_chunks=False)
    ),
    "off": make_off,
    "on": make_on,
    **{piece: make_one(piece) for piece in PIECES},
}


class Invoked:
    """An agent made in one way, and its client."""

    def __init__(self, way: str) -> None:
        self.way = way
        self.client = Nobody()
        self.agent, self.config = WAYS[way](self.client)
        self.config["configurable"] = {"thread_id": "bench"}
        self.whom = {"context": TrunklineContext(transport=self.client)} if way in PIECES else {}
        self.spent: list[float] = []

    async def invoke(self, times: int) -> None:
        """Invoke it so many times, and note the processor time of one."""
        given = {"messages": [{"role": "user", "content": "What is the sun?"}]}
        began = time.process_time()
        for _ in range(times):
            ended = await self.agent.ainvoke(given, self.config, **self.whom)
            assert len(ended["messages"]) == 4
        self.spent.append((time.process_time() - began) / times)

    def check(self) -> None:
        """See that what is on told its client, and what is off did not."""
        if self.way not in PIECES:
            assert bool(self.client.updates) == (self.way == "on")


async def take_turns(ways: list[str], turns: int, times: int) -> dict[str, list[float]]:
    """Invoke all agents in turn; give the seconds of processor time of an invocation, turn by turn."""
    agents = [Invoked(way) for way in ways]
    for agent in agents:
        await agent.invoke(WARM)
        agent.spent.clear()
    gc.collect()
    gc.freeze()
    chance = random.Random(times)
    for _ in range(turns):
        # In another order each time: whoever comes before leaves caches and threads as they are.
        for agent in chance.sample(agents, len(agents)):
            await agent.invoke(times)
    for agent in agents:
        agent.check()
    return {agent.way: agent.spent for agent in agents}


def main() -> None:
    """Measure what is asked for."""
    ways, turns, times = sys.stdin.read().split()
    print(json.dumps(asyncio.run(take_turns(ways.split(","), int(turns), int(times)))))


if __name__ == "__main__":
    main()
