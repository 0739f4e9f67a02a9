"""Forgetting while others write: what was looked at first is looked at again in the same transaction."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Iterator
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tests.hubs import opened

from trunkline.commands import Prompt
from trunkline.events import AnyEvent, Text, TurnStarted
from trunkline.journal import Lease, Record, SessionInfo, SessionKey, blobs, retention
from trunkline.journal.lease_clock import Moment, boot_id
from trunkline.journal.sqlite import SqliteJournal

KEY = SessionKey("ada", "one")
Times = dict[str, Any]


@pytest.fixture
async def journal(path: Path, times: Times) -> AsyncIterator[SqliteJournal]:
    async with opened(SqliteJournal(path, **times)) as engine:
        await engine.create(SessionInfo(principal="ada", session_id="one"))
        yield engine


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
    known = blobs.find_mentions(db)
    assert known.digests == {before}
    await say(journal, f"and {during}")
    await journal.post(KEY, "k", Prompt.of(f"and {posted}"))
    blobs.sweep(db, clock.now + 1, known, 1000)
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
    assert retention.discard_old(db, session, cutoff, Moment(clock.now, boot_id())) == 0
    assert len(await journal.read(KEY)) == 1


async def test_a_session_that_was_deleted_meanwhile_is_not_trimmed(
    journal: SqliteJournal, db: sqlite3.Connection
) -> None:
    await say(journal, "x" * 1000)
    await say_turns(journal, 2)
    (session,) = retention.find_large(db, 500)
    assert retention.find_cut(db, session, 5000) is None
    cut = retention.find_cut(db, session, 500)
    assert cut is not None
    await journal.delete(KEY)
    assert retention.trim(db, cut) == 0
    assert retention.find_cut(db, session, 500) is None


async def say_turns(journal: SqliteJournal, count: int, records: int = 5) -> None:
    """Say turns of some records each, of a hundred bytes or so."""
    lease = await journal.claim(KEY, "A", 30)
    assert isinstance(lease, Lease)
    events: list[AnyEvent] = []
    for turn in range(count):
        events.append(TurnStarted(turn_id=f"t{turn}"))
        events += [Text(message_id="m", delta="x" * 60) for _ in range(records - 1)]
    await journal.append(
        lease,
        [
            Record(seq=seq, at=0.0, fence=lease.fence, event=event)
            for seq, event in enumerate(events, lease.last_seq + 1)
        ],
    )
    await journal.release(lease)


def rows_in(db: sqlite3.Connection) -> int:
    return db.execute("SELECT count(*) FROM records").fetchone()[0]


@pytest.fixture
def small_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retention, "SLICE_RECORDS", 10)


@pytest.mark.usefixtures("small_slices")
@pytest.mark.parametrize("way", ["forgotten", "trimmed", "deleted"])
async def test_a_large_session_goes_in_slices_and_others_write_between_them(
    journal: SqliteJournal, db: sqlite3.Connection, clock: SimpleNamespace, way: str
) -> None:
    await say_turns(journal, 100)
    other = SessionKey("ada", "two")
    await journal.create(SessionInfo(principal="ada", session_id="two"))
    clock.now += 100
    going = {
        "forgotten": lambda: journal.retain(max_age=50),
        "trimmed": lambda: journal.retain(max_bytes=1000),
        "deleted": lambda: journal.delete(KEY),
    }[way]
    await journal.describe(other, title="awake")
    lease = await journal.claim(other, "B", 3000)
    assert isinstance(lease, Lease)
    commits = journal.commits
    pruning = asyncio.create_task(going())
    async with asyncio.timeout(20):
        wrote = 0
        while not pruning.done():
            wrote += 1
            event = Text(message_id="m", delta="x")
            await journal.append(lease, [Record(seq=wrote, at=0.0, fence=lease.fence, event=event)])
    assert await pruning == {"forgotten": 500, "trimmed": 490, "deleted": True}[way]
    assert journal.commits - commits >= 45
    assert wrote >= 20
    assert rows_in(db) == wrote + (10 if way == "trimmed" else 0)


@pytest.mark.usefixtures("small_slices")
async def test_what_a_crash_leaves_behind_is_read_by_nobody_and_goes_the_next_time(
    journal: SqliteJournal, db: sqlite3.Connection
) -> None:
    await say_turns(journal, 100)
    (session,) = retention.find_large(db, 1000)
    cut = retention.find_cut(db, session, 1000)
    assert cut is not None
    assert retention.trim(db, cut) == 490
    assert rows_in(db) == 490
    assert [record.seq for record in await journal.read(KEY)] == list(range(491, 501))
    info = await journal.get(KEY)
    assert info is not None
    assert info.first_seq == 491
    await journal.retain()
    assert rows_in(db) == 10

    assert retention.delete(db, KEY) == session
    await journal.create(SessionInfo(principal="ada", session_id="one"))
    await say_turns(journal, 1)
    await journal.retain()
    assert rows_in(db) == 5


async def test_many_blobs_go_in_slices(
    journal: SqliteJournal, clock: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retention, "SLICE_BYTES", 1000)
    digests = [await journal.put_blob(bytes([number]) * 400) for number in range(10)]
    await say(journal, f"see {digests[3]}")
    clock.now += 5000
    commits = journal.commits
    await journal.retain()
    assert journal.commits - commits >= 5
    kept = [await journal.get_blob(digest) for digest in digests]
    assert [data is not None for data in kept] == [number == 3 for number in range(10)]
