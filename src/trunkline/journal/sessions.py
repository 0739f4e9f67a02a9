"""Sessions and their records in a SQLite journal: plain functions of a connection, without time or threads.

Those that write run inside the writer's transaction; those that only read run anywhere.
"""

from __future__ import annotations

import sqlite3
from typing import Any, NamedTuple

import msgspec

from trunkline.journal import refusals
from trunkline.journal.codec import TURN, Batch, encode, unpack, with_kept
from trunkline.journal.interface import (
    Lease,
    Record,
    SearchPage,
    SessionInfo,
    SessionKey,
)
from trunkline.journal.lease_clock import Moment
from trunkline.journal.search import PREFIXES, Query, search_page

_FIELDS = SessionInfo.__struct_fields__  # Each is a column of the same name.
_INFO = ", ".join((*_FIELDS, "expires_at", "boot"))
HERE = "WHERE principal = ? AND session_id = ?"

_roots = msgspec.json.Decoder(tuple[str, ...])
_meta = msgspec.json.Decoder(dict[str, Any] | None)


class _Session(NamedTuple):
    """What the writing operations need of a session's row."""

    id: int
    fence: int
    owner: str | None
    expires_at: float
    boot: str
    first_seq: int
    last_seq: int


def _find(db: sqlite3.Connection, key: SessionKey) -> _Session | None:
    row = db.execute(
        f"SELECT id, fence, owner, expires_at, boot, first_seq, last_seq FROM sessions {HERE}", key
    ).fetchone()
    return row and _Session(*row)


def have(db: sqlite3.Connection, key: SessionKey) -> _Session:
    """Find a session; raises for one that is not there."""
    session = _find(db, key)
    if session is None:
        raise refusals.missing(key)
    return session


def leased(db: sqlite3.Connection, lease: Lease) -> _Session:
    """Find the session of a lease; raises if the lease was lost."""
    session = _find(db, lease.key)
    refusals.check_fence(lease, session and session.fence)
    assert session is not None
    return session


def create(db: sqlite3.Connection, info: SessionInfo, now: float) -> SessionInfo:
    """Add a session."""
    if _find(db, info.key) is not None:
        raise refusals.exists(info.key)
    (fence,) = db.execute("SELECT fence FROM floor").fetchone()
    roots, meta = encode(info.roots, "roots").decode(), encode(info.meta, "meta").decode()
    db.execute(
        "INSERT INTO sessions"
        " (principal, session_id, target, cwd, roots, title, meta, created_at, updated_at, fence)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (*info.key, info.target, info.cwd, roots, info.title, meta, now, now, fence),
    )
    return msgspec.structs.replace(
        info, created_at=now, updated_at=now, first_seq=1, last_seq=0, bytes=0, fence=fence, owner=None
    )


def get(db: sqlite3.Connection, key: SessionKey, now: Moment) -> SessionInfo | None:
    """Look a session up."""
    row = db.execute(f"SELECT {_INFO} FROM sessions {HERE}", key).fetchone()
    return row and _info(row, now)


class Listed(NamedTuple):
    """Which sessions are listed; None does not choose."""

    principal: str | None
    cwd: str | None
    before: tuple[float, str] | None
    begun: bool
    target: str | None

    def where(self) -> tuple[str, list[Any]]:
        """Give the condition in SQL, and its values."""
        conditions = {
            "principal = ?": () if self.principal is None else (self.principal,),
            "rtrim(cwd, '/') = rtrim(?, '/')": () if self.cwd is None else (self.cwd,),
            "(updated_at, session_id) < (?, ?)": self.before or (),
            "target = ?": () if self.target is None else (self.target,),
            # Found at once: what stands before the first turn is a few settings, and retention cuts at turns.
            "EXISTS (SELECT 1 FROM records WHERE session = sessions.id AND kind = ?)": (
                (TURN,) if self.begun else ()
            ),
        }
        chosen = [condition for condition, values in conditions.items() if values]
        where = f"WHERE {' AND '.join(chosen)}" if chosen else ""
        return where, [value for group in conditions.values() for value in group]


def list_sessions(db: sqlite3.Connection, wanted: Listed, limit: int, now: Moment) -> list[SessionInfo]:
    """Give a page of sessions, newest first."""
    where, values = wanted.where()
    rows = db.execute(
        f"SELECT {_INFO} FROM sessions {where} ORDER BY updated_at DESC, session_id DESC LIMIT ?",
        (*values, max(limit, 0)),
    )
    return [_info(row, now) for row in rows]


def search(db: sqlite3.Connection, query: Query, wanted: Listed, limit: int, now: Moment) -> SearchPage:
    """Give the sessions whose titles and texts have every word of a query, as far as one step looks."""
    where, values = wanted.where()
    # The other payloads are not read: their lengths are known without them.
    starts = " OR ".join(f"substr(payload, 1, {len(prefix)}) = ?" for prefix in PREFIXES)
    texts = (
        f"SELECT length(payload), CASE WHEN {starts} THEN payload END"
        " FROM sessions CROSS JOIN records ON session = sessions.id AND seq >= first_seq"
        f" {HERE} ORDER BY seq DESC"
    )
    rows = db.execute(
        f"SELECT {_INFO} FROM sessions {where} ORDER BY updated_at DESC, session_id DESC", values
    )
    found = search_page(
        query,
        (_info(row, now) for row in rows),
        lambda info: db.execute(texts, (*PREFIXES, *info.key)),
        limit,
    )
    rows.close()
    return found


def _info(row: tuple[Any, ...], now: Moment) -> SessionInfo:
    *fields, expires_at, boot = row
    info = dict(zip(_FIELDS, fields, strict=True))
    info["roots"] = _roots.decode(info["roots"])
    info["meta"], info["kept"] = _meta.decode(info["meta"]), _meta.decode(info["kept"])
    if not now.is_before(expires_at, boot):
        info["owner"] = None
    return SessionInfo(**info)


def describe(db: sqlite3.Connection, key: SessionKey, title: str | None) -> None:
    """Set a session's title."""
    db.execute("UPDATE sessions SET title = ? WHERE id = ?", (title, have(db, key).id))


def keep(db: sqlite3.Connection, key: SessionKey, name: str, value: Any) -> None:
    """Set or remove a value that an agent keeps with a session."""
    number = have(db, key).id
    (kept,) = db.execute("SELECT kept FROM sessions WHERE id = ?", (number,)).fetchone()
    changed = encode(with_kept(_meta.decode(kept), name, value), "a kept value").decode()
    db.execute("UPDATE sessions SET kept = ? WHERE id = ?", (changed, number))


def delete(db: sqlite3.Connection, key: SessionKey) -> int | None:
    """Remove a session but for its records, which nobody can read then; give its number, if it was there."""
    session = _find(db, key)
    if session is None:
        return None
    remove(db, session.id)
    return session.id


def remove(db: sqlite3.Connection, session: int) -> int:
    """Remove a session by its number; give how many records it leaves behind (``retention`` takes those)."""
    db.execute("UPDATE floor SET fence = max(fence, (SELECT fence FROM sessions WHERE id = ?))", (session,))
    (left,) = db.execute("SELECT last_seq - first_seq + 1 FROM sessions WHERE id = ?", (session,)).fetchone()
    db.execute("DELETE FROM commands WHERE session = ?", (session,))
    db.execute("DELETE FROM snapshots WHERE session = ?", (session,))
    db.execute("DELETE FROM sessions WHERE id = ?", (session,))
    return left


# -- records --------------------------------------------------------------------------------------


def append(db: sqlite3.Connection, lease: Lease, batch: Batch, now: float) -> None:
    """Add records; the fence is checked in this same transaction.

    The session's row is written even when there are no records: so an empty durable append makes
    durable what was said before it.
    """
    session = leased(db, lease)
    refusals.check_next(lease, batch, session.last_seq)
    number = session.id
    db.executemany("INSERT INTO records VALUES (?, ?, ?, ?, ?, ?)", [(number, *row) for row in batch.rows])
    db.execute(
        "UPDATE sessions SET last_seq = last_seq + ?, bytes = bytes + ?, updated_at = ? WHERE id = ?",
        (len(batch.rows), batch.size, now, number),
    )


def read(db: sqlite3.Connection, key: SessionKey, after: int, limit: int) -> list[Record]:
    """Give a page of records, in order; what was trimmed may still be there, and is not read."""
    session = have(db, key)
    rows = db.execute(
        "SELECT seq, at, fence, kind, payload FROM records WHERE session = ? AND seq > ?"
        " ORDER BY seq LIMIT ?",
        (session.id, max(after, session.first_seq - 1), max(limit, 0)),
    )
    return [unpack(*row) for row in rows]
