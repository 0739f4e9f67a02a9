"""Retention: finds what a SQLite journal may discard, and has the SQL for each small step of removing it.

``pruning`` decides when each step runs: it removes in slices, so that no writer waits for long.

Blobs live in the journal's own file: one file to copy, one mode, one transaction, and nothing to
tidy up beside it after a crash. They are shared by digest, so no session owns one. Which are still
needed is found by reading the records for their digests, but only when retain() is called and some
blob is old enough to go.

Space that is freed is used again by the file; the file itself does not shrink.
"""

from __future__ import annotations

import sqlite3
from typing import NamedTuple

from trunkline.journal import rules, statements
from trunkline.journal.interface import SessionKey
from trunkline.journal.lease_clock import Moment

_IDLE = "updated_at < ? AND (owner IS NULL OR expires_at <= ? OR boot <> ?)"
_MENTIONS_A_BLOB = "instr(payload, CAST('sha256:' AS BLOB))"


class Mentions(NamedTuple):
    """The blobs that are needed, as far as the records were read."""

    digests: set[str]
    upto: dict[int, int]
    """The newest record that was read, by the session's number."""


NOTHING_READ = Mentions(set(), {})


def put_blob(db: sqlite3.Connection, digest: str, data: bytes, now: float) -> None:
    """Keep data, or keep it for longer if it is there already."""
    db.execute(
        "INSERT INTO blobs (digest, created_at, data) VALUES (?, ?, ?)"
        " ON CONFLICT (digest) DO UPDATE SET created_at = excluded.created_at",
        (digest, now, data),
    )


def get_blob(db: sqlite3.Connection, digest: str) -> bytes | None:
    """Give data back if it is there and whole."""
    row = db.execute("SELECT data FROM blobs WHERE digest = ?", (digest,)).fetchone()
    return row and rules.verify(digest, row[0])


def find_idle(db: sqlite3.Connection, cutoff: float, now: Moment) -> list[int]:
    """Find the sessions nobody holds and nobody wrote to since ``cutoff``."""
    return [number for (number,) in db.execute(f"SELECT id FROM sessions WHERE {_IDLE}", (cutoff, *now))]


def discard_old(db: sqlite3.Connection, session: int, cutoff: float, now: Moment) -> int:
    """Remove a session if it is still idle; give the number of records that went."""
    idle = db.execute(f"SELECT 1 FROM sessions WHERE id = ? AND {_IDLE}", (session, cutoff, *now)).fetchone()
    if not idle:
        return 0
    left = statements.remove(db, session)
    remove_leftovers(db, session)
    return left


def delete(db: sqlite3.Connection, key: SessionKey) -> int | None:
    """Remove a session with a first slice of its records; give its number, if it was there."""
    session = statements.delete(db, key)
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
    found = rules.cut(sizes, row[0] - max_bytes)
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

SLICE_RECORDS = 1000
SLICE_BYTES = 4 * 2**20
"""How much one commit removes, so that nobody waits for more than that."""


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


def has_old_blobs(db: sqlite3.Connection, cutoff: float) -> bool:
    """Whether any blob is old enough to go."""
    return db.execute("SELECT 1 FROM blobs WHERE created_at < ?", (cutoff,)).fetchone() is not None


def find_mentions(db: sqlite3.Connection, known: Mentions = NOTHING_READ) -> Mentions:
    """Read on from what is known, to the end of every session and of the waiting commands."""
    upto = dict(db.execute("SELECT id, last_seq FROM sessions").fetchall())
    digests = set(known.digests)
    for session, last in upto.items():
        start = known.upto.get(session, 0)
        if start == last:
            continue
        rows = db.execute(
            f"SELECT payload FROM records WHERE session = ? AND seq > ? AND {_MENTIONS_A_BLOB}",
            (session, start),
        )
        for (payload,) in rows:
            digests |= rules.digests_in(payload)
    for (payload,) in db.execute(f"SELECT payload FROM commands WHERE {_MENTIONS_A_BLOB}"):
        digests |= rules.digests_in(payload)
    return Mentions(digests, upto)


def sweep(db: sqlite3.Connection, cutoff: float, known: Mentions) -> Mentions | None:
    """Remove a slice of the old blobs that nothing mentions; reads first what was said since ``known``.

    Gives what is known now when there may be more.
    """
    known = find_mentions(db, known)
    old = db.execute("SELECT digest, length(data) FROM blobs WHERE created_at < ?", (cutoff,))
    size, removed = 0, list[tuple[str]]()
    for digest, length in old.fetchall():
        if digest in known.digests:
            continue
        if removed and size + length > SLICE_BYTES:
            break
        removed.append((digest,))
        size += length
    db.executemany("DELETE FROM blobs WHERE digest = ?", removed)
    return known if removed else None
