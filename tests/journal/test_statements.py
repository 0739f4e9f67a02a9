"""Each operation in SQL; what all engines promise is in test_interface.py."""

import asyncio
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given, settings
from tests.journal.interleavings import Step, run_steps, steps

from trunkline.journal import Held, Lease, SessionInfo, SessionKey, statements
from trunkline.journal.lease_clock import Moment
from trunkline.journal.sqlite import SqliteJournal
from trunkline.journal.tables import connect, make_file, migrate

KEY = SessionKey("ada", "one")
NOW = Moment(100.0, "boot")


@pytest.mark.timeout(120)
@settings(max_examples=40)
@given(steps)
def test_any_interleaving_of_processes_on_a_file_is_one_log(steps: list[Step]) -> None:
    now = [0.0]
    with tempfile.TemporaryDirectory() as folder:
        first, second = (SqliteJournal(Path(folder, "j.db"), lease_clock=lambda: now[0]) for _ in range(2))
        asyncio.run(run_steps(steps, (first, second), now))


@pytest.fixture
def db(path: Path) -> Iterator[sqlite3.Connection]:
    """A file with one session."""
    make_file(path)
    with closing(connect(path, timeout=1)) as connection:
        migrate(connection, path)
        statements.create(connection, SessionInfo(principal="ada", session_id="one"), 1.0)
        yield connection


def claimed(db: sqlite3.Connection, owner: str = "A", now: Moment = NOW) -> Lease:
    lease = statements.claim(db, KEY, owner, 10, now)
    assert isinstance(lease, Lease)
    return lease


def test_a_lease_holds_until_its_time_is_over_or_the_machine_was_started_again(
    db: sqlite3.Connection,
) -> None:
    claimed(db)
    assert isinstance(statements.claim(db, KEY, "B", 10, NOW), Held)
    assert claimed(db, "B", Moment(111.0, "boot")).fence == 2
    assert claimed(db, "C", Moment(0.0, "next boot")).fence == 3
