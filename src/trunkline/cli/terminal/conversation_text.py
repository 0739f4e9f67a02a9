"""A whole conversation for a person, as text for a terminal or as markdown for a file."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any

from trunkline.cli.terminal.event_lines import describe_plan, mark_of
from trunkline.content import text_of
from trunkline.conversation import (
    Call,
    CallPart,
    Conversation,
    MediaPart,
    Message,
    SourcePart,
    TextPart,
    ThoughtPart,
)
from trunkline.journal import SessionInfo
from trunkline.safe_text import escape, one_line


def as_text(info: SessionInfo, conversation: Conversation) -> str:
    """Give a conversation as safe, plain text."""
    shown = [one_line(info.title or "untitled"), f"{one_line(info.session_id)}  {one_line(info.target)}"]
    for message in conversation.messages:
        who = "you" if message.role == "user" else _speaker(message, conversation)
        shown.append(f"\n{who}:\n{escape(_body(message, conversation, _call_line)).strip()}")
    shown += _ends(conversation)
    return "\n".join(shown) + "\n"


def as_markdown(info: SessionInfo, conversation: Conversation) -> str:
    """Give a conversation as a markdown document."""
    shown = [
        f"# {one_line(info.title or 'Untitled session')}",
        f"`{one_line(info.session_id)}` with `{one_line(info.target)}`",
    ]
    for message in conversation.messages:
        who = "You" if message.role == "user" else _speaker(message, conversation).capitalize()
        shown.append(f"## {who}\n\n{escape(_body(message, conversation, _call_block)).strip()}")
    shown += _ends(conversation)
    return "\n\n".join(shown) + "\n"


def _speaker(message: Message, conversation: Conversation) -> str:
    lane = conversation.lanes.get(message.lane or "")
    return one_line(lane.name or "subagent", 60) if lane is not None else "agent"


def _body(message: Message, conversation: Conversation, show_call: Callable[[Call], str]) -> str:
    if message.role == "user":
        return text_of(message.content)
    pieces: list[str] = []
    for part in message.parts:
        if isinstance(part, TextPart):
            pieces.append(part.text)
        elif isinstance(part, ThoughtPart):
            pieces.append("\n".join(f"> {line}" for line in part.text.splitlines()))
        elif isinstance(part, CallPart):
            call = conversation.calls.get(part.call_id)
            pieces.append(show_call(call) if call is not None else "")
        elif isinstance(part, SourcePart):
            pieces.append(f"Source: {part.title or ''} {part.url or part.document or ''}")
        else:
            pieces.append(_media(part))
    return "\n\n".join(piece.strip("\n") for piece in pieces if piece.strip())


def _media(part: MediaPart) -> str:
    block: Any = part.content
    kind = type(block).__name__.removesuffix("Block").lower()
    return f"[{kind} {getattr(block, 'uri', None) or getattr(block, 'mime_type', '')}]"


def _call_line(call: Call) -> str:
    reason = f": {one_line(call.reason)}" if call.reason else ""
    return f"{mark_of(call.status)} {one_line(call.title or call.name)} ({call.status}){reason}"


def _call_block(call: Call) -> str:
    given = call.arguments if call.input is None else json.dumps(call.input, ensure_ascii=False, default=str)
    body = "\n".join(text.strip("\n") for text in (given, call.output) if text)
    # A fence longer than any inside keeps the output from ending its own block.
    fence = "```"
    while fence in body:
        fence += "`"
    return f"**{_call_line(call)}**" + (f"\n\n{fence}\n{body}\n{fence}" if body else "")


def _ends(conversation: Conversation) -> Iterable[str]:
    if conversation.plan:
        yield f"\n{describe_plan(conversation.plan)}"
    if conversation.turns and conversation.turns[-1].status == "failed":
        yield f"\nfailed: {one_line(conversation.turns[-1].message or '', 1000)}"
