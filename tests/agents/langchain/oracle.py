"""An agent whose model plays what its prompt says, and what of it must be seen: both sides of the oracle.

A prompt is JSON: the answers of the model, one after the other, each a list of chunks and perhaps an
error at their end. ``/truth`` makes the model tell all messages of the thread, and those that its
subagents ended with; what a client has folded from its updates must be the same.
"""

import json
from collections.abc import AsyncIterator
from typing import Any, Literal, cast

from langchain import agents
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langchain.tools import ToolRuntime
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, HumanMessage
from langchain_core.messages import message_chunk_to_message as as_message
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.config import get_config
from langgraph.types import interrupt

TRUTH = "/truth"
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGNgYPhfDwACggF/o0M1KwAAAABJRU5ErkJggg=="

# LangChain's own generics are unknown to a strict checker.
_agents: Any = agents
_helped: dict[str, dict[str, Any]] = {}


class Player(BaseChatModel):
    """Plays the answers that the last prompt holds."""

    @property
    def _llm_type(self) -> str:
        return "player"

    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        return self

    async def _astream(
        self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **kwargs: Any
    ) -> AsyncIterator[ChatGenerationChunk]:
        place = max(at for at, message in enumerate(messages) if isinstance(message, HumanMessage))
        if messages[place].text == TRUTH:
            output = {"messages": [tell(one) for one in messages[:place]], "lanes": _helped.pop(thread(), {})}
            yield ChatGenerationChunk(message=AIMessageChunk(content=json.dumps(output)))
            return
        step = sum(isinstance(message, AIMessage) for message in messages[place:])
        answer = json.loads(messages[place].text)[step]
        for chunk in answer["chunks"]:
            yield ChatGenerationChunk(message=AIMessageChunk(**chunk))
        if answer.get("raises"):
            raise RuntimeError(answer["raises"])

    async def _agenerate(
        self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **kwargs: Any
    ) -> ChatResult:
        first, *others = [chunk.message async for chunk in self._astream(messages)]
        assert isinstance(first, AIMessageChunk)
        output = as_message(first.__add__(cast("list[Any]", others)))
        return ChatResult(generations=[ChatGeneration(message=output)])

    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
        raise NotImplementedError


def thread() -> str:
    """The thread of the run this code is part of."""
    return get_config().get("configurable", {})["thread_id"]


def tell(message: BaseMessage) -> dict[str, Any]:
    """What of a message can be seen."""
    return message.model_dump(
        include={
            "type", "id", "content", "additional_kwargs", "tool_calls", "invalid_tool_calls",
            "tool_call_id", "status",
        },
        mode="json",
    )  # fmt: skip


# -- tools ----------------------------------------------------------------------------------------


@tool
def echo(text: str) -> str:
    """Say it again."""
    return text


@tool
def draw(text: str) -> list[dict[str, Any]]:
    """Answer in blocks."""
    return [{"type": "text", "text": text}, {"type": "image", "base64": PIXEL, "mime_type": "image/png"}]


@tool
def fail(text: str) -> str:
    """Raise."""
    raise ValueError(text)


@tool
def guarded(text: str) -> str:
    """Say it, if a person allows it."""
    return text


@tool
def ask(text: str) -> str:
    """Ask a person."""
    return f"{text}: {interrupt(text)}"


@tool
def now() -> str:
    """Tell the time; it takes no arguments."""
    return "noon"


@tool
async def delegate(script: str, runtime: ToolRuntime[Any, Any]) -> str:
    """Let a subagent play a script."""
    ended = await _helper.ainvoke({"messages": [HumanMessage(script)]})
    lanes = _helped.setdefault(thread(), {})
    lanes[str(runtime.tool_call_id)] = [tell(message) for message in ended["messages"][1:]]
    return ended["messages"][-1].text


TOOLS = [echo, draw, fail, guarded, ask, now, delegate]


def make(mode: Literal["batched", "per_call"], *, streaming: bool = True, **options: Any) -> Any:
    """Make an agent whose guarded tool asks in this mode."""
    return _agents.create_agent(
        Player(disable_streaming=not streaming),
        TOOLS,
        middleware=[HumanInTheLoopMiddleware({"guarded": True}, interrupt_mode=mode)],
        **options,
    )


_helper = make("per_call", name="helper")
agent = make("per_call", checkpointer=InMemorySaver())
batched = make("batched", checkpointer=InMemorySaver())
whole = make("per_call", checkpointer=InMemorySaver(), streaming=False)
