"""Blobs: attachments and large outputs, kept once under their digest, and removed when nothing mentions them.

In a SQLite journal they live in its own file: one file to copy, one mode, one transaction, and nothing to
tidy up beside it after a crash. They are shared by digest, so no session owns one. Which are still
needed is found by reading the records for their digests, but only when retain() is called and some
blob is old enough to go.
"""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING, NamedTuple

from trunkline.errors import Corrupt

if TYPE_CHECKING:
    import sqlite3

GRACE = 3600.0
"""Seconds a blob is kept although no record mentions it: its record may be on the way."""

_DIGEST = re.compile(rb"sha256:[0-9a-f]{64}")
_MENTIONS_ONE = "instr(payload, CAST('sha256:' AS BLOB))"


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


# -- in a SQLite journal ----------------------------------------------------------------------------


class Mentions(NamedTuple):
    """The blobs that are needed, as far as the records were read."""

    digests: set[str]
    upto: dict[int, int]
    """The newest record that was read, by the session's number."""


NOTHING_READ = Mentions(set(), {})


def put(db: sqlite3.Connection, digest: str, data: bytes, now: float) -> None:
    """Keep data, or keep it for longer if it is there already."""
    db.execute(
        "INSERT INTO blobs (digest, created_at, data) VALUES (?, ?, ?)"
        " ON CONFLICT (digest) DO UPDATE SET created_at = excluded.created_at",
        (digest, now, data),
    )


def get(db: sqlite3.Connection, digest: str) -> bytes | None:
    """Give data back if it is there and whole."""
    row = db.execute("SELECT data FROM blobs WHERE digest = ?", (digest,)).fetchone()
    return row and verify(digest, row[0])


def has_old(db: sqlite3.Connection, cutoff: float) -> bool:
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
            f"SELECT payload FROM records WHERE session = ? AND seq > ? AND {_MENTIONS_ONE}",
            (session, start),
        )
        for (payload,) in rows:
            digests |= digests_in(payload)
    for (payload,) in db.execute(f"SELECT payload FROM commands WHERE {_MENTIONS_ONE}"):
        digests |= digests_in(payload)
    return Mentions(digests, upto)


def sweep(db: sqlite3.Connection, cutoff: float, known: Mentions, most: int) -> Mentions | None:
    """Remove some of the old blobs that nothing mentions; reads first what was said since ``known``.

    They have ``most`` bytes, unless one alone has more. Gives what is known now when there may be more.
    """
    known = find_mentions(db, known)
    old = db.execute("SELECT digest, length(data) FROM blobs WHERE created_at < ?", (cutoff,))
    size, removed = 0, list[tuple[str]]()
    for digest, length in old.fetchall():
        if digest in known.digests:
            continue
        if removed and size + length > most:
            break
        removed.append((digest,))
        size += length
    db.executemany("DELETE FROM blobs WHERE digest = ?", removed)
    return known if removed else None
