"""A whole conversation for a person, as text for a terminal or as markdown for a file."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from trunkline.content import Content, DiffBlock, ResourceBlock, TerminalBlock, TextBlock
from trunkline.conversation import (
    Call,
    CallPart,
    Conversation,
    Message,
    SourcePart,
    TextPart,
    ThoughtPart,
    TurnState,
)
from trunkline.exports.dates import describe_dates
from trunkline.exports.diff_lines import lines_of_change, word_of_change
from trunkline.exports.questions import AskedQuestions
from trunkline.exports.status_marks import describe_plan, mark_of, title_of
from trunkline.journal import SessionInfo
from trunkline.safe_text import escape, one_line


def as_text(info: SessionInfo, conversation: Conversation) -> str:
    """Give a conversation as safe, plain text."""
    shown = [one_line(info.title or "untitled"), f"{one_line(info.session_id)}  {one_line(info.target)}"]
    if dates := describe_dates(info):
        shown.append(dates)
    for who, body, ended in _sections(conversation, _call_lines):
        shown.append(f"\n{who}:\n{escape(body).strip()}")
        shown += [f"\n{ended}"] if ended else []
    shown += _plan(conversation)
    return "\n".join(shown) + "\n"


def as_markdown(info: SessionInfo, conversation: Conversation) -> str:
    """Give a conversation as a markdown document."""
    shown = [
        f"# {one_line(info.title or 'Untitled session')}",
        f"`{one_line(info.session_id)}` with `{one_line(info.target)}`",
    ]
    if dates := describe_dates(info):
        shown.append(dates[0].upper() + dates[1:])
    for who, body, ended in _sections(conversation, _call_block):
        shown.append(f"## {who.capitalize()}\n\n{escape(body).strip()}")
        shown += [f"*{ended}*"] if ended else []
    shown += _plan(conversation)
    return "\n\n".join(shown) + "\n"


_ShowCall = Callable[[Call, Conversation, AskedQuestions], str]


def _sections(conversation: Conversation, show_call: _ShowCall) -> Iterator[tuple[str, str, str]]:
    """Give who speaks, what is said, and how a turn ended whose last section it is, unless it ended well."""
    loose, questions = conversation.calls_without_message(), AskedQuestions(conversation)
    for message, is_last, ended in _with_ends(conversation):
        who = "you" if message.role == "user" else _speaker(message, conversation)
        body = _body(message, conversation, questions, show_call)
        more = [show_call(call, conversation, questions) for call in loose.get(message.message_id, ())]
        more += questions.of_turn(message.turn_id) if is_last else []
        if more and message.role == "user":
            yield who, body, ""
            yield "agent", "\n\n".join(more), ended
        else:
            yield who, "\n\n".join(filter(None, [body, *more])), ended


def _speaker(message: Message, conversation: Conversation) -> str:
    lane = conversation.lanes.get(message.lane or "")
    return one_line(lane.name or "subagent", 60) if lane is not None else "agent"


def _body(
    message: Message, conversation: Conversation, questions: AskedQuestions, show_call: _ShowCall
) -> str:
    if message.role == "user":
        return "\n\n".join(_block(block) for block in message.content)
    pieces: list[str] = []
    for part in message.parts:
        if isinstance(part, TextPart):
            pieces.append(part.text)
        elif isinstance(part, ThoughtPart):
            pieces.append("\n".join(f"> {line}" for line in part.text.splitlines()))
        elif isinstance(part, CallPart):
            call = conversation.calls.get(part.call_id)
            pieces.append(show_call(call, conversation, questions) if call is not None else "")
        elif isinstance(part, SourcePart):
            pieces.append(f"Source: {part.title or ''} {part.url or part.document or ''}")
        else:
            pieces.append(_block(part.content))
    return "\n\n".join(piece.strip("\n") for piece in pieces if piece.strip())


def _block(block: Content) -> str:
    if isinstance(block, TextBlock):
        return block.text
    if isinstance(block, ResourceBlock) and block.text is not None:
        return f"[resource {one_line(block.uri)}]\n{_fenced(block.text)}"
    kind = type(block).__name__.removesuffix("Block").lower()
    what: Any = getattr(block, "uri", None) or getattr(block, "path", None) or getattr(block, "mime_type", "")
    return f"[{kind} {one_line(what)}]"


def _call_line(call: Call) -> str:
    reason = f": {one_line(call.reason)}" if call.reason else ""
    return f"{mark_of(call.status)} {title_of(call.title or call.name)} ({call.status}){reason}"


def _call_lines(call: Call, conversation: Conversation, questions: AskedQuestions) -> str:
    return "\n".join([_call_line(call), *questions.of_call(call.call_id)])


def _call_block(call: Call, conversation: Conversation, questions: AskedQuestions) -> str:
    given = call.arguments if call.input is None else json.dumps(call.input, ensure_ascii=False, default=str)
    body = "\n".join(text.strip("\n") for text in (given, call.output) if text)
    pieces = [f"**{_call_line(call)}**", _fenced(body) if body else ""]
    pieces += [_result(block, conversation) for block in call.content]
    pieces += questions.of_call(call.call_id)
    return "\n\n".join(filter(None, pieces))


def _result(block: Content, conversation: Conversation) -> str:
    if isinstance(block, DiffBlock):
        changed = "\n".join(lines_of_change(block))
        head = f"`{one_line(block.path)}` ({word_of_change(block)})"
        return f"{head}\n\n{_fenced(changed, 'diff')}" if changed else head
    if isinstance(block, TerminalBlock) and block.terminal_id in conversation.terminals:
        text = conversation.terminals[block.terminal_id].data.strip("\n")
        return _fenced(text) if text else ""
    # A result is no part of the document: its headings are not those of the conversation.
    return _fenced(block.text.strip("\n")) if isinstance(block, TextBlock) else _block(block)


def _fenced(text: str, language: str = "") -> str:
    # A fence longer than any inside keeps the text from ending its own block.
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", text)), default=0))
    return f"{fence}{language}\n{text}\n{fence}"


def _with_ends(conversation: Conversation) -> Iterator[tuple[Message, bool, str]]:
    """Give each message, whether it is the last one of its turn, and how that ended then, unless well."""
    ends = {turn.turn_id: _end(turn) for turn in conversation.turns}
    last = {message.turn_id: index for index, message in enumerate(conversation.messages)}
    for index, message in enumerate(conversation.messages):
        turn_id = message.turn_id
        is_last = last[turn_id] == index
        yield message, is_last, ends.get(turn_id or "", "") if is_last else ""


def _end(turn: TurnState) -> str:
    if turn.status == "failed":
        word = "interrupted" if turn.code == "interrupted" else "failed"
        return f"{word}: {one_line(turn.message or '', 1000)}"
    if turn.status == "finished":
        stopped = turn.stop_reason or "end_turn"
        return "" if stopped == "end_turn" else one_line(stopped.replace("_", " "), 60)
    return "waits for an answer" if turn.status == "suspended" else "not finished"


def _plan(conversation: Conversation) -> Iterable[str]:
    if conversation.plan:
        yield f"\n{describe_plan(conversation.plan)}"
