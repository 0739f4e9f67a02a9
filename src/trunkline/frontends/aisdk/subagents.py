"""Subagents on the AI SDK's wire: a data part with the whole message of each, which pages can render again.

A subagent that another one started is a part of that one's message. So a page shows all of them with the one
component that shows a message.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from trunkline import events as ev
from trunkline.frontends.aisdk.lane_encoder import LaneEncoder
from trunkline.frontends.aisdk.message_reducer import MessageReducer
from trunkline.frontends.aisdk.tool_calls import CallView
from trunkline.protocols.aisdk.wire import Chunk, JsonObject, StreamVersion

__all__ = ["Subagents"]

Out = list[Chunk]


class _Subagent:
    """One subagent: what it is, and its message."""

    def __init__(self, started: ev.SubagentStarted, encoder: LaneEncoder, version: StreamVersion) -> None:
        self.lane = started.lane or ""
        self.parent = started.parent_lane
        self.encoder = encoder
        self.reducer = MessageReducer(self.lane, version)
        self.about: JsonObject = {"name": started.name or self.lane, "state": "running"}
        if started.description is not None:
            self.about["description"] = started.description
        if started.parent_call_id is not None:
            self.about["toolCallId"] = started.parent_call_id

    def finish(self, event: ev.SubagentFinished) -> None:
        """Keep how it ended."""
        self.reducer.feed_all(self.encoder.parts.close())
        self.about["state"] = event.outcome
        if event.message is not None:
            self.about["errorText" if event.outcome != "completed" else "summary"] = event.message
        if event.result is not None:
            self.about["result"] = event.result

    def part(self) -> Chunk:
        """Give it as a data part."""
        data = {**self.about, "message": self.reducer.message}
        return {"type": "data-subagent", "id": self.lane, "data": data}


class Subagents:
    """The subagents of a turn."""

    def __init__(self, version: StreamVersion, make_encoder: Callable[[], LaneEncoder]) -> None:
        self._version = version
        self._make_encoder = make_encoder
        self._known: dict[str, _Subagent] = {}

    def start(self, event: ev.SubagentStarted) -> str:
        """Begin a subagent; gives the one that a page sees, which is the outermost."""
        self._known[event.lane or ""] = _Subagent(event, self._make_encoder(), self._version)
        return self._outermost(event.lane or "")

    def feed(self, lane: str, event: Any) -> tuple[str, Out]:
        """Take an event of a subagent; gives the one that a page sees, and what it gets besides."""
        subagent = self._known.get(lane)
        if subagent is None:
            self.start(ev.SubagentStarted(lane=lane))
            subagent = self._known[lane]
        if isinstance(event, ev.SubagentFinished):
            subagent.finish(event)
            return self._outermost(lane), []
        return self._outermost(lane), self._fold(subagent, subagent.encoder.feed(event))

    def show_terminal(self, terminal_id: str) -> list[str]:
        """Show what a terminal printed; gives the subagents that a page sees with it."""
        shown: list[str] = []
        for subagent in self._known.values():
            if chunks := subagent.encoder.calls.show_terminal(terminal_id):
                self._fold(subagent, chunks)
                shown.append(self._outermost(subagent.lane))
        return shown

    def part(self, lane: str) -> Chunk:
        """Give a subagent that a page sees, with those that it started."""
        for subagent in reversed(self._known.values()):
            if subagent.parent in self._known and self._outermost(subagent.lane) == lane:
                # Later ones first: those are inside of earlier ones.
                self._known[subagent.parent or ""].reducer.feed(subagent.part())
        return self._known[lane].part()

    def find_call(self, call_id: str) -> tuple[str, CallView] | None:
        """Find a call of a subagent."""
        for lane, subagent in self._known.items():
            view = subagent.encoder.calls.views.get(call_id)
            if view is not None:
                return lane, view
        return None

    def end_all(self, reason: str) -> list[str]:
        """End the subagents that still run; gives those that a page sees."""
        running = [one for one in self._known.values() if one.about["state"] == "running"]
        for subagent in reversed(running):
            subagent.reducer.feed_all(subagent.encoder.end(reason))
            subagent.about |= {"state": "failed", "errorText": reason}
        return list(dict.fromkeys(self._outermost(one.lane) for one in running))

    @staticmethod
    def _fold(subagent: _Subagent, chunks: Out) -> Out:
        """Fold chunks into a message; what a page gets once and does not keep goes to the page."""
        passing = [chunk for chunk in chunks if chunk.get("transient")]
        subagent.reducer.feed_all(chunks)
        return passing

    def _outermost(self, lane: str) -> str:
        seen = {lane}
        parent = self._known[lane].parent
        while parent is not None and parent in self._known and parent not in seen:
            seen.add(parent)
            lane, parent = parent, self._known[parent].parent
        return lane
