"""Each operation in SQL; what all engines promise is in test_interface.py."""

from __future__ import annotations

import asyncio
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given, settings
from tests.journal.interleavings import Step, run_steps, steps

from trunkline.commands import Cancel
from trunkline.errors import Fenced, SessionNotFound
from trunkline.events import Text
from trunkline.journal import Disposition, Held, Lease, Record, SessionInfo, SessionKey, statements
from trunkline.journal.codec import encode, pack
from trunkline.journal.lease_clock import Moment
from trunkline.journal.schema import connect, make_file, migrate
from trunkline.journal.sqlite import SqliteJournal

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


def test_records_are_appended_by_the_newest_lease_only(db: sqlite3.Connection) -> None:
    lost, lease = claimed(db), claimed(db)
    event = Text(message_id="m", delta="a")
    statements.append(db, lease, pack(lease, [Record(seq=1, at=1.0, fence=2, event=event)]), 2.0)
    with pytest.raises(Fenced):
        statements.append(db, lost, pack(lost, [Record(seq=2, at=1.0, fence=1, event=event)]), 2.0)
    assert [record.event for record in statements.read(db, KEY, 0, 10)] == [event]
    info = statements.get(db, KEY, NOW)
    assert info is not None
    assert (info.last_seq, info.updated_at) == (1, 2.0)


def test_a_command_is_posted_once_by_its_key_and_settled_once(db: sqlite3.Connection) -> None:
    lease, payload = claimed(db), encode(Cancel(), "it")
    assert statements.post(db, KEY, "k", payload) == statements.post(db, KEY, "k", payload)
    assert [posted.key for posted in statements.commands(db, KEY)] == ["k"]
    assert statements.inbox(db, "A") == [KEY]
    first = Disposition(accepted=True)
    statements.settle(db, lease, "k", first)
    statements.settle(db, lease, "k", Disposition(accepted=False))
    assert statements.disposition(db, KEY, "k") == first
    assert statements.commands(db, KEY) == []


def test_a_deleted_session_is_not_there_for_any_operation(db: sqlite3.Connection) -> None:
    lease = claimed(db)
    statements.delete(db, KEY)
    assert statements.get(db, KEY, NOW) is None
    with pytest.raises(SessionNotFound):
        statements.have(db, KEY)
    with pytest.raises(Fenced, match="deleted"):
        statements.leased(db, lease)
