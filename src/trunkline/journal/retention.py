"""Retention: discards what a SQLite journal need not keep: idle sessions, old turns, blobs.

``Settings.retain_age`` and ``retain_bytes`` ask for it, or ``trunkline sessions prune``. What goes, or begins
later, does so in one quick step: from then on nobody reads the records that a session leaves behind. Those
are removed in slices of a commit each, between which everybody else has a turn. Whatever a crash leaves is
found the next time.

Space that is freed is used again by the file; the file itself does not shrink.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, NamedTuple, Protocol, TypeVar

from trunkline.journal import blobs, sessions, trimming
from trunkline.journal.fair_queue import Work
from trunkline.journal.interface import SessionKey
from trunkline.journal.lease_clock import Moment

T = TypeVar("T")

_IDLE = "updated_at < ? AND (owner IS NULL OR expires_at <= ? OR boot <> ?)"

SLICE_RECORDS = 1000
SLICE_BYTES = 4 * 2**20
"""How much one commit removes, so that nobody waits for more than that."""


class _Run(Protocol):
    def __call__(self, work: Work[T], /) -> Awaitable[T]: ...


class Retention:
    """Discards what one journal need not keep."""

    def __init__(self, read: _Run, write: _Run) -> None:
        self._read = read
        self._write = write

    async def discard_idle(self, cutoff: float, now: Callable[[], Moment]) -> int:
        """Discard the sessions that nobody used since ``cutoff``; give the number of their records."""
        removed = 0
        for session in await self._read(lambda db: find_idle(db, cutoff, now())):
            work: Work[int] = partial(discard_old, session=session, cutoff=cutoff, now=now())
            removed += await self._write(work)
        return removed

    async def trim_large(self, max_bytes: int) -> int:
        """Discard the oldest turns of sessions above a size; give the number of their records."""
        removed = 0
        for session in await self._read(lambda db: find_large(db, max_bytes)):
            find: Work[Any] = partial(find_cut, session=session, max_bytes=max_bytes)
            if (cut := await self._read(find)) is not None:
                removed += await self._write(partial(trim, cut=cut))
        return removed

    async def remove_all_leftovers(self, session: int | None = None) -> None:
        """Remove the records that sessions left behind, or that one of them did."""
        numbers = await self._read(find_leftovers) if session is None else [session]
        for number in numbers:
            while await self._write(partial(remove_leftovers, session=number)):
                pass

    async def sweep_blobs(self, cutoff: float) -> None:
        """Remove the blobs that nothing mentions and that are older than ``cutoff``."""
        if not await self._read(lambda db: blobs.has_old(db, cutoff)):
            return
        known: blobs.Mentions | None = await self._read(blobs.find_mentions)
        while known is not None:
            known = await self._write(partial(blobs.sweep, cutoff=cutoff, known=known, most=SLICE_BYTES))


# -- sessions and their turns -----------------------------------------------------------------------


def find_idle(db: sqlite3.Connection, cutoff: float, now: Moment) -> list[int]:
    """Find the sessions nobody holds and nobody wrote to since ``cutoff``."""
    return [number for (number,) in db.execute(f"SELECT id FROM sessions WHERE {_IDLE}", (cutoff, *now))]


def discard_old(db: sqlite3.Connection, session: int, cutoff: float, now: Moment) -> int:
    """Remove a session if it is still idle; give the number of records that went."""
    idle = db.execute(f"SELECT 1 FROM sessions WHERE id = ? AND {_IDLE}", (session, cutoff, *now)).fetchone()
    if not idle:
        return 0
    left = sessions.remove(db, session)
    remove_leftovers(db, session)
    return left


def delete(db: sqlite3.Connection, key: SessionKey) -> int | None:
    """Remove a session with a first slice of its records; give its number, if it was there."""
    session = sessions.delete(db, key)
    if session is not None:
        remove_leftovers(db, session)
    return session


def find_large(db: sqlite3.Connection, max_bytes: int) -> list[int]:
    """Find the sessions above a size."""
    return [number for (number,) in db.execute("SELECT id FROM sessions WHERE bytes > ?", (max_bytes,))]


class Cut(NamedTuple):
    """Where a session is to begin instead, and how many bytes that frees."""

    session: int
    old_first: int
    first: int
    freed: int


def find_cut(db: sqlite3.Connection, session: int, max_bytes: int) -> Cut | None:
    """Find where a session can be cut; it may take long, so it is not for the thread that writes."""
    row = db.execute("SELECT bytes, first_seq FROM sessions WHERE id = ?", (session,)).fetchone()
    if row is None or row[0] <= max_bytes:
        return None
    sizes = db.execute(
        "SELECT seq, kind, length(payload) FROM records WHERE session = ? AND seq >= ? ORDER BY seq",
        (session, row[1]),
    )
    found = trimming.choose_cut(sizes, row[0] - max_bytes)
    sizes.close()
    return found and Cut(session, row[1], *found)


def trim(db: sqlite3.Connection, cut: Cut) -> int:
    """Let a session begin later; give how many records it leaves behind.

    What was said since ``find_cut`` changes nothing: it stands behind the newest turn of then.
    """
    trimmed = db.execute(
        "UPDATE sessions SET first_seq = ?, bytes = bytes - ? WHERE id = ? AND first_seq = ?",
        (cut.first, cut.freed, cut.session, cut.old_first),
    )
    if not trimmed.rowcount:
        return 0
    db.execute("DELETE FROM snapshots WHERE session = ?", (cut.session,))  # They know of what goes.
    remove_leftovers(db, cut.session)
    return cut.first - cut.old_first


# -- what sessions leave behind -------------------------------------------------------------------


def find_leftovers(db: sqlite3.Connection) -> list[int]:
    """Find the sessions that left records behind: their own when they went, or those before a cut."""
    # One step in the tree for each session, not one for each record.
    firsts = db.execute(
        "WITH RECURSIVE found(id) AS (SELECT min(session) FROM records UNION ALL"
        " SELECT (SELECT min(session) FROM records WHERE session > found.id) FROM found WHERE id IS NOT NULL)"
        " SELECT found.id FROM found LEFT JOIN sessions ON sessions.id = found.id WHERE found.id IS NOT NULL"
        " AND (sessions.id IS NULL OR"
        " (SELECT min(seq) FROM records WHERE session = found.id) < sessions.first_seq)"
    )
    return [number for (number,) in firsts]


def remove_leftovers(db: sqlite3.Connection, session: int) -> bool:
    """Remove a slice of what a session left behind; whether there is more."""
    row = db.execute("SELECT first_seq FROM sessions WHERE id = ?", (session,)).fetchone()
    rows = db.execute(
        "SELECT seq, length(payload) FROM records WHERE session = ? AND seq < ? ORDER BY seq LIMIT ?",
        (session, row[0] if row is not None else 2**62, SLICE_RECORDS),
    ).fetchall()
    last, size = 0, 0
    for seq, length in rows:
        if last and size + length > SLICE_BYTES:
            break
        last, size = seq, size + length
    db.execute("DELETE FROM records WHERE session = ? AND seq <= ?", (session, last))
    return len(rows) == SLICE_RECORDS or (bool(rows) and last < rows[-1][0])
