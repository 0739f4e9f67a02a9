"""Cursors: how far a reader got in a session's journal.

A cursor is ``<fence>-<record>.<offset>``: everything before the record was seen, and of the record
itself the first ``offset`` characters when it is a delta, the whole of it otherwise. The offset is
there because readers see deltas live, one by one, while the journal joins neighbours into one
record: a reader may be cut off in the middle of what will be one record.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import msgspec

from trunkline.errors import PeerError
from trunkline.events import AnyEvent, TerminalOutput, Text, Thought, ToolInput

__all__ = ["Cursor", "Gap", "delta_length", "remainder"]

_FORM = re.compile(r"(\d{1,18})-(\d{1,18})(?:\.(\d{1,18}))?", re.ASCII)


class Cursor(NamedTuple):
    """A place in a journal; cursors of one fence are ordered."""

    fence: int
    record: int
    offset: int = 0

    def __str__(self) -> str:
        """Write the cursor as front ends carry it."""
        return f"{self.fence}-{self.record}.{self.offset}"

    @classmethod
    def parse(cls, text: str) -> Cursor:
        """Read a cursor; anything else is the peer's fault."""
        match = _FORM.fullmatch(text)
        if match is None:
            raise PeerError(f"{text[:60]!r} is not a cursor; send back the id of the last event you saw")
        fence, record, offset = match.groups()
        return cls(int(fence), int(record), int(offset or 0))


class Gap(NamedTuple):
    """The cursor's place did not survive (a crash, or retention): the reader needs a snapshot."""

    first_seq: int
    last_seq: int


def delta_length(event: Any) -> int:
    """How many characters a delta carries; 0 for anything that is not a delta."""
    if isinstance(event, Text | Thought | ToolInput):
        return len(event.delta)
    if isinstance(event, TerminalOutput):
        return len(event.data)
    return 0


def remainder(event: AnyEvent, offset: int) -> AnyEvent | None:
    """What of a record is still to be seen after ``offset`` characters of it; None for nothing."""
    if isinstance(event, Text | ToolInput):
        rest = event.delta[offset:]
        return msgspec.structs.replace(event, delta=rest) if rest else None
    if isinstance(event, Thought):
        rest = event.delta[offset:]
        if not rest and (event.signature is None or offset):
            return None
        return msgspec.structs.replace(event, delta=rest)
    if isinstance(event, TerminalOutput):
        rest = event.data[offset:]
        return msgspec.structs.replace(event, data=rest) if rest else None
    return None
