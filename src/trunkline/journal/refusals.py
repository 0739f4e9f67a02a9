"""What every engine refuses, and what it says: lost leases, records out of order, names that are taken."""

from __future__ import annotations

from trunkline.errors import Fenced, JournalError, SessionBusy, SessionNotFound
from trunkline.journal.codec import Batch
from trunkline.journal.interface import WAITING_COMMANDS, Lease, SessionKey, Snapshot


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
