"""Our conversation as the input items of the Responses API, which every model of the SDK takes.

Providers are strict: every call must have its output, and an item of another response must not have an id of
its own. So items are made without ids, each output right behind its call, and reasoning is left out: a
provider accepts only what it signed, in the turn that it was made in.
"""

from __future__ import annotations

import mimetypes
from collections.abc import Iterable, Sequence
from typing import Any, cast

import msgspec

from trunkline.content import (
    AudioBlock,
    Content,
    DiffBlock,
    ImageBlock,
    LinkBlock,
    ResourceBlock,
    TerminalBlock,
    TextBlock,
    VideoBlock,
    text_of,
)
from trunkline.conversation import Call, CallPart, Conversation, MediaPart, Message, TextPart

Item = dict[str, Any]

UNANSWERED = "This call was cancelled before it was answered."
_REFUSED = frozenset({"input_refused", "context_overflow"})
"""The codes of a turn whose attachments would be refused again."""
_CLAIMED_ANSWER = "(The client says that you said this. It is not verified.)\n"
_CLAIMED_RESULT = "(The client says that this was the result. It is not verified.)\n"
_AUDIO_FORMATS = {"audio/wav": "wav", "audio/x-wav": "wav", "audio/mpeg": "mp3", "audio/mp3": "mp3"}


def user_item(content: Sequence[Content], *, as_text: bool = False) -> Item:
    """Give a prompt as an input item; with ``as_text`` its attachments are named only."""
    parts = [
        {"type": "input_text", "text": name_of(block)} if as_text else part_of(block) for block in content
    ]
    if all(part["type"] == "input_text" for part in parts):
        return {"role": "user", "content": "\n".join(part["text"] for part in parts)}
    return {"role": "user", "content": parts}


def part_of(block: Content) -> Item:
    """Give a block as a part of a user's message."""
    if isinstance(block, ImageBlock) and (url := _url_of(block)) is not None:
        return {"type": "input_image", "image_url": url, "detail": "auto"}
    if isinstance(block, AudioBlock) and block.data is not None and block.mime_type in _AUDIO_FORMATS:
        audio = {"data": block.data, "format": _AUDIO_FORMATS[block.mime_type]}
        return {"type": "input_audio", "input_audio": audio}
    if isinstance(block, ResourceBlock) and block.data is not None:
        mime = block.mime_type or mimetypes.guess_type(block.uri)[0] or "application/octet-stream"
        url = f"data:{mime};base64,{block.data}"
        if mime.startswith("image/"):
            return {"type": "input_image", "image_url": url, "detail": "auto"}
        return {"type": "input_file", "file_data": url, "filename": _file_name(block.uri)}
    return {"type": "input_text", "text": name_of(block)}


def name_of(block: Content) -> str:
    """Give a block as text that a model can read: its text, or what it is and where."""
    match block:
        case TextBlock():
            return block.text
        case LinkBlock():
            return f"[{block.title or block.name}]({block.uri})"
        case ResourceBlock(text=str(text)):
            return f"<resource uri={block.uri!r}>\n{text}\n</resource>"
        case ResourceBlock():
            return f"[{_file_name(block.uri)}]"
        case ImageBlock() | AudioBlock() | VideoBlock():
            return f"[{block.mime_type}: {block.url if block.url else 'it cannot be shown here'}]"
        case _:
            return text_of((block,))


def _url_of(block: ImageBlock) -> str | None:
    if block.data is not None:
        return f"data:{block.mime_type};base64,{block.data}"
    return block.url if (block.url or "").startswith(("http:", "https:", "data:")) else None


def _file_name(uri: str) -> str:
    return uri.rpartition("/")[2] or "file"


# -- a conversation ----------------------------------------------------------------------------------------


def items_of(conversation: Conversation) -> list[Item]:
    """Give what the person and the agent itself said and did, without the lanes of other agents."""
    refused = {turn.turn_id for turn in conversation.turns if turn.code in _REFUSED}
    items: list[Item] = []
    placed: set[str] = set()
    loose = conversation.calls_without_message()
    for message in conversation.messages:
        if message.role == "user" and message.lane is None:
            items.append(user_item(message.content, as_text=message.turn_id in refused))
        elif message.lane is None:
            items += _answer(message, conversation, placed)
        for call in loose.get(message.message_id, ()):
            if call.lane is None:
                items += _call(call, placed)
    return items


def _answer(message: Message, conversation: Conversation, placed: set[str]) -> list[Item]:
    items: list[Item] = []
    texts: list[str] = []

    def end_text() -> None:
        text = "".join(texts)
        texts.clear()
        if text.strip():
            claim = "" if message.trusted else _CLAIMED_ANSWER
            items.append({"role": "assistant", "content": f"{claim}{text}"})

    for part in message.parts:
        if isinstance(part, TextPart):
            texts.append(part.text)
        elif isinstance(part, MediaPart):
            texts.append(f"\n{name_of(part.content)}\n")
        elif isinstance(part, CallPart) and part.call_id in conversation.calls:
            end_text()
            items += _call(conversation.calls[part.call_id], placed)
    end_text()
    return items


def _call(call: Call, placed: set[str]) -> list[Item]:
    """Give a call and its output; one without an output gets one that says so."""
    if call.call_id in placed:
        return []
    placed.add(call.call_id)
    native_id = (call.native_id or call.call_id)[:64]
    claim = "" if call.trusted else _CLAIMED_RESULT
    output = output_of(call)
    return [
        {
            "type": "function_call",
            "call_id": native_id,
            "name": _tool_name(call.name),
            "arguments": _arguments(call),
        },
        {
            "type": "function_call_output",
            "call_id": native_id,
            "output": f"{claim}{output}" if isinstance(output, str) else output,
        },
    ]


def _tool_name(name: str) -> str:
    """A name that providers accept: hosted tools are shown under other names."""
    return "".join(char if char.isalnum() or char in "_-" else "_" for char in name)[:64] or "tool"


def _arguments(call: Call) -> str:
    if call.input is not None:
        return msgspec.json.encode(_as_object(call.input)).decode()
    try:
        read: Any = msgspec.json.decode(call.arguments or "{}")
    except msgspec.DecodeError:
        return "{}"  # Cut off in the middle.
    return call.arguments if call.arguments and isinstance(read, dict) else "{}"


def _as_object(value: Any) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {"input": value}


def output_of(call: Call) -> str | list[Item]:
    """What the model reads of a call's result, or why there is none."""
    done = call.status == "completed"
    raw: Any = call.raw_output
    if isinstance(raw, str) and raw:
        return raw
    if done and isinstance(raw, dict) and "type" not in raw:
        # A registered tool may show people less than the model reads: a table instead of the whole document.
        return msgspec.json.encode(raw).decode()
    shown = [block for block in call.content if not isinstance(block, DiffBlock | TerminalBlock)]
    if any(isinstance(block, ImageBlock) for block in shown):
        return [part_of(block) for block in shown]
    text = "\n".join(_texts(shown)) or call.output
    if not text and raw is not None:
        text = msgspec.json.encode(raw).decode()
    return text or ("" if done else call.reason or UNANSWERED)


def _texts(blocks: Iterable[Content]) -> list[str]:
    return [text for block in blocks if (text := name_of(block))]
