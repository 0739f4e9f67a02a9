"""What the official client refuses, written from its rules (npm ``@ag-ui/client`` 1.0.0, verify.ts)."""

from collections.abc import Iterable
from typing import Any

import msgspec

JsonObject = dict[str, Any]

_OPENERS = {
    "TEXT_MESSAGE_START": ("text", "messageId"),
    "TOOL_CALL_START": ("call", "toolCallId"),
    "REASONING_START": ("span", "messageId"),
    "REASONING_MESSAGE_START": ("reasoning", "messageId"),
}
_PIECES = {
    "TEXT_MESSAGE_CONTENT": ("text", "messageId"),
    "TOOL_CALL_ARGS": ("call", "toolCallId"),
    "REASONING_MESSAGE_CONTENT": ("reasoning", "messageId"),
}
_CLOSERS = {
    "TEXT_MESSAGE_END": ("text", "messageId"),
    "TOOL_CALL_END": ("call", "toolCallId"),
    "REASONING_MESSAGE_END": ("reasoning", "messageId"),
    "REASONING_END": ("span", "messageId"),
}
_OWNED_BY = {"span": "reasoning"}
"""A span of reasoning and the message in it have one owner."""


def plain(events: Iterable[Any]) -> list[JsonObject]:
    """Give events as they look on the wire."""
    return [msgspec.json.decode(msgspec.json.encode(event)) for event in events]


def breaches(events: Iterable[JsonObject]) -> list[str]:
    """Say which rules of the client a stream breaks."""
    verifier = Verifier()
    for event in events:
        verifier.feed(event)
    verifier.end()
    return verifier.breaches


class Verifier:
    """Follows a stream of one or more runs, and stricter than the client: a run must have its end."""

    def __init__(self) -> None:
        """Begin before the first event."""
        self.breaches: list[str] = []
        self._running = False
        self._reset()

    def _reset(self) -> None:
        self._open: set[tuple[str, str]] = set()
        self._closed: set[tuple[str, str]] = set()
        self._owners: dict[tuple[str, str], str | None] = {}
        self._steps: set[tuple[str | None, str]] = set()
        self._subagents: dict[str, bool] = {}

    def feed(self, event: JsonObject) -> None:
        """Take one event."""
        kind = event["type"]
        if kind == "RUN_STARTED":
            if self._running:
                self._breach(event, "starts a run in a run")
            self._running = True
            self._reset()
            return
        if not self._running:
            self._breach(event, "comes outside of a run")
        if kind in _OPENERS:
            self._start(event, *_OPENERS[kind])
        elif kind in _PIECES:
            self._go_on(event, *_PIECES[kind])
        elif kind in _CLOSERS:
            self._go_on(event, *_CLOSERS[kind])
            self._open.discard(self._key(event, *_CLOSERS[kind]))
            self._closed.add(self._key(event, *_CLOSERS[kind]))
        elif kind in ("STEP_STARTED", "STEP_FINISHED"):
            self._step(event, kind)
        elif kind.startswith("SUBAGENT_"):
            self._subagent(event, kind)
        elif kind == "TOOL_CALL_RESULT":
            self._owners["text", event["messageId"]] = event.get("subagentRunId")
        elif kind == "ACTIVITY_SNAPSHOT":
            self._owners["activity", event["messageId"]] = event.get("subagentRunId")
        elif kind == "ACTIVITY_DELTA":
            self._check_owner(event, ("activity", event["messageId"]))
        elif kind == "REASONING_ENCRYPTED_VALUE":
            self._check_owner(event, ("reasoning", event["entityId"]))
        elif kind in ("RUN_FINISHED", "RUN_ERROR"):
            self._finish(event)

    def end(self) -> None:
        """The stream is over: a client takes one without an end for a success."""
        if self._running:
            self.breaches.append("the last run has no end")

    def _breach(self, event: JsonObject, why: str) -> None:
        self.breaches.append(f"{event['type']} {why}: {event}")

    def _key(self, event: JsonObject, family: str, field: str) -> tuple[str, str]:
        return family, event[field]

    def _check_owner(self, event: JsonObject, key: tuple[str, str]) -> None:
        owner = self._owners.get(key, ...)
        if "subagentRunId" in event and owner is not ... and owner != event["subagentRunId"]:
            self._breach(event, f"speaks for {owner}")

    def _start(self, event: JsonObject, family: str, field: str) -> None:
        key = self._key(event, family, field)
        if key in self._open:
            self._breach(event, "opens what is open")
        if key in self._closed:
            self._breach(event, "opens again what was closed in this run")
        owned = (_OWNED_BY.get(family, family), event[field])
        self._check_owner(event, owned)
        owner = event.get("subagentRunId")
        if (parent := event.get("parentMessageId")) is not None:
            self._check_owner(event, ("text", parent))
            owner = self._owners.get(("text", parent), owner)
        self._owners.setdefault(owned, owner)
        self._open.add(key)

    def _go_on(self, event: JsonObject, family: str, field: str) -> None:
        key = self._key(event, family, field)
        if key not in self._open:
            self._breach(event, "goes on with what is not open")
        self._check_owner(event, (_OWNED_BY.get(family, family), event[field]))

    def _step(self, event: JsonObject, kind: str) -> None:
        step = (event.get("subagentRunId"), event["stepName"])
        if (step in self._steps) == (kind == "STEP_STARTED"):
            self._breach(event, "is out of step")
        self._steps ^= {step}

    def _subagent(self, event: JsonObject, kind: str) -> None:
        lane = event["subagentRunId"]
        if kind == "SUBAGENT_STARTED":
            parent = event.get("parentSubagentRunId")
            if lane in self._subagents:
                self._breach(event, "uses an id again")
            if parent is not None and parent not in self._subagents:
                self._breach(event, "has a parent that nobody started")
            self._subagents[lane] = True
        else:
            if not self._subagents.get(lane):
                self._breach(event, "ends what is not there")
            self._subagents[lane] = False

    def _finish(self, event: JsonObject) -> None:
        # Stricter than the client, which lets RUN_ERROR leave things open: a page would show them for ever.
        open_lanes = [lane for lane, live in self._subagents.items() if live]
        if self._open or self._steps or open_lanes:
            self._breach(event, f"leaves open {self._open} {self._steps} {open_lanes}")
        self._running = False
