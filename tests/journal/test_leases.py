"""Leases in SQL; what all engines promise is in test_interface."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from trunkline.journal import Held, Lease, SessionInfo, SessionKey, leases, sessions
from trunkline.journal.lease_clock import Moment
from trunkline.journal.tables import connect, make_file, migrate

KEY = SessionKey("ada", "one")
NOW = Moment(100.0, "boot")


@pytest.fixture
def db(path: Path) -> Iterator[sqlite3.Connection]:
    """A file with one session."""
    make_file(path)
    with closing(connect(path, timeout=1)) as connection:
        migrate(connection, path)
        sessions.create(connection, SessionInfo(principal="ada", session_id="one"), 1.0)
        yield connection


def claimed(db: sqlite3.Connection, owner: str = "A", now: Moment = NOW) -> Lease:
    lease = leases.claim(db, KEY, owner, 10, now)
    assert isinstance(lease, Lease)
    return lease


def test_a_lease_holds_until_its_time_is_over_or_the_machine_was_started_again(
    db: sqlite3.Connection,
) -> None:
    claimed(db)
    assert isinstance(leases.claim(db, KEY, "B", 10, NOW), Held)
    assert claimed(db, "B", Moment(111.0, "boot")).fence == 2
    assert claimed(db, "C", Moment(0.0, "next boot")).fence == 3
