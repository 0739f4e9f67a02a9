"""Ids of the messages of an agent that gives none, or some.

``messageId`` is optional in ACP v1. Without it, text and thoughts belong to one message until a tool is
called; what comes after that is the next one.
"""

from __future__ import annotations


class MessageIds:
    """Knows which message each lane is in."""

    def __init__(self) -> None:
        """Begin without a turn."""
        self._prefix = ""
        self._count = 0
        self._current: dict[str | None, str] = {}
        self._numbered: dict[str | None, bool] = {}
        """Whether the message of a lane is one of ours that goes on without an id."""
        self._lanes: dict[str, str | None] = {}

    def begin_turn(self, prefix: str) -> None:
        """Begin a turn, whose ids of our own begin with a prefix."""
        self._prefix = prefix
        self._count = 0
        self._current.clear()
        self._numbered.clear()
        self._lanes.clear()

    def message(self, lane: str | None, given: str | None) -> str:
        """Give the id of the message that a piece belongs to."""
        if given is not None:
            if self._lanes.setdefault(given, lane) != lane:
                # A message is in one lane.
                given = f"{given}.{lane or 'main'}"
            self._current[lane] = given
            self._numbered[lane] = False
        elif not self._numbered.get(lane):
            self._current[lane] = self._new()
            self._numbered[lane] = True
        return self._current[lane]

    def message_of_call(self, lane: str | None) -> str:
        """Give the id of the message that a call belongs to; text after it is another message."""
        if lane not in self._current:
            self._current[lane] = self._new()
        self._numbered[lane] = False
        return self._current[lane]

    def end_message(self) -> None:
        """Begin another message with the next piece that has no id."""
        self._numbered.clear()

    def _new(self) -> str:
        self._count += 1
        return f"{self._prefix}.{self._count}"
