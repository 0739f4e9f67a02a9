"""Rows: what a record looks like inside an engine.

A payload is the JSON of the event or command, encoded once when it is appended, so a value that
changes afterwards changes nothing that was said.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, TypeVar

import msgspec

from trunkline.commands import Command
from trunkline.errors import Corrupt, JournalError
from trunkline.events import Raw, TurnStarted, decode_event, encode_event
from trunkline.journal.interface import Lease, Record

EVENT, TURN, COMMAND = 0, 1, 2
"""The kinds of a row; TURN is the event that begins a turn, which is where retention may cut."""

T = TypeVar("T")

_command = msgspec.json.Decoder(Command)


class Row(NamedTuple):
    """One record, ready to be stored."""

    seq: int
    at: float
    fence: int
    kind: int
    payload: bytes


class Batch(NamedTuple):
    """The rows of one append, and how many bytes their payloads have."""

    rows: list[Row]
    size: int


def pack(lease: Lease, records: Sequence[Record]) -> Batch:
    """Encode an append; refuses records that are not in order, not of this lease, or not JSON."""
    rows: list[Row] = []
    size = 0
    for record in records:
        seq = record.seq
        if rows and seq != rows[-1].seq + 1:
            raise JournalError(f"record {seq} follows record {rows[-1].seq}: number them without holes")
        if record.fence != lease.fence:
            raise JournalError(f"record {seq} has fence {record.fence}, its lease has {lease.fence}")
        kind, payload = _encode(record)
        size += len(payload)
        rows.append(Row(seq, record.at, record.fence, kind, payload))
    return Batch(rows, size)


def encode(value: Any, what: str) -> bytes:
    """Write a value as JSON; ``what`` names it when that cannot be done."""
    try:
        return encode_event(value)
    # Open fields may hold anything an agent made: objects, lone surrogates, a dict inside itself.
    except (TypeError, ValueError, RecursionError) as error:
        raise JournalError(
            f"{what} ({type(value).__name__}) cannot be written as JSON: {error}; "
            "its fields may hold text, numbers, lists and dicts only"
        ) from error


def copy(value: T, what: str) -> T:
    """Give the value as it comes back from JSON."""
    return msgspec.json.decode(encode(value, what), type=type(value))


def with_kept(kept: dict[str, Any] | None, name: str, value: Any) -> dict[str, Any] | None:
    """Give what an agent keeps with a session after a change; None when nothing is left."""
    others = {key: one for key, one in (kept or {}).items() if key != name}
    return (others if value is None else {**others, name: value}) or None


def _encode(record: Record) -> tuple[int, bytes]:
    event, command = record.event, record.command
    value = command if event is None else event
    if value is None or not (event is None or command is None):
        raise JournalError(f"record {record.seq} must have an event or a command, and only one")
    payload = encode(value, f"record {record.seq}")
    if event is None:
        return COMMAND, payload
    return (TURN if isinstance(event, TurnStarted) else EVENT), payload


def unpack(seq: int, at: float, fence: int, kind: int, payload: bytes) -> Record:
    """Decode a row; what a newer version wrote becomes a Raw event."""
    try:
        if kind != COMMAND:
            return Record(seq=seq, at=at, fence=fence, event=decode_event(payload))
        command = decode_command(payload)
        if command is not None:
            return Record(seq=seq, at=at, fence=fence, command=command)
        raw = Raw(source="trunkline", payload=msgspec.json.decode(payload))
        return Record(seq=seq, at=at, fence=fence, event=raw)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise Corrupt(
            f"record {seq} is damaged ({error}); delete this session, or put back a copy of the journal"
        ) from error


def decode_command(payload: bytes) -> Command | None:
    """Decode a command; None for one that only a newer version understands."""
    try:
        return _command.decode(payload)
    except msgspec.ValidationError:
        return None
