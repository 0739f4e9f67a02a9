"""Forgetting while others write: what was looked at first is looked at again in the same transaction."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator, Iterator
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from trunkline.commands import Prompt
from trunkline.events import Text
from trunkline.journal import Lease, Record, SessionInfo, SessionKey, retention
from trunkline.journal.lease_clock import Moment
from trunkline.journal.sqlite import SqliteJournal
from trunkline.owners import boot_id

KEY = SessionKey("ada", "one")
Times = dict[str, Any]


@pytest.fixture
async def journal(path: Path, times: Times) -> AsyncIterator[SqliteJournal]:
    engine = SqliteJournal(path, **times)
    await engine.open()
    await engine.create(SessionInfo(principal="ada", session_id="one"))
    yield engine
    await engine.close()


@pytest.fixture
def db(journal: SqliteJournal, path: Path) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        yield connection


async def say(journal: SqliteJournal, *deltas: str) -> None:
    lease = await journal.claim(KEY, "A", 30)
    assert isinstance(lease, Lease)
    await journal.append(
        lease,
        [
            Record(seq=seq, at=0.0, fence=lease.fence, event=Text(message_id="m", delta=delta))
            for seq, delta in enumerate(deltas, lease.last_seq + 1)
        ],
    )
    await journal.release(lease)


async def test_a_blob_that_is_mentioned_while_the_records_are_read_is_kept(
    journal: SqliteJournal, db: sqlite3.Connection, clock: SimpleNamespace
) -> None:
    before, during, posted, never = [await journal.put_blob(data) for data in (b"1", b"2", b"3", b"4")]
    await say(journal, "hello", f"see {before}")
    known = retention.find_mentions(db)
    assert known.digests == {before}
    await say(journal, f"and {during}")
    await journal.post(KEY, "k", Prompt.of(f"and {posted}"))
    retention.sweep(db, clock.now + 1, known)
    assert [await journal.get_blob(digest) for digest in (before, during, posted, never)] == [
        b"1",
        b"2",
        b"3",
        None,
    ]


async def test_a_session_that_woke_up_meanwhile_is_not_forgotten(
    journal: SqliteJournal, db: sqlite3.Connection, clock: SimpleNamespace
) -> None:
    clock.now += 100
    cutoff = clock.now - 50
    (session,) = retention.find_idle(db, cutoff, Moment(clock.now, boot_id()))
    await say(journal, "awake")
    assert retention.forget(db, session, cutoff, Moment(clock.now, boot_id())) == 0
    assert len(await journal.read(KEY)) == 1


async def test_a_session_that_was_deleted_meanwhile_is_not_trimmed(
    journal: SqliteJournal, db: sqlite3.Connection
) -> None:
    await say(journal, "x" * 1000)
    (session,) = retention.find_large(db, 500)
    assert retention.trim(db, session, 5000) == 0
    await journal.delete(KEY)
    assert retention.trim(db, session, 500) == 0
