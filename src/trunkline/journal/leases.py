"""Leases in a SQLite journal: who may write to a session, and until when."""

from __future__ import annotations

import sqlite3

from trunkline.journal.interface import Held, Lease, SessionKey
from trunkline.journal.lease_clock import Moment
from trunkline.journal.sessions import HERE, have


def claim(db: sqlite3.Connection, key: SessionKey, owner: str, ttl: float, now: Moment) -> Lease | Held:
    """Take the lease with a new fence, unless somebody else holds it."""
    session = have(db, key)
    if session.owner not in (None, owner) and now.is_before(session.expires_at, session.boot):
        return Held(session.owner, session.fence, session.expires_at - now.at)
    db.execute(
        "UPDATE sessions SET fence = ?, owner = ?, expires_at = ?, boot = ? WHERE id = ?",
        (session.fence + 1, owner, now.at + ttl, now.boot, session.id),
    )
    return Lease(key, owner, session.fence + 1, session.last_seq)


def renew(db: sqlite3.Connection, owner: str, ttl: float, now: Moment) -> dict[SessionKey, int]:
    """Extend whatever this owner still holds; a session that was taken over has another owner."""
    db.execute(
        "UPDATE sessions SET expires_at = ?, boot = ? WHERE owner = ?", (now.at + ttl, now.boot, owner)
    )
    held = db.execute("SELECT principal, session_id, fence FROM sessions WHERE owner = ?", (owner,))
    return {SessionKey(principal, session_id): fence for principal, session_id, fence in held}


def release(db: sqlite3.Connection, lease: Lease) -> None:
    """Give a lease back, if it is still ours."""
    db.execute(
        f"UPDATE sessions SET owner = NULL, expires_at = 0 {HERE} AND fence = ?", (*lease.key, lease.fence)
    )
