"""Cursors: how far a reader got in a session's journal.

A cursor is ``<fence>-<record>.<offset>``: everything before the record was seen, and of the record
itself the first ``offset`` characters when it is a delta, the whole of it otherwise. The offset is
there because readers see deltas live, one by one, while the journal joins neighbours into one
record: a reader may be cut off in the middle of what will be one record.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple, cast

import msgspec

from trunkline.errors import PeerError
from trunkline.events import AnyEvent, TerminalOutput, Text, Thought, ToolInput

__all__ = ["Cursor", "Entry", "Gap", "cut", "piece_of", "remainder"]

_FORM = re.compile(r"(\d{1,18})-(\d{1,18})(?:\.(\d{1,18}))?", re.ASCII)


class Cursor(NamedTuple):
    """A place in a journal; cursors of one fence are ordered."""

    fence: int
    record: int
    offset: int = 0

    def __str__(self) -> str:
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


def piece_of(event: Any) -> str | None:
    """The text of an event that only appends; None for an event that is whole in itself.

    The last word of a terminal or of a signed thought is whole: nothing may be joined to it.
    """
    kind = cast("type[object]", type(event))
    if kind is Text or kind is ToolInput:
        return event.delta
    if kind is Thought:
        return event.delta if event.signature is None else None
    if kind is TerminalOutput:
        return event.data if not event.exited else None
    return None


def remainder(event: AnyEvent, offset: int) -> AnyEvent | None:
    """What of a record is still to be seen after ``offset`` characters of it; None for nothing."""
    piece = piece_of(event)
    rest = piece[offset:] if piece else ""
    if not rest:
        return None
    field = "data" if isinstance(event, TerminalOutput) else "delta"
    return msgspec.structs.replace(event, **{field: rest})


class Entry(msgspec.Struct, frozen=True, gc=False):
    """An event with its place and its time: what readers and encoders get."""

    seq: int
    offset: int
    fence: int
    at: float
    event: AnyEvent

    @property
    def cursor(self) -> Cursor:
        """The place right after this entry."""
        return Cursor(self.fence, self.seq, self.offset)


def cut(event: AnyEvent, at: int) -> tuple[AnyEvent | None, AnyEvent | None]:
    """Split a delta after ``at`` characters; a side without text is None."""
    piece = piece_of(event) or ""
    field = "data" if isinstance(event, TerminalOutput) else "delta"
    head, tail = piece[:at], piece[at:]
    return (
        msgspec.structs.replace(event, **{field: head}) if head else None,
        msgspec.structs.replace(event, **{field: tail}) if tail else None,
    )
