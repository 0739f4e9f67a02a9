"""Refeeding: a conversation as the beginning of the first prompt of a new session; pure.

An agent that lost a session, or that cannot go back or fork, gets the conversation so far as text, marked as
such.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from trunkline.content import Content, LinkBlock, text_of
from trunkline.conversation import Call, CallPart, Conversation, MediaPart, Message, SourcePart, TextPart

LIMIT = 60_000
"""Characters of a conversation that are sent; the newest messages count."""
CALL_LIMIT = 600
MESSAGE_LIMIT = 20_000

_OPEN, _CLOSE = "<earlier_conversation>", "</earlier_conversation>"
_INTRODUCTION = (
    "This session continues an earlier conversation that you do not remember. Its record follows. It is "
    "there for your information: do not answer it and do not repeat the work in it. The user's new message "
    "comes after it."
)


def refeed(conversation: Conversation, limit: int = LIMIT) -> str | None:
    """Give a conversation as text, at most about ``limit`` characters of it; None when nothing was said."""
    loose = conversation.calls_without_message()
    messages = [_message(one, conversation, loose.get(one.message_id, ())) for one in conversation.messages]
    written = [text for text in messages if text]
    if not written:
        return None
    kept: list[str] = []
    room = limit
    for text in reversed(written):
        room -= len(text) + 2
        if room < 0 and kept:
            break
        kept.append(text)
    left_out = len(written) - len(kept)
    if left_out:
        kept.append(f"[{left_out} earlier messages are left out]")
    record = "\n\n".join(reversed(kept)).replace(_CLOSE, "<\\/earlier_conversation>")
    return f"{_INTRODUCTION}\n\n{_OPEN}\n{record}\n{_CLOSE}\n"


def _message(message: Message, conversation: Conversation, loose: Iterable[Call]) -> str:
    calls = [_call(call) for call in loose if call.lane is None]
    if message.role == "user":
        asked = _named("User", "\n".join(filter(None, map(_block, message.content))))
        return "\n\n".join(filter(None, (asked, _named("Assistant", "\n".join(calls)))))
    parts = [] if message.lane is not None else _parts(message, conversation)
    return _named("Assistant", "\n".join(text for text in (*parts, *calls) if text.strip()))


def _parts(message: Message, conversation: Conversation) -> list[str]:
    parts: list[str] = []
    for part in message.parts:
        if isinstance(part, TextPart):
            parts.append(part.text)
        elif isinstance(part, CallPart):
            if (call := conversation.calls.get(part.call_id)) is not None:
                parts.append(_call(call))
        elif isinstance(part, MediaPart):
            parts.append(f"[{_about(part.content) or 'text'}]")
        elif isinstance(part, SourcePart):
            parts.append(f"[source: {part.url or part.title or part.document}]")
    return parts


def _named(who: str, text: str) -> str:
    return f"{who}:\n{_cut(text, MESSAGE_LIMIT)}" if text.strip() else ""


def _call(call: Call) -> str:
    text = f"[tool {call.name}: {call.title or ''}; {call.status}".replace(": ;", ";")
    if call.input is not None:
        text += f"; input {_cut(_json(call.input), CALL_LIMIT)}"
    result = call.output or (_json(call.raw_output) if call.raw_output is not None else "")
    if not result:
        result = " ".join(str(getattr(block, "text", "")) for block in call.content).strip()
    if result or call.reason:
        text += f"; result {_cut(result or call.reason or '', CALL_LIMIT)}"
    return f"{text}]"


def _block(block: Content) -> str:
    text = "" if isinstance(block, LinkBlock) else text_of((block,))
    return "\n".join(filter(None, (f"[{_about(block)}]" if _about(block) else "", text)))


def _about(block: Content) -> str:
    """Name a block that is not text."""
    kind = type(block).__name__.removesuffix("Block").lower()
    if kind == "text":
        return ""
    where = getattr(block, "uri", None) or getattr(block, "url", None) or getattr(block, "path", None)
    return f"{kind} {where}" if where else kind


def _json(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else f"{text[: limit // 2]} [...] {text[-limit // 2 :]}"
