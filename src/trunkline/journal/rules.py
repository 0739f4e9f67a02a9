"""Rules that every engine keeps, as plain functions: who may append, where to cut, what is kept."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from typing import Any

from trunkline.errors import Corrupt, Fenced, JournalError, SessionBusy, SessionNotFound
from trunkline.journal.codec import TURN, Batch
from trunkline.journal.interface import WAITING_COMMANDS, Lease, SessionKey, Snapshot

BLOB_GRACE = 3600.0
"""Seconds a blob is kept although no record mentions it: its record may be on the way."""

_DIGEST = re.compile(rb"sha256:[0-9a-f]{64}")


def same_folder(one: str, other: str | None) -> bool:
    """Whether two paths are the same, but for a slash at the end."""
    return other is not None and one.rstrip("/") == other.rstrip("/")


def check_fence(lease: Lease, fence: int | None) -> None:
    """Refuse a lease that was lost; ``fence`` is the session's, None when it is gone."""
    if fence is None:
        raise Fenced(f"session {lease.key.session_id!r} was deleted; what was said after that is not kept")
    if fence != lease.fence:
        raise Fenced(
            f"session {lease.key.session_id!r} was taken over (fence {fence}, ours was {lease.fence}); "
            "follow it, or claim it again"
        )


def check_next(lease: Lease, batch: Batch, last_seq: int) -> None:
    """Refuse an append that would leave a hole or write twice."""
    if batch.rows and batch.rows[0].seq != last_seq + 1:
        raise JournalError(
            f"record {batch.rows[0].seq} is not the next one of session {lease.key.session_id!r}, which "
            f"ends at {last_seq}: it was written already, or an append before it failed; "
            "read the session again and go on from its end"
        )


def check_snapshot(lease: Lease, snapshot: Snapshot, last_seq: int) -> None:
    """Refuse a snapshot of records that are not there."""
    if not snapshot.after < snapshot.seq <= last_seq:
        raise JournalError(
            f"a snapshot of records {snapshot.after + 1} to {snapshot.seq} does not fit session "
            f"{lease.key.session_id!r}, which ends at {last_seq}"
        )


def check_waiting(key: SessionKey, waiting: int) -> None:
    """Refuse a command when too many wait for an owner that does not come."""
    if waiting >= WAITING_COMMANDS:
        raise SessionBusy(
            f"{waiting} commands wait for the owner of session {key.session_id!r}; try again later"
        )


def missing(key: SessionKey) -> SessionNotFound:
    """Say that there is no such session."""
    return SessionNotFound(f"there is no session {key.session_id!r}")


def exists(key: SessionKey) -> SessionBusy:
    """Say that the name is taken."""
    return SessionBusy(f"session {key.session_id!r} exists already; load it, or choose another name")


def unposted(command_key: str) -> JournalError:
    """Say that nobody posted the command."""
    return JournalError(f"no command {command_key!r} was posted to this session")


def closed(url: str) -> JournalError:
    """Say that the engine is not open."""
    return JournalError("the journal is not open; open it first, or keep it open for longer", path=url)


def cut(rows: Iterable[tuple[int, int, int]], excess: int) -> tuple[int, int] | None:
    """Where to trim a session: the first record to keep, and how many bytes go.

    ``rows`` are (seq, kind, size) from the oldest on. Whole turns go until ``excess`` bytes are
    freed; the newest turn stays however big it is. None when nothing may go.
    """
    best: tuple[int, int] | None = None
    freed = 0
    for position, (seq, kind, size) in enumerate(rows):
        if kind == TURN and position:
            best = (seq, freed)
            if freed >= excess:
                break
        freed += size
    return best


def with_kept(kept: dict[str, Any] | None, name: str, value: Any) -> dict[str, Any] | None:
    """Give what an agent keeps with a session after a change; None when nothing is left."""
    others = {key: one for key, one in (kept or {}).items() if key != name}
    return (others if value is None else {**others, name: value}) or None


def digest_of(data: bytes) -> str:
    """Name data by its digest."""
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def digests_in(payload: bytes) -> set[str]:
    """Find the blobs that a payload mentions."""
    return {match.decode() for match in _DIGEST.findall(payload)}


def verify(digest: str, data: bytes) -> bytes:
    """Give the data back if it is what was kept."""
    if digest_of(data) != digest:
        raise Corrupt(f"blob {digest} is damaged; put back a copy of the journal, or attach it again")
    return data
