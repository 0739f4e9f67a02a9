"""The finance agent as a LangChain agent, with the offline model as its chat model or with a real one.

Imported only for the TARGET ``finance:langchain``; needs ``pip install 'trunkline[langchain]'``.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any, cast

from langchain import agents
from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    BaseMessage,
    HumanMessage,
    ToolMessage,
    message_chunk_to_message,
)
from langchain_core.messages.tool import tool_call_chunk
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import PrivateAttr

from trunkline.demos.finance.instructions import INSTRUCTIONS
from trunkline.demos.finance.offline_model import Called, Item, Reply, Returned, Said, split_words
from trunkline.tools import ToolRegistry

__all__ = ["OfflineChatModel", "make_graph"]

Planner = Callable[[Sequence[Item], Sequence[str]], Reply]
"""The offline model with its ledger and its day: the conversation and the names of the tools to a reply."""


class OfflineChatModel(BaseChatModel):
    """The offline model as a chat model of LangChain."""

    _plan: Planner = PrivateAttr()

    def __init__(self, plan: Planner) -> None:
        """Answer by a planner."""
        super().__init__()
        self._plan = plan

    @property
    def _llm_type(self) -> str:
        return "trunkline-finance-offline"

    def bind_tools(self, tools: Sequence[Any], **kwargs: Any) -> Any:
        """Bind tools; the planner learns their names."""
        return self.bind(tools=[convert_to_openai_tool(tool) for tool in tools])

    def _stream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> Iterator[ChatGenerationChunk]:
        items = read_messages(messages)
        names = [str(tool["function"]["name"]) for tool in kwargs.get("tools") or ()]
        reply = self._plan(items, names)
        for word in split_words(reply.text):
            yield ChatGenerationChunk(message=AIMessageChunk(content=word))
        made = sum(isinstance(item, Called) for item in items)
        for at, call in enumerate(reply.calls):
            chunk = tool_call_chunk(
                name=call.name, args=json.dumps(call.arguments), id=f"call_{made + at + 1}", index=at
            )
            yield ChatGenerationChunk(message=AIMessageChunk(content="", tool_call_chunks=[chunk]))

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        chunks = [cast("AIMessageChunk", one.message) for one in self._stream(messages, **kwargs)]
        first, *others = chunks
        message = message_chunk_to_message(first.__add__(others) if others else first)
        return ChatResult(generations=[ChatGeneration(message=message)])


def read_messages(messages: Sequence[BaseMessage]) -> list[Item]:
    """Give a conversation of LangChain as the offline model takes it."""
    items: list[Item] = []
    for message in messages:
        if isinstance(message, HumanMessage):
            items.append(Said("user", str(message.text)))
        elif isinstance(message, AIMessage):
            if message.text:
                items.append(Said("assistant", str(message.text)))
            items += [Called(str(call["id"]), call["name"], call["args"]) for call in message.tool_calls]
        elif isinstance(message, ToolMessage):
            items.append(Returned(message.tool_call_id, str(message.text)))
    return items


def make_graph(tools: ToolRegistry, plan: Planner, model_name: str | None) -> Any:
    """Make the LangChain agent; ``model_name`` is a real model, as ``provider:model``."""
    from langgraph.checkpoint.memory import InMemorySaver

    model: Any = OfflineChatModel(plan)
    if model_name is not None:
        from langchain.chat_models import init_chat_model

        model = init_chat_model(model_name)
    make = cast("Any", agents.create_agent)  # pyright: ignore[reportUnknownMemberType]
    return make(
        model,
        tools=tools.for_langchain(),
        system_prompt=INSTRUCTIONS,
        checkpointer=InMemorySaver(),
        name="trunkline-finance",
    )
