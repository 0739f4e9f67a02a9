"""Messages both ways: a conversation as AG-UI's history, and what a client sends as ours."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, cast

import msgspec

from trunkline import content as c
from trunkline import events as ev
from trunkline.conversation import Call, CallPart, Conversation, Message, TextPart, ThoughtPart
from trunkline.frontends.agui import wire
from trunkline.frontends.agui.results import part_of, result_content, shorten

__all__ = ["content_of", "history_events", "snapshot_of"]

_MEDIA: dict[str, Any] = {"image": c.ImageBlock, "audio": c.AudioBlock, "video": c.VideoBlock}
_ANY_MIME = {"image": "image/*", "audio": "audio/*", "video": "video/*"}


# -- ours to theirs --------------------------------------------------------------------------------


def snapshot_of(conversation: Conversation, limit: int = 0, *, modern: bool = True) -> list[dict[str, Any]]:
    """Give a conversation as the messages a client holds after it followed every run."""
    told: list[dict[str, Any]] = []
    for message in conversation.messages:
        if message.lane is not None and not modern:
            continue
        if message.role == "user":
            told.append(_user(message))
        else:
            told += _agent(message, conversation, limit, modern=modern)
    return told


def _user(message: Message) -> dict[str, Any]:
    if all(isinstance(block, c.TextBlock) for block in message.content):
        content: Any = c.text_of(message.content)
    else:
        content = [part for block in message.content if (part := part_of(block)) is not None]
    return {"id": message.message_id, "role": "user", "content": content}


def _agent(message: Message, conversation: Conversation, limit: int, *, modern: bool) -> list[dict[str, Any]]:
    owner = {"subagentRunId": message.lane} if message.lane is not None else {}
    before: list[dict[str, Any]] = []
    calls: list[Call] = []
    texts: list[str] = []
    number = 0
    for part in message.parts:
        if isinstance(part, TextPart):
            texts.append(part.text)
        elif isinstance(part, ThoughtPart):
            number += 1
            thought = {
                "id": f"{message.message_id}:reasoning:{number}",
                "role": "reasoning",
                "content": part.text,
            }
            if part.signature is not None:
                thought["encryptedValue"] = part.signature
            before.append({**thought, **owner})
        elif isinstance(part, CallPart) and part.call_id in conversation.calls:
            calls.append(conversation.calls[part.call_id])
    told: dict[str, Any] = {"id": message.message_id, "role": "assistant", **owner}
    if texts:
        told["content"] = "".join(texts)
    if calls:
        told["toolCalls"] = [_call(call) for call in calls]
    results = [_result(call, limit, owner, modern=modern) for call in calls if _is_told(call)]
    return [*before, *([told] if texts or calls else []), *results]


def _call(call: Call) -> dict[str, Any]:
    text = call.arguments
    if not text and call.input is not None:
        text = call.input if isinstance(call.input, str) else wire.encode(call.input).decode()
    return {"id": call.call_id, "type": "function", "function": {"name": call.name, "arguments": text}}


def _is_told(call: Call) -> bool:
    return call.status in ev.FINAL_STATUSES


def _result(call: Call, limit: int, owner: dict[str, Any], *, modern: bool) -> dict[str, Any]:
    content = result_content(call.content, call.raw_output, call.output, call.reason)
    content, facts = shorten(content, limit)
    told: dict[str, Any] = {
        "id": call.result_message_id or f"{call.call_id}:result",
        "role": "tool",
        "toolCallId": call.call_id,
        "content": content,
        **owner,
    }
    if call.status != "completed":
        told["error"] = call.reason or call.status
    if facts and modern:
        told["metadata"] = {"trunkline": facts}
    return told


# -- theirs to ours --------------------------------------------------------------------------------


def content_of(content: Any) -> tuple[c.Content, ...]:
    """Read a message's content; a part that is not known is passed over."""
    if content is None:
        return ()
    if isinstance(content, str):
        return (c.TextBlock(text=content),)
    if not isinstance(content, list):
        return ()
    blocks = [_block(part) for part in cast("list[Any]", content)]
    return tuple(block for block in blocks if block is not None)


def _block(part: Any) -> c.Content | None:
    if not isinstance(part, dict):
        return None
    told = cast("dict[str, Any]", part)
    kind: Any = told.get("type")
    if kind == "text":
        return c.TextBlock(text=str(told.get("text", "")))
    if kind == "binary":
        # A client of before 1.0.
        kind = str(told.get("mimeType", "")).partition("/")[0]
        kind = kind if kind in _MEDIA else "document"
        source: dict[str, Any] = {
            "type": "data" if told.get("data") else "url",
            "value": told.get("data") or told.get("url") or told.get("id"),
            "mimeType": told.get("mimeType"),
        }
    else:
        source = cast("dict[str, Any]", told.get("source") or {})
    value, mime = source.get("value"), source.get("mimeType")
    if not isinstance(value, str) or not value:
        return None
    inline = source.get("type") == "data"
    if kind in _MEDIA:
        place = {"data": value} if inline else {"url": value}
        return _MEDIA[kind](mime_type=mime or _ANY_MIME[kind], **place)
    if kind == "document":
        name = str(cast("dict[str, Any]", told.get("metadata") or {}).get("filename") or "document")
        if inline:
            return c.ResourceBlock(uri=f"file:{name}", data=value, mime_type=mime)
        return c.LinkBlock(uri=value, name=name, mime_type=mime)
    return None


def history_events(messages: Sequence[wire.Message]) -> list[ev.Event]:
    """Take over a client's history: the person's words, the agent's text, and answered calls.

    System messages are not the client's to give, and a call without an answer never happened.
    """
    answers = {message.tool_call_id: message for message in messages if message.role == "tool"}
    told: list[ev.Event] = []
    for message in messages:
        if message.subagent_run_id is not None:
            continue
        if message.role == "user":
            told.append(ev.UserMessage(message_id=message.id, content=content_of(message.content)))
        elif message.role == "assistant":
            if isinstance(message.content, str) and message.content:
                told.append(ev.Text(message_id=message.id, delta=message.content))
            told += _answered_calls(message, answers)
    return told


def _answered_calls(message: wire.Message, answers: dict[str | None, wire.Message]) -> Iterable[ev.Event]:
    for call in message.tool_calls or ():
        function = cast("dict[str, Any]", call.get("function") or {})
        call_id = call.get("id")
        answer = answers.get(call_id)
        if not isinstance(call_id, str) or answer is None:
            continue
        name = str(function.get("name") or "tool")
        yield ev.ToolCall(call_id=call_id, name=name, message_id=message.id, native_id=call_id)
        arguments = function.get("arguments")
        if isinstance(arguments, str) and arguments:
            yield ev.ToolInput(call_id=call_id, delta=arguments)
        content = content_of(answer.content)
        yield ev.ToolUpdate(
            call_id=call_id,
            status="failed" if answer.error else "completed",
            input=_parsed(arguments),
            content=content,
            raw_output=answer.content,
            reason=answer.error,
            result_message_id=answer.id,
        )


def _parsed(arguments: Any) -> Any:
    try:
        return msgspec.json.decode(arguments) if isinstance(arguments, str) else None
    except msgspec.DecodeError:
        return None
