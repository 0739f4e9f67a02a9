"""Snapshots in a SQLite journal: what the records of a session mean, kept beside them.

They are never the truth. Whatever removes records removes the snapshots that were made of them.
"""

from __future__ import annotations

import sqlite3

from trunkline.journal import refusals
from trunkline.journal.interface import Lease, SessionKey, Snapshot
from trunkline.journal.sessions import have, leased


def put(db: sqlite3.Connection, lease: Lease, part: str, snapshot: Snapshot) -> None:
    """Keep a snapshot of a part in the place of those behind the one that it continues."""
    session = leased(db, lease)
    refusals.check_snapshot(lease, snapshot, session.last_seq)
    db.execute(
        "DELETE FROM snapshots WHERE session = ? AND part = ? AND seq > ?", (session.id, part, snapshot.after)
    )
    db.execute("INSERT INTO snapshots VALUES (?, ?, ?, ?, ?, ?)", (session.id, part, *snapshot))


def get(db: sqlite3.Connection, key: SessionKey, part: str) -> list[Snapshot]:
    """Give the snapshots of a part, oldest first."""
    rows = db.execute(
        "SELECT seq, after, version, payload FROM snapshots WHERE session = ? AND part = ? ORDER BY seq",
        (have(db, key).id, part),
    )
    return [Snapshot(*row) for row in rows]
