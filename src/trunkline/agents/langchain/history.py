"""History: our conversation as LangChain's messages, and what a thread still owes its model."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from trunkline.agents.langchain.content import ContentBlockMapper
from trunkline.conversation import Call, CallPart, Conversation, MediaPart, TextPart

__all__ = ["messages_of", "unanswered_calls"]


def messages_of(conversation: Conversation, mapper: ContentBlockMapper) -> list[Any]:
    """Give the conversation of the agent itself; subagents keep their own to themselves."""
    from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

    told: list[Any] = []
    for message in conversation.messages:
        if message.lane is not None:
            continue
        if message.role == "user":
            content: Any = mapper.message_content(message.content)
            told.append(HumanMessage(content=content, id=message.message_id))
            continue
        blocks: list[Any] = []
        calls: list[Call] = []
        for part in message.parts:
            if isinstance(part, TextPart):
                blocks.append({"type": "text", "text": part.text})
            elif isinstance(part, MediaPart):
                blocks.append(mapper.from_neutral(part.content))
            elif isinstance(part, CallPart) and part.call_id in conversation.calls:
                calls.append(conversation.calls[part.call_id])
        plain = all(block["type"] == "text" for block in blocks)
        told.append(
            AIMessage(
                content="".join(block["text"] for block in blocks) if plain else blocks,
                id=message.message_id,
                tool_calls=[
                    {"id": call.native_id or call.call_id, "name": call.name, "args": _args(call)}
                    for call in calls
                ],
            )
        )
        for call in calls:
            told.append(
                ToolMessage(
                    content=_result(call),
                    tool_call_id=call.native_id or call.call_id,
                    name=call.name,
                    status="success" if call.status == "completed" else "error",
                    id=call.result_message_id,
                )
            )
    return told


def _args(call: Call) -> dict[str, Any]:
    if isinstance(call.input, dict):
        return call.input
    try:
        parsed = msgspec.json.decode(call.arguments or "{}")
    except msgspec.DecodeError:
        return {}
    return parsed if isinstance(parsed, dict) else {}


def _result(call: Call) -> str:
    if isinstance(call.raw_output, str):
        return call.raw_output
    if call.raw_output is not None:
        return msgspec.json.encode(call.raw_output).decode()
    return call.output or call.reason or ""


def unanswered_calls(messages: Iterable[Any]) -> list[dict[str, Any]]:
    """The tool calls of the last answer that nobody answered."""
    answered: set[str] = set()
    for message in reversed(list(messages)):
        if message.type == "tool":
            answered.add(message.tool_call_id)
        elif message.type == "ai":
            return [call for call in message.tool_calls if call["id"] not in answered]
    return []
