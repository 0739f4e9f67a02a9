"""Coalescing: neighbouring deltas become one record, and every event gets its position at once.

Readers see an event before it is written, so its position must be known before the record is
complete. A delta that continues the record that is still open gets that record's number and the
offset after it; anything else closes the open record and takes the next number. Only neighbours
are joined (up to ``Settings.coalesce_limit``): two records that grow at the same time would leave a cursor
between them ambiguous.
"""

from __future__ import annotations

from typing import Any

import msgspec

from trunkline.commands import Command
from trunkline.cursor import piece_of
from trunkline.events import AnyEvent, Delta, Event, TerminalOutput, Text, Thought, ToolInput

_SUBJECTS: dict[type[Event], str] = {
    Text: "message_id",
    Thought: "message_id",
    ToolInput: "call_id",
    TerminalOutput: "terminal_id",
}

# An agent that emits much at once fills record after record; a commit for each would cost more than it.
_MANY = 8


class Coalescer:
    """Assigns record numbers; joins neighbouring deltas up to ``limit`` (``Settings.coalesce_limit``)."""

    def __init__(self, last_seq: int = 0, *, limit: int) -> None:
        self.last_seq = last_seq
        self._limit = limit
        self._open: Any = None
        self._flow: str | None = None  # The message whose plain text is open.
        self._joins = False
        self._pieces: list[str] = []
        self._size = 0
        self._ready: list[tuple[int, AnyEvent | Command]] = []
        self._due = False

    @property
    def waiting(self) -> bool:
        """Whether a delta is still open."""
        return self._open is not None

    @property
    def ready(self) -> int:
        """How many records are complete and not taken yet."""
        return len(self._ready)

    @property
    def due(self) -> bool:
        """Whether to write now: something other than text is complete, or much text is."""
        return self._due or len(self._ready) >= _MANY

    def extend(self, event: Delta) -> int:
        """Join a delta to the open record and give the offset at its end; 0 if it is no part of it."""
        last = self._open
        if (
            type(event) is not type(last)
            or event.turn_id != last.turn_id
            or event.lane != last.lane
            or event.meta is not None
            or not self._joins
            or self._size >= self._limit
        ):
            return 0
        if type(event) is Text:
            # Nearly every event of nearly every session: the shortest way.
            if event.message_id != last.message_id:
                return 0
            piece = event.delta
        else:
            subject = _SUBJECTS[type(event)]
            if getattr(event, subject) != getattr(last, subject):
                return 0
            piece = piece_of(event)
        if not piece:
            return 0
        self._pieces.append(piece)
        self._size = size = self._size + len(piece)
        return size

    def extend_text(self, message_id: str, piece: str) -> int:
        """Join plain text to the message that is open, by the shortest way; 0 if it is no part of it.

        It asks whether this is the very id of the last delta: a turn emitted nothing else in between.
        """
        if message_id is not self._flow or self._size >= self._limit or not piece:
            return 0
        self._pieces.append(piece)
        self._size = size = self._size + len(piece)
        return size

    def add(self, event: Any) -> tuple[int, int]:
        """Add an event; gives its record number and the offset at its end."""
        offset = self.extend(event)
        if offset:
            return self.last_seq, offset
        self.seal()
        self.last_seq += 1
        piece = piece_of(event)
        if piece is None:
            self._ready.append((self.last_seq, event))
            self._due = True
            return self.last_seq, 0
        self._open = event
        self._joins = event.meta is None
        if type(event) is Text and event.meta is None and event.lane is None:
            self._flow = event.message_id
        self._pieces = [piece]
        self._size = len(piece)
        return self.last_seq, self._size

    def add_command(self, command: Command) -> None:
        """Add an accepted command; it has a record of its own."""
        self.seal()
        self._due = True
        self.last_seq += 1
        self._ready.append((self.last_seq, command))

    def seal(self) -> None:
        """Close the open delta, so that its record can be written."""
        event = self._open
        if event is None:
            return
        self._open = self._flow = None
        if self._size >= _MANY * self._limit:
            self._due = True  # As much as many records have.
        if len(self._pieces) > 1:
            field = "data" if type(event) is TerminalOutput else "delta"
            event = msgspec.structs.replace(event, **{field: "".join(self._pieces)})
        self._ready.append((self.last_seq, event))

    def take(self) -> list[tuple[int, AnyEvent | Command]]:
        """Give the complete records, each once, in order."""
        ready, self._ready, self._due = self._ready, [], False
        return ready
