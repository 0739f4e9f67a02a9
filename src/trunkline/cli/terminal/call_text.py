"""What a terminal shows of a tool call: its title, what it was given and what came of it, as lines."""

from __future__ import annotations

import json

from trunkline.cli.terminal.approval_text import Line, lines_of_change
from trunkline.content import DiffBlock, TerminalBlock, TextBlock
from trunkline.conversation import Call, Conversation
from trunkline.exports.status_marks import mark_of, title_of
from trunkline.safe_text import escape, escape_but_colours, one_line

COLOURED = "coloured"
"""The style of a line of command output, whose own colours are still in it."""

_CARD_LINES = 12
_CHANGE_LINES = 40


def card_title(call: Call) -> str:
    """Give the line above what a call gave: a word for how it ended, unless it is the usual one."""
    word = "" if call.status == "completed" else f" ({one_line(call.status, 60).replace('_', ' ')})"
    return f"{mark_of(call.status)} {title_of(call.title or call.name, 100)}{word}"


def card_lines(call: Call, conversation: Conversation) -> list[str]:
    """Give what a call was given and gave, cut to what a person can look over."""
    lines = [*_given(call), *_output(call, conversation)]
    # The result of a refused call is often the reason itself.
    if call.reason and "\n".join(escape(call.reason).splitlines()) not in "\n".join(lines):
        lines.append(one_line(call.reason))
    limit = _CHANGE_LINES if any(isinstance(block, DiffBlock) for block in call.content) else _CARD_LINES
    more = len(lines) - limit
    if more > 1:  # The line that says so would take the place of a single one.
        lines = [*lines[:limit], f"… {more} more lines"]
    return lines


def _given(call: Call) -> list[str]:
    if call.input == {}:
        return []
    if call.input is not None:
        return [one_line(json.dumps(call.input, ensure_ascii=False, default=str))]
    return [one_line(call.arguments)] if call.arguments else []


def _output(call: Call, conversation: Conversation) -> list[str]:
    lines: list[str] = _coloured(call.output)
    for block in call.content:
        if isinstance(block, TextBlock):
            # The frame is a fence already.
            lines += [line for line in _coloured(block.text) if not line.startswith("```")]
        elif isinstance(block, DiffBlock):
            lines += lines_of_change(block)
        elif isinstance(block, TerminalBlock) and block.terminal_id in conversation.terminals:
            lines += _coloured(conversation.terminals[block.terminal_id].data)
    return lines


def _coloured(text: str) -> list[str]:
    return [Line.of(line, COLOURED) for line in escape_but_colours(text).splitlines()]
