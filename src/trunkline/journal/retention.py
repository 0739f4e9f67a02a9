"""Blobs, and what a SQLite journal may forget.

Blobs live in the journal's own file: one file to copy, one mode, one transaction, and nothing to
tidy up beside it after a crash. They are shared by digest, so no session owns one. Which are still
needed is found by reading the records for their digests, but only when retain() is called and some
blob is old enough to go.

Space that is freed is used again by the file; the file itself does not shrink.
"""

from __future__ import annotations

import sqlite3
from typing import NamedTuple

from trunkline.journal import rules
from trunkline.journal.lease_clock import Moment
from trunkline.journal.statements import remove

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


def forget(db: sqlite3.Connection, session: int, cutoff: float, now: Moment) -> int:
    """Remove a session if it is still idle; give the number of records that went."""
    idle = db.execute(f"SELECT 1 FROM sessions WHERE id = ? AND {_IDLE}", (session, cutoff, *now)).fetchone()
    return remove(db, session) if idle else 0


def find_large(db: sqlite3.Connection, max_bytes: int) -> list[int]:
    """Find the sessions above a size."""
    return [number for (number,) in db.execute("SELECT id FROM sessions WHERE bytes > ?", (max_bytes,))]


def trim(db: sqlite3.Connection, session: int, max_bytes: int) -> int:
    """Remove a session's oldest turns; give the number of records that went."""
    row = db.execute("SELECT bytes FROM sessions WHERE id = ?", (session,)).fetchone()
    if row is None or row[0] <= max_bytes:
        return 0
    sizes = db.execute(
        "SELECT seq, kind, length(payload) FROM records WHERE session = ? ORDER BY seq", (session,)
    )
    found = rules.cut(sizes, row[0] - max_bytes)
    sizes.close()
    if found is None:
        return 0
    first, freed = found
    # They know of what goes.
    db.execute("DELETE FROM snapshots WHERE session = ?", (session,))
    db.execute("UPDATE sessions SET first_seq = ?, bytes = bytes - ? WHERE id = ?", (first, freed, session))
    return db.execute("DELETE FROM records WHERE session = ? AND seq < ?", (session, first)).rowcount


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


def sweep(db: sqlite3.Connection, cutoff: float, known: Mentions) -> None:
    """Remove the old blobs that nothing mentions; reads first what was said since ``known``."""
    needed = find_mentions(db, known).digests
    old = db.execute("SELECT digest FROM blobs WHERE created_at < ?", (cutoff,)).fetchall()
    db.executemany("DELETE FROM blobs WHERE digest = ?", [row for row in old if row[0] not in needed])
