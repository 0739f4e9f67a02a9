"""Posted commands in a SQLite journal: each waits for its session's owner, who says what became of it."""

from __future__ import annotations

import sqlite3

import msgspec

from trunkline.journal import refusals
from trunkline.journal.codec import decode_command, encode
from trunkline.journal.interface import Disposition, Lease, Posted, SessionKey
from trunkline.journal.sessions import have, leased

_disposition = msgspec.json.Decoder(Disposition)


def post(db: sqlite3.Connection, key: SessionKey, command_key: str, payload: bytes) -> int:
    """Leave a command for the owner."""
    session = have(db, key).id
    known = db.execute(
        "SELECT number FROM commands WHERE session = ? AND key = ?", (session, command_key)
    ).fetchone()
    if known is not None:
        return known[0]
    (waiting,) = db.execute(
        "SELECT count(*) FROM commands WHERE session = ? AND disposition IS NULL", (session,)
    ).fetchone()
    refusals.check_waiting(key, waiting)
    added = db.execute(
        "INSERT INTO commands (session, key, payload) VALUES (?, ?, ?)", (session, command_key, payload)
    )
    assert added.lastrowid is not None
    return added.lastrowid


def read_waiting(db: sqlite3.Connection, key: SessionKey) -> list[Posted]:
    """Give the commands that wait; those of a newer version wait for an owner that knows them."""
    rows = db.execute(
        "SELECT number, key, payload FROM commands WHERE session = ? AND disposition IS NULL ORDER BY number",
        (have(db, key).id,),
    )
    decoded = ((number, name, decode_command(payload)) for number, name, payload in rows)
    return [Posted(number, name, command) for number, name, command in decoded if command is not None]


def inbox(db: sqlite3.Connection, owner: str) -> list[SessionKey]:
    """Find the sessions of an owner that have commands waiting; starts from the (few) commands."""
    rows = db.execute(
        # CROSS keeps the order: an owner may hold many sessions, and hardly any command waits.
        "SELECT DISTINCT principal, session_id"
        " FROM commands CROSS JOIN sessions ON sessions.id = commands.session"
        " WHERE disposition IS NULL AND owner = ?",
        (owner,),
    )
    return [SessionKey(*row) for row in rows]


def settle(db: sqlite3.Connection, lease: Lease, command_key: str, disposition: Disposition) -> None:
    """Say what became of a command, and forget its payload."""
    session = leased(db, lease).id
    settled = db.execute(
        "UPDATE commands SET disposition = coalesce(disposition, ?), payload = x''"
        " WHERE session = ? AND key = ?",
        (encode(disposition, f"the disposition of {command_key!r}"), session, command_key),
    )
    if not settled.rowcount:
        raise refusals.unposted(command_key)


def report_progress(db: sqlite3.Connection, lease: Lease) -> None:
    """Count for every waiting command that the owner is at work."""
    session = leased(db, lease).id
    db.execute(
        "UPDATE commands SET progress = progress + 1 WHERE session = ? AND disposition IS NULL", (session,)
    )


def progress(db: sqlite3.Connection, key: SessionKey, command_key: str) -> int:
    """How often the owner reported progress since a command was posted."""
    row = db.execute(
        "SELECT progress FROM commands WHERE session = ? AND key = ?", (have(db, key).id, command_key)
    ).fetchone()
    return 0 if row is None else row[0]


def disposition(db: sqlite3.Connection, key: SessionKey, command_key: str) -> Disposition | None:
    """What became of a command."""
    row = db.execute(
        "SELECT disposition FROM commands WHERE session = ? AND key = ?", (have(db, key).id, command_key)
    ).fetchone()
    return _disposition.decode(row[0]) if row is not None and row[0] is not None else None
