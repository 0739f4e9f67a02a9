"""A conversation as one HTML file: no script, nothing from elsewhere, and every word of it escaped."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from html import escape

from trunkline.content import (
    Content,
    DiffBlock,
    ImageBlock,
    LinkBlock,
    ResourceBlock,
    TerminalBlock,
    TextBlock,
)
from trunkline.conversation import (
    Call,
    CallPart,
    Conversation,
    MediaPart,
    Message,
    SourcePart,
    TextPart,
    ThoughtPart,
    TurnState,
)
from trunkline.exports.dates import describe_dates
from trunkline.exports.diff_lines import lines_of_change, word_of_change
from trunkline.exports.markdown_html import markdown_html, show_controls
from trunkline.exports.questions import AskedQuestions
from trunkline.exports.status_marks import mark_of, title_of
from trunkline.journal import SessionInfo

_IMAGES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
_BASE64 = re.compile(r"[A-Za-z0-9+/=\s]+")

_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
_STYLE = """
:root { color-scheme: light dark; --line: #8886; --soft: #8882; --add: #2a72; --remove: #c332; }
body { font: 16px/1.5 system-ui, sans-serif; margin: 0 auto; max-width: 48rem; padding: 1.5rem 1rem; }
body { overflow-wrap: anywhere; }
header { border-bottom: 1px solid var(--line); margin-bottom: 1.5rem; }
h1 { font-size: 1.4rem; margin: 0; }
header p, .about { color: GrayText; font-size: .85rem; margin: .3rem 0 1rem; }
article { margin: 1.2rem 0; }
article.user { background: var(--soft); border-radius: .6rem; padding: .6rem 1rem; }
h2 { color: GrayText; font-size: .8rem; font-weight: 600; margin: 0 0 .3rem; }
.text, pre { margin: .4rem 0; white-space: pre-wrap; }
pre { background: var(--soft); border-radius: .4rem; padding: .6rem; }
pre { font: .85rem/1.45 ui-monospace, monospace; }
details { border: 1px solid var(--line); border-radius: .5rem; margin: .5rem 0; padding: .3rem .8rem; }
summary { cursor: pointer; }
ins { background: var(--add); text-decoration: none; }
del { background: var(--remove); text-decoration: none; }
.said > :first-child { margin-top: .4rem; }
.said code { font: .9em ui-monospace, monospace; }
.said h3, .said h4, .said h5, .said h6 { font-size: 1.05rem; margin: 1rem 0 .4rem; }
table { border-collapse: collapse; margin: .6rem 0; }
th, td { border: 1px solid var(--line); padding: .25rem .6rem; text-align: start; }
blockquote { border-inline-start: 3px solid var(--line); color: GrayText; margin: .6rem 0; }
blockquote { padding-inline-start: .8rem; }
img { height: auto; max-width: 100%; }
.failed { color: #c33; }
"""


def as_html(info: SessionInfo, conversation: Conversation) -> str:
    """Give a conversation as an HTML document."""
    title = _words(info.title or "Untitled session")
    dates = describe_dates(info)
    about = f"{_words(info.session_id)} with {_words(info.target)}" + (f", {dates}" if dates else "")
    head = (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{escape(_POLICY)}">'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{title}</title><style>{_STYLE}</style></head><body>"
        f"<header><h1>{title}</h1><p>{about}</p></header><main>"
    )
    ends = {turn.turn_id: turn for turn in conversation.turns}
    shown: list[str] = []
    loose, questions = conversation.calls_without_message(), AskedQuestions(conversation)
    last = {message.turn_id: index for index, message in enumerate(conversation.messages)}
    for index, message in enumerate(conversation.messages):
        shown.append(_message(message, conversation, questions, loose.get(message.message_id, ())))
        if message.turn_id in ends and last[message.turn_id] == index:
            shown += _asked(questions.of_turn(message.turn_id))
            shown.append(_end(ends[message.turn_id]))
    shown += _plan(conversation)
    return "\n".join([head, *filter(None, shown), "</main></body></html>"]) + "\n"


def _message(
    message: Message, conversation: Conversation, questions: AskedQuestions, loose: Iterable[Call]
) -> str:
    calls = "".join(_call(call, conversation, questions) for call in loose)
    if message.role == "user":
        article = f'<article class="user"><h2>You</h2>{_blocks(message.content)}</article>'
        return f'{article}\n<article class="agent"><h2>Agent</h2>{calls}</article>' if calls else article
    lane = conversation.lanes.get(message.lane or "")
    who = _words(lane.name or "subagent") if lane is not None else "Agent"
    parts: list[str] = []
    for part in message.parts:
        if isinstance(part, TextPart):
            parts.append(_said(part.text))
        elif isinstance(part, ThoughtPart):
            parts.append(f"<details><summary>Thought</summary>{_said(part.text)}</details>")
        elif isinstance(part, CallPart):
            call = conversation.calls.get(part.call_id)
            parts.append(_call(call, conversation, questions) if call is not None else "")
        elif isinstance(part, SourcePart):
            where = f"{part.title or ''} {part.url or part.document or ''}"
            parts.append(f'<p class="about">Source: {_words(where)}</p>')
        else:
            parts.append(_media(part))
    return f'<article class="agent"><h2>{who}</h2>{"".join(parts)}{calls}</article>'


def _call(call: Call, conversation: Conversation, questions: AskedQuestions) -> str:
    reason = f": {_words(call.reason)}" if call.reason else ""
    line = (
        f"{mark_of(call.status)} {_words(title_of(call.title or call.name))} ({_words(call.status)}){reason}"
    )
    given = call.arguments if call.input is None else json.dumps(call.input, ensure_ascii=False, default=str)
    body = "".join(f"<pre>{_words(text)}</pre>" for text in (given, call.output) if text)
    body += "".join(_result(block, conversation) for block in call.content)
    asked = "".join(_asked(questions.of_call(call.call_id)))
    return f"<details><summary>{line}</summary>{body}</details>{asked}"


def _result(block: Content, conversation: Conversation) -> str:
    if isinstance(block, TerminalBlock) and block.terminal_id in conversation.terminals:
        text = conversation.terminals[block.terminal_id].data
        return f"<pre>{_words(text)}</pre>" if text else ""
    return _block(block)


def _asked(questions: Iterable[str]) -> list[str]:
    return [f'<p class="about">{_words(line)}</p>' for line in questions]


def _blocks(content: Iterable[Content]) -> str:
    return "".join(map(_block, content))


def _block(block: Content) -> str:
    if isinstance(block, TextBlock):
        return _text(block.text)
    if isinstance(block, ImageBlock) and block.mime_type in _IMAGES and _BASE64.fullmatch(block.data or ""):
        data = "".join((block.data or "").split())
        return f'<p><img alt="Image" src="data:{block.mime_type};base64,{data}"></p>'
    if isinstance(block, DiffBlock):
        return _diff(block)
    if isinstance(block, LinkBlock):
        return f'<p class="about">{_words(block.title or block.name)} {_words(block.uri)}</p>'
    if isinstance(block, ResourceBlock) and block.text is not None:
        return f"<details><summary>{_words(block.uri)}</summary><pre>{_words(block.text)}</pre></details>"
    what = getattr(block, "uri", None) or getattr(block, "mime_type", None) or ""
    kind = type(block).__name__.removesuffix("Block").lower()
    return f'<p class="about">[{_words(f"{kind} {what}".strip())}]</p>'


def _media(part: MediaPart) -> str:
    return _block(part.content)


def _diff(block: DiffBlock) -> str:
    """Show a change of a file line by line; of a very long one, the beginning."""
    lines: list[str] = []
    for line in lines_of_change(block):
        kind = {"+": "ins", "-": "del"}.get(line[:1])
        lines.append(f"<{kind}>{_words(line)}</{kind}>" if kind else _words(line))
    head = f'<p class="about">{_words(block.path)} ({word_of_change(block)})</p>'
    whole = "\n".join(lines)
    return f"{head}<pre>{whole}</pre>" if lines else head


def _end(turn: TurnState) -> str:
    if turn.status == "failed":
        return f'<p class="failed">Failed: {_words(turn.message or turn.code or "")}</p>'
    if turn.status == "suspended":
        return '<p class="about">Waits for an answer</p>'
    if turn.stop_reason in (None, "end_turn"):
        return ""
    return f'<p class="about">Stopped: {_words(turn.stop_reason.replace("_", " "))}</p>'


def _plan(conversation: Conversation) -> list[str]:
    if not conversation.plan:
        return []
    entries = "".join(f"<li>{mark_of(one.status)} {_words(one.content)}</li>" for one in conversation.plan)
    return [f"<h2>Plan</h2><ul>{entries}</ul>"]


def _said(text: str) -> str:
    return markdown_html(text) if text.strip() else ""


def _text(text: str) -> str:
    return f'<div class="text">{_words(text)}</div>' if text.strip() else ""


def _words(text: str) -> str:
    """Escape a text; a control character that a browser could act on is shown."""
    return escape(show_controls(text))
