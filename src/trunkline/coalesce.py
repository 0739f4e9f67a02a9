"""Coalescing: neighbouring deltas become one record, and every event gets its place at once.

Readers see an event before it is written, so its place must be known before the record is
complete. A delta that continues the record that is still open gets that record's number and the
offset after it; anything else closes the open record and takes the next number. Only neighbours
are joined: two records that grow at the same time would leave a cursor between them ambiguous.
"""

from __future__ import annotations

from typing import Any, cast

import msgspec

from trunkline.cursor import piece_of
from trunkline.events import AnyEvent, Event, TerminalOutput, Text, Thought, ToolInput

__all__ = ["Coalescer"]

_SUBJECTS: dict[type[Event], str] = {
    Text: "message_id",
    Thought: "message_id",
    ToolInput: "call_id",
    TerminalOutput: "terminal_id",
}


class Coalescer:
    """Assigns record numbers and joins neighbouring deltas up to ``limit`` characters."""

    def __init__(self, last_seq: int = 0, *, limit: int = 4096) -> None:
        """Continue after the newest record of the journal."""
        self.last_seq = last_seq
        self._limit = limit
        self._open: Any = None
        self._flow: tuple[Any, ...] | None = None
        self._pieces: list[str] = []
        self._size = 0
        self._ready: list[tuple[int, AnyEvent]] = []

    @property
    def waiting(self) -> bool:
        """Whether a delta is still open."""
        return self._open is not None

    @property
    def ready(self) -> int:
        """How many records are complete and not taken yet."""
        return len(self._ready)

    def place(self, event: Any) -> tuple[int, int]:
        """Give the event its record number and the offset at its end."""
        kind = cast("type[Event]", type(event))
        if kind is Text:
            # Nearly every event of nearly every session: the shortest way.
            flow = (Text, event.turn_id, event.lane, event.message_id)
            piece = event.delta
        else:
            piece = piece_of(event)
            if piece is None:
                self.seal()
                self.last_seq += 1
                self._ready.append((self.last_seq, event))
                return self.last_seq, 0
            flow = (kind, event.turn_id, event.lane, getattr(event, _SUBJECTS[kind]))
        if flow == self._flow and self._size < self._limit and event.meta is None:
            self._pieces.append(piece)
            self._size += len(piece)
            return self.last_seq, self._size
        self.seal()
        self._open = event
        self._flow = flow if event.meta is None else None
        self._pieces = [piece]
        self._size = len(piece)
        self.last_seq += 1
        return self.last_seq, self._size

    def skip(self) -> int:
        """Take a number for a record that is no event (an accepted command)."""
        self.seal()
        self.last_seq += 1
        return self.last_seq

    def seal(self) -> None:
        """Close the open delta, so that its record can be written."""
        event = self._open
        if event is None:
            return
        self._open = self._flow = None
        if len(self._pieces) > 1:
            field = "data" if type(event) is TerminalOutput else "delta"
            event = msgspec.structs.replace(event, **{field: "".join(self._pieces)})
        self._ready.append((self.last_seq, event))

    def take(self) -> list[tuple[int, AnyEvent]]:
        """Give the complete records, each once, in order."""
        ready, self._ready = self._ready, []
        return ready
