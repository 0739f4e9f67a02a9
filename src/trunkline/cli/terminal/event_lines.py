"""Events as lines for a person: everything but the text of the answer."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, ClassVar

from trunkline import events as ev
from trunkline.content import LinkBlock, ResourceBlock
from trunkline.conversation import Conversation
from trunkline.exports.status_marks import describe_plan, mark_of, title_of
from trunkline.questions import ClientCall, Form, Link
from trunkline.safe_text import one_line, reveal, safe_title


def _word(word: str) -> str:
    """Give a word such as a status for a person; that of a foreign agent may be any text."""
    return one_line(word, 60).replace("_", " ")


class EventLines:
    """Describes the events of a turn; remembers the names of calls and lanes."""

    def __init__(self, conversation: Conversation | None = None) -> None:
        conversation = conversation or Conversation()
        self._titles = {
            call.call_id: title_of(call.title or call.name, 100) for call in conversation.calls.values()
        }
        self._lanes = {lane: one_line(state.name or lane, 40) for lane, state in conversation.lanes.items()}
        self._statuses: dict[str, str] = {}

    def describe(self, event: ev.AnyEvent) -> str | None:
        """Give the line for an event; None for events without one."""
        describe_event = self._describers.get(type(event))
        line = describe_event(self, event) if describe_event is not None else None
        if line is None or event.lane is None:
            return line
        return f"[{self._lanes.get(event.lane, one_line(event.lane, 40))}] {line}"

    def _call(self, event: ev.ToolCall) -> None:
        self._titles[event.call_id] = title_of(event.title or event.name, 100)

    def _update(self, event: ev.ToolUpdate) -> str | None:
        if event.title:
            self._titles[event.call_id] = title_of(event.title, 100)
        status = event.status
        if status in (None, "pending") or self._statuses.get(event.call_id) == status:
            return None
        self._statuses[event.call_id] = status
        reason = f": {one_line(event.reason)}" if event.reason else ""
        word = f" ({status})" if status in ("denied", "cancelled") else ""
        return (
            f"{mark_of(status)} {self._titles.get(event.call_id, one_line(event.call_id, 100))}{word}{reason}"
        )

    def _asked(self, event: ev.Asked) -> str:
        question = event.question
        about = safe_title(question.message)
        if isinstance(question, Link):
            about = f"{about} {reveal(question.url)}"
        elif isinstance(question, ClientCall):
            about = f"asks the front end to run {safe_title(question.name, 200)}"
        elif isinstance(question, Form):
            about = f"{about} (a form)"
        return f"? {about}"

    def _answered(self, event: ev.Answered) -> str:
        outcome = event.option_kind or event.outcome
        reason = f" ({one_line(event.reason)})" if event.reason else ""
        return f"  {_word(outcome)}{reason}"

    def _plan(self, event: ev.Plan) -> str:
        return describe_plan(event.entries)

    def _notice(self, event: ev.Notice) -> str:
        about = f": {one_line(event.description)}" if event.description else ""
        return f"{_word(event.severity)}: {one_line(event.title)}{about}"

    def _activity(self, event: ev.Activity) -> str | None:
        if event.content is None:
            return None  # A change of what was said already.
        about = json.dumps(event.content, ensure_ascii=False, default=str)
        return f"{one_line(event.activity_type, 60)}: {one_line(about)}"

    def _media(self, event: ev.Media) -> str:
        block: Any = event.content
        kind = type(block).__name__.removesuffix("Block").lower()
        where = block.uri if isinstance(block, LinkBlock | ResourceBlock) else getattr(block, "mime_type", "")
        return f"[{kind} {one_line(str(where))}]"

    def _source(self, event: ev.Source) -> str:
        what = (event.title, event.url or event.document)
        return "source: " + " ".join(one_line(item) for item in what if item)

    def _lane(self, event: ev.SubagentStarted) -> str:
        self._lanes[event.lane or ""] = one_line(event.name or event.lane or "subagent", 40)
        return "started"

    def _lane_over(self, event: ev.SubagentFinished) -> str:
        return _word(event.outcome)

    def _compaction(self, event: ev.Compaction) -> str:
        about = f": {one_line(event.summary or event.error or '')}" if event.summary or event.error else ""
        return f"compaction {_word(event.status)}{about}"

    def _failed(self, event: ev.TurnFailed) -> str:
        return f"error: {one_line(event.message, 1000)}"

    def _finished(self, event: ev.TurnFinished) -> str | None:
        return None if event.stop_reason == "end_turn" else f"stopped: {_word(event.stop_reason)}"

    _describers: ClassVar[dict[type[ev.Event], Callable[[EventLines, Any], str | None]]] = {
        ev.ToolCall: _call,
        ev.ToolUpdate: _update,
        ev.Asked: _asked,
        ev.Answered: _answered,
        ev.Plan: _plan,
        ev.Notice: _notice,
        ev.Activity: _activity,
        ev.Media: _media,
        ev.Source: _source,
        ev.SubagentStarted: _lane,
        ev.SubagentFinished: _lane_over,
        ev.Compaction: _compaction,
        ev.TurnFailed: _failed,
        ev.TurnFinished: _finished,
    }
