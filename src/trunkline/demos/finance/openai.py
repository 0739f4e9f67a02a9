"""The finance agent as an agent of the OpenAI Agents SDK, with the offline model or with a real one.

Imported only for the TARGET ``finance:openai``; needs ``pip install 'trunkline[openai]'``.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from typing import Any, cast

from agents.items import TResponseInputItem, TResponseOutputItem, TResponseStreamEvent
from openai.types.responses import (
    Response,
    ResponseCompletedEvent,
    ResponseContentPartAddedEvent,
    ResponseContentPartDoneEvent,
    ResponseCreatedEvent,
    ResponseFunctionCallArgumentsDeltaEvent,
    ResponseFunctionCallArgumentsDoneEvent,
    ResponseFunctionToolCall,
    ResponseOutputItemAddedEvent,
    ResponseOutputItemDoneEvent,
    ResponseOutputMessage,
    ResponseOutputText,
    ResponseTextDeltaEvent,
    ResponseTextDoneEvent,
)

from agents import Agent, Model, ModelResponse, ModelSettings, Usage
from trunkline.demos.finance.instructions import INSTRUCTIONS
from trunkline.demos.finance.offline_model import Called, Item, Reply, Returned, Said, split_words
from trunkline.tools import ToolRegistry

__all__ = ["OfflineModel", "make_agent"]

Planner = Callable[[Sequence[Item], Sequence[str]], Reply]


class OfflineModel(Model):
    """The offline model as a model of the OpenAI Agents SDK."""

    def __init__(self, plan: Planner) -> None:
        """Answer by a planner."""
        self._plan = plan

    def _outputs(self, input: str | list[TResponseInputItem], tools: list[Any]) -> tuple[str, list[Any]]:
        """Give an id for the response, and its output items."""
        items = read_items(input)
        reply = self._plan(items, [str(tool.name) for tool in tools])
        number = len(items)
        outputs: list[Any] = []
        if reply.text:
            outputs.append(
                ResponseOutputMessage(
                    id=f"msg_{number}",
                    type="message",
                    role="assistant",
                    status="completed",
                    content=[ResponseOutputText(type="output_text", text=reply.text, annotations=[])],
                )
            )
        made = sum(isinstance(item, Called) for item in items)
        for at, call in enumerate(reply.calls):
            outputs.append(
                ResponseFunctionToolCall(
                    id=f"fc_{made + at + 1}",
                    call_id=f"call_{made + at + 1}",
                    type="function_call",
                    name=call.name,
                    arguments=json.dumps(call.arguments),
                    status="completed",
                )
            )
        return f"resp_{number}", outputs

    async def get_response(
        self,
        system_instructions: str | None,
        input: str | list[TResponseInputItem],
        model_settings: ModelSettings,
        tools: list[Any],
        *args: Any,
        **kwargs: Any,
    ) -> ModelResponse:
        """Answer at once."""
        response_id, outputs = self._outputs(input, tools)
        return ModelResponse(
            output=cast("list[TResponseOutputItem]", outputs), usage=Usage(), response_id=response_id
        )

    async def stream_response(
        self,
        system_instructions: str | None,
        input: str | list[TResponseInputItem],
        model_settings: ModelSettings,
        tools: list[Any],
        *args: Any,
        **kwargs: Any,
    ) -> AsyncIterator[TResponseStreamEvent]:
        """Answer word by word."""
        response_id, outputs = self._outputs(input, tools)
        for number, event in enumerate(stream_events(response_id, outputs)):
            event.sequence_number = number
            yield cast("TResponseStreamEvent", event)


def stream_events(response_id: str, outputs: Sequence[Any]) -> Iterator[Any]:
    """Give the events of a response as the Responses API streams them; they are numbered by the caller."""
    empty = _response(response_id, [], "in_progress")
    yield ResponseCreatedEvent(type="response.created", response=empty, sequence_number=0)
    for at, item in enumerate(outputs):
        begun = item.model_copy(
            update={"status": "in_progress"}
            | ({"content": []} if isinstance(item, ResponseOutputMessage) else {"arguments": ""})
        )
        yield ResponseOutputItemAddedEvent(
            type="response.output_item.added", item=begun, output_index=at, sequence_number=0
        )
        yield from (
            _text_events(item, at) if isinstance(item, ResponseOutputMessage) else _call_events(item, at)
        )
        yield ResponseOutputItemDoneEvent(
            type="response.output_item.done", item=item, output_index=at, sequence_number=0
        )
    done = _response(response_id, list(outputs), "completed")
    yield ResponseCompletedEvent(type="response.completed", response=done, sequence_number=0)


def _text_events(item: ResponseOutputMessage, at: int) -> Iterator[Any]:
    part = item.content[0]
    assert isinstance(part, ResponseOutputText)
    position: dict[str, Any] = {
        "item_id": item.id,
        "output_index": at,
        "content_index": 0,
        "sequence_number": 0,
    }
    empty = part.model_copy(update={"text": ""})
    yield ResponseContentPartAddedEvent(type="response.content_part.added", part=empty, **position)
    for word in split_words(part.text):
        yield ResponseTextDeltaEvent(type="response.output_text.delta", delta=word, logprobs=[], **position)
    yield ResponseTextDoneEvent(type="response.output_text.done", text=part.text, logprobs=[], **position)
    yield ResponseContentPartDoneEvent(type="response.content_part.done", part=part, **position)


def _call_events(item: ResponseFunctionToolCall, at: int) -> Iterator[Any]:
    position: dict[str, Any] = {"item_id": item.id or "", "output_index": at, "sequence_number": 0}
    yield ResponseFunctionCallArgumentsDeltaEvent(
        type="response.function_call_arguments.delta", delta=item.arguments, **position
    )
    # Newer versions of the API's client want the name of the function, older ones do not know it.
    done: dict[str, Any] = {"arguments": item.arguments, "name": item.name, **position}
    yield ResponseFunctionCallArgumentsDoneEvent(type="response.function_call_arguments.done", **done)


def _response(response_id: str, outputs: list[Any], status: Any) -> Response:
    return Response(
        id=response_id,
        created_at=0,
        model="trunkline-finance-offline",
        object="response",
        output=outputs,
        status=status,
        parallel_tool_calls=False,
        tool_choice="auto",
        tools=[],
    )


def read_items(input: str | list[TResponseInputItem]) -> list[Item]:
    """Give input items of the Responses API as the offline model takes them."""
    if isinstance(input, str):
        return [Said("user", input)]
    items: list[Item] = []
    for given in input:
        item = cast("dict[str, Any]", given)
        kind = item.get("type", "message")
        if kind == "message" and item.get("role") in ("user", "assistant"):
            role = "user" if item["role"] == "user" else "assistant"
            items.append(Said(role, _text(item.get("content"))))
        elif kind == "function_call":
            items.append(Called(item["call_id"], item["name"], json.loads(item["arguments"] or "{}")))
        elif kind == "function_call_output":
            items.append(Returned(item["call_id"], _text(item.get("output"))))
    return items


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    parts = cast("list[dict[str, Any]]", content or [])
    return "".join(str(part.get("text") or "") for part in parts)


def make_agent(tools: ToolRegistry, plan: Planner, model_name: str | None) -> Agent[Any]:
    """Make the agent; ``model_name`` is a real model, empty for the default one of the SDK."""
    model: Any = OfflineModel(plan) if model_name is None else model_name or None
    return Agent(
        name="trunkline-finance",
        instructions=INSTRUCTIONS,
        model=model,
        tools=cast("list[Any]", tools.for_openai()),
    )
