"""What only a file can do: outlive a process, be shared, be full, be damaged."""

import asyncio
import resource
import sqlite3
import sys
import threading
from collections.abc import AsyncIterator, Generator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.hubs import opened

from trunkline.commands import Prompt
from trunkline.errors import Corrupt, Fenced, JournalError
from trunkline.events import Raw, Text
from trunkline.journal import Held, Lease, Record, SessionInfo, SessionKey
from trunkline.journal.sqlite import SqliteJournal

KEY = SessionKey("ada", "one")
Times = dict[str, Any]


def texts(lease: Lease, count: int, *, after: int = 0, delta: str = "x") -> list[Record]:
    event = Text(message_id="m", delta=delta)
    return [
        Record(seq=seq, at=0.0, fence=lease.fence, event=event) for seq in range(after + 1, after + count + 1)
    ]


async def begin(journal: SqliteJournal, owner: str = "A", name: str = "one") -> Lease:
    key = SessionKey("ada", name)
    if await journal.get(key) is None:
        await journal.create(SessionInfo(principal="ada", session_id=name))
    lease = await journal.claim(key, owner, 30)
    assert isinstance(lease, Lease)
    return lease


async def last_seq(journal: SqliteJournal, key: SessionKey = KEY) -> int:
    info = await journal.get(key)
    assert info is not None
    return info.last_seq


@contextmanager
def locked(path: Path) -> Generator[None]:
    """Hold the file's write lock, as another process would."""
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("BEGIN IMMEDIATE")
        yield


def change(path: Path, statement: str) -> None:
    """Change the file behind the journal's back."""
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        assert db.execute(statement).rowcount > 0


@pytest.fixture
async def journal(path: Path, times: Times) -> AsyncIterator[SqliteJournal]:
    async with opened(SqliteJournal(path, **times)) as engine:
        yield engine


@pytest.fixture
async def neighbour(journal: SqliteJournal, path: Path, times: Times) -> AsyncIterator[SqliteJournal]:
    """A second journal on the same file, with connections and threads of its own."""
    async with opened(SqliteJournal(path, **times)) as engine:
        yield engine


# -- life --


async def test_a_closed_journal_is_one_file_and_holds_everything(journal: SqliteJournal, path: Path) -> None:
    lease = await begin(journal)
    appending = [journal.append(lease, texts(lease, 10, after=10 * n)) for n in range(100)]
    await journal.close()
    assert all(future.done() and future.exception() is None for future in appending)
    assert [file.name for file in path.parent.iterdir()] == ["journal.db"]
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("trunkline-journal")]
    async with opened(SqliteJournal(path)) as again:
        assert await last_seq(again) == 1000


async def test_a_journal_that_was_never_opened_can_be_closed(path: Path) -> None:
    await SqliteJournal(path).close()
    assert list(path.parent.glob("*")) == []


async def test_closing_goes_on_when_its_caller_is_cancelled(journal: SqliteJournal, path: Path) -> None:
    lease = await begin(journal)
    with locked(path):
        appending = journal.append(lease, texts(lease, 1))
        closing_it = asyncio.create_task(journal.close())
        await asyncio.sleep(0)
        closing_it.cancel()
        with pytest.raises(asyncio.CancelledError):
            await closing_it
        assert not appending.done()
    async with asyncio.timeout(10):
        await journal.close()
        await appending


async def test_a_cancelled_opening_leaves_nothing_open(path: Path) -> None:
    journal = SqliteJournal(path)
    opening = asyncio.create_task(journal.open())
    await asyncio.sleep(0)
    opening.cancel()
    with pytest.raises(asyncio.CancelledError):
        await opening
    with pytest.raises(JournalError, match="not open"):
        await journal.get(KEY)
    await journal.open()
    await begin(journal)
    await journal.close()


# -- two processes --


async def test_a_follower_is_told_of_another_processs_changes(
    journal: SqliteJournal, neighbour: SqliteJournal
) -> None:
    lease = await begin(journal)
    version = await neighbour.changes(0, poll=0.05)
    seen: list[int] = []
    async with asyncio.timeout(20):
        for number in range(5):
            following = asyncio.create_task(neighbour.changes(version, poll=0.01))
            await asyncio.sleep(0)
            await journal.append(lease, texts(lease, 1, after=number))
            newer = await following
            assert newer > version
            version = newer
            seen.append(await last_seq(neighbour))
    assert seen == [1, 2, 3, 4, 5]


WRITES_FOREVER = """
import asyncio, sys
from trunkline.events import Text
from trunkline.journal import Record, SessionInfo, SessionKey
from trunkline.journal.sqlite import SqliteJournal

async def main():
    journal = SqliteJournal(sys.argv[1])
    await journal.open()
    await journal.create(SessionInfo(principal="ada", session_id="one"))
    lease = await journal.claim(SessionKey("ada", "one"), "child", 0.01)
    event, seq = Text(message_id="m", delta="x" * 100), 1
    while True:
        appending = []
        for _ in range(20):
            records = [Record(seq=seq + n, at=0.0, fence=lease.fence, event=event) for n in range(7)]
            appending.append(journal.append(lease, records))
            seq += 7
        await asyncio.gather(*appending)
        print(seq - 1, flush=True)

asyncio.run(main())
"""


async def test_a_killed_process_leaves_whole_appends_and_a_session_to_take_over(path: Path) -> None:
    async with asyncio.timeout(30):
        child = await asyncio.create_subprocess_exec(
            sys.executable, "-c", WRITES_FOREVER, str(path), stdout=asyncio.subprocess.PIPE
        )
        assert child.stdout is not None
        confirmed = 0
        for _ in range(20):
            confirmed = int(await child.stdout.readline())
        child.kill()
        for line in (await child.stdout.read()).splitlines(keepends=True):
            confirmed = int(line) if line.endswith(b"\n") else confirmed
        await child.wait()
    journal = SqliteJournal(path)
    await journal.open()
    try:
        lease = await begin(journal, "heir")
        records = await journal.read(KEY, limit=10**9)
        assert [record.seq for record in records] == list(range(1, len(records) + 1))
        assert len(records) % 7 == 0
        assert len(records) >= confirmed
        assert lease == Lease(KEY, "heir", 2, len(records))
        await journal.append(lease, texts(lease, 1, after=len(records)))
    finally:
        await journal.close()


# -- many at once --


async def test_appends_that_wait_together_share_one_commit(journal: SqliteJournal, path: Path) -> None:
    leases = [await begin(journal, name=str(number)) for number in range(20)]
    commits = journal.commits
    with locked(path):
        appending = [
            journal.append(lease, texts(lease, 5, after=5 * turn)) for turn in range(10) for lease in leases
        ]
    async with asyncio.timeout(10):
        await asyncio.gather(*appending)
    assert 1 <= journal.commits - commits <= 2
    assert {await last_seq(journal, lease.key) for lease in leases} == {50}


async def test_a_fenced_append_costs_its_neighbours_nothing(journal: SqliteJournal, path: Path) -> None:
    lost, good = await begin(journal, name="lost"), await begin(journal, name="good")
    heir = await begin(journal, name="lost")
    with locked(path):
        appending = [
            journal.append(good, texts(good, 1)),
            journal.append(lost, texts(lost, 1)),
            journal.append(good, texts(good, 1, after=1)),
            journal.append(heir, texts(heir, 1)),
        ]
    async with asyncio.timeout(10):
        results = await asyncio.gather(*appending, return_exceptions=True)
    assert [type(result) for result in results] == [type(None), Fenced, type(None), type(None)]
    assert await last_seq(journal, good.key) == 2


async def test_too_many_waiting_bytes_are_refused_and_the_rest_is_kept(path: Path) -> None:
    async with opened(SqliteJournal(path, max_waiting=100_000)) as journal:
        lease = await begin(journal)
        with locked(path):
            fits = journal.append(lease, texts(lease, 1, delta="x" * 60_000))
            also = journal.append(lease, texts(lease, 1, after=1, delta="x" * 60_000))
            # The writer may have taken the first one already: then the third still fits.
            rest = [journal.append(lease, texts(lease, 1, after=n, delta="x" * 60_000)) for n in (2, 3, 4)]
            assert isinstance(rest[-1].exception(), JournalError)
        async with asyncio.timeout(10):
            results = await asyncio.gather(fits, also, *rest, return_exceptions=True)
        kept = results.index(next(result for result in results if result is not None))
        assert "too slow" in str(results[kept])
        assert await last_seq(journal) == kept >= 2
        await journal.append(lease, texts(lease, 1, after=kept))


async def test_the_sessions_of_a_principal_share_a_limit_that_is_nobody_elses(path: Path) -> None:
    async with opened(SqliteJournal(path, max_waiting=100_000)) as journal:
        leases = [await begin(journal, name=str(number)) for number in range(6)]
        other = SessionKey("bob", "one")
        await journal.create(SessionInfo(principal="bob", session_id="one"))
        theirs = await journal.claim(other, "A", 30)
        assert isinstance(theirs, Lease)
        with locked(path):
            flood = [journal.append(lease, texts(lease, 1, delta="x" * 99_000)) for lease in leases]
            assert "of one principal" in str(flood[-1].exception())
            assert journal.crowded(leases[-1].key)
            assert not journal.crowded(other)
            fine = journal.append(theirs, texts(theirs, 1))
        async with asyncio.timeout(10):
            await fine
            await asyncio.gather(*flood, return_exceptions=True)


async def test_whoever_can_wait_waits_for_room_instead_of_being_refused(path: Path) -> None:
    async with opened(SqliteJournal(path, max_waiting=80_000)) as journal:
        lease = await begin(journal)
        with locked(path):
            first = journal.append(lease, texts(lease, 1, delta="x" * 10_000))
            waiting = [asyncio.create_task(journal.room(KEY))]
            waiting += [
                asyncio.create_task(journal.post(KEY, str(n), Prompt.of("y" * 60_000))) for n in range(10)
            ]
            waiting += [asyncio.create_task(journal.put_blob(bytes([n]) * 100_000)) for n in range(10)]
            abandoned = asyncio.create_task(journal.room(KEY))
            await asyncio.sleep(0)
            abandoned.cancel()
            assert journal.crowded(KEY)
            assert not any(task.done() for task in waiting)
        async with asyncio.timeout(10):
            await asyncio.gather(first, *waiting)
        assert len(await journal.commands(KEY)) == 10
        assert not journal.crowded(KEY)


async def test_closing_lets_go_of_whoever_waits_for_room(path: Path) -> None:
    journal = SqliteJournal(path, max_waiting=8)
    await journal.open()
    lease = await begin(journal)
    with locked(path):
        writing = journal.append(lease, texts(lease, 1))
        waiting = asyncio.create_task(journal.post(KEY, "k", Prompt.of("late")))
        await asyncio.sleep(0)
        closing_it = asyncio.create_task(journal.close())
        await asyncio.sleep(0)
    async with asyncio.timeout(10):
        await asyncio.gather(writing, closing_it)
        with pytest.raises(JournalError, match="not open"):
            await waiting
    assert not journal.crowded(KEY)


async def test_cancelling_a_wait_changes_nothing_that_was_queued(journal: SqliteJournal, path: Path) -> None:
    lease = await begin(journal)
    with locked(path):
        first = journal.append(lease, texts(lease, 1))
        second = journal.append(lease, texts(lease, 1, after=1))
        first.cancel()
        reading = asyncio.create_task(journal.read(KEY))
        await asyncio.sleep(0)
        reading.cancel()
    async with asyncio.timeout(10):
        await second
    assert await last_seq(journal) == 2


async def test_a_cancelled_claim_is_given_back(
    journal: SqliteJournal, neighbour: SqliteJournal, path: Path
) -> None:
    await journal.create(SessionInfo(principal="ada", session_id="one"))
    with locked(path):
        claiming = asyncio.create_task(journal.claim(KEY, "A", 1000))
        await asyncio.sleep(0)
        claiming.cancel()
        with pytest.raises(asyncio.CancelledError):
            await claiming
    async with asyncio.timeout(10):
        version = 0
        while True:
            version = await journal.changes(version, poll=0.05)
            info = await journal.get(KEY)
            assert info is not None
            if info.fence and info.owner is None:
                break
    assert isinstance(await neighbour.claim(KEY, "B", 30), Lease)


async def test_a_cancelled_claim_that_failed_or_was_held_needs_no_giving_back(
    journal: SqliteJournal, path: Path
) -> None:
    held = await begin(journal, "B")
    with locked(path):
        claiming = [
            asyncio.create_task(journal.claim(key, "A", 1000)) for key in (KEY, SessionKey("ada", "none"))
        ]
        await asyncio.sleep(0)
        for task in claiming:
            task.cancel()
        await asyncio.wait(claiming)
    await journal.append(held, texts(held, 1))
    assert isinstance(await journal.claim(KEY, "A", 10), Held)


# -- what can go wrong --


async def test_a_file_that_is_busy_for_too_long_fails_the_append_and_is_tried_again(
    journal: SqliteJournal, path: Path
) -> None:
    async with opened(SqliteJournal(path, timeout=0.01)) as hasty:
        lease = await begin(hasty)
        with locked(path):
            with pytest.raises(JournalError, match="another process holds it"):
                await hasty.append(lease, texts(lease, 1))
            assert await hasty.read(KEY) == []
        await hasty.append(lease, texts(lease, 1))
        assert await last_seq(journal) == 1


class SmallDisk(SqliteJournal):
    """A journal on a disk whose free pages can be counted out."""

    async def leave_pages(self, count: int) -> None:
        def limit(db: sqlite3.Connection) -> None:
            (used,) = db.execute("PRAGMA page_count").fetchone()
            db.execute(f"PRAGMA max_page_count={used + count}")

        await self._write(limit)


async def test_a_full_disk_fails_the_group_and_is_not_the_end(path: Path) -> None:
    async with opened(SmallDisk(path)) as journal:
        lease, other = await begin(journal), await begin(journal, name="other")
        await journal.leave_pages(10)
        with locked(path):
            appending = [
                journal.append(other, texts(other, 1)),
                journal.append(lease, texts(lease, 100, delta="x" * 4000)),
                journal.append(lease, texts(lease, 1, after=100)),
            ]
        async with asyncio.timeout(10):
            results = await asyncio.gather(*appending, return_exceptions=True)
        assert "disk or a quota is full" in str(results[1])
        # The first may have been alone in its group; whoever shared one with the big append fails with it.
        assert isinstance(results[2], JournalError)
        assert await last_seq(journal) == 0
        await journal.append(lease, texts(lease, 1))
        await journal.leave_pages(10_000)
        await journal.append(lease, texts(lease, 100, after=1, delta="x" * 4000))
        assert await last_seq(journal) == 101


async def test_a_disk_that_refuses_to_write_fails_the_append_and_is_tried_again(
    journal: SqliteJournal, path: Path
) -> None:
    lease = await begin(journal)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    size = path.with_name("journal.db-wal").stat().st_size
    resource.setrlimit(resource.RLIMIT_FSIZE, (size + 50_000, hard))
    try:
        with pytest.raises(JournalError, match="free space"):
            await journal.append(lease, texts(lease, 1000, delta="x" * 1000))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert await journal.read(KEY) == []
    await journal.append(lease, texts(lease, 1000, delta="x" * 1000))
    assert await last_seq(journal) == 1000


async def test_one_impossible_record_fails_alone(journal: SqliteJournal, path: Path) -> None:
    good, bad = await begin(journal, name="good"), await begin(journal, name="bad")
    with locked(path):
        appending = [
            journal.append(good, texts(good, 1)),
            journal.append(
                bad, [Record(seq=1, at=float("nan"), fence=bad.fence, event=Text(message_id="m", delta=""))]
            ),
            journal.append(good, texts(good, 1, after=1)),
        ]
    async with asyncio.timeout(10):
        results = await asyncio.gather(*appending, return_exceptions=True)
    assert [type(result) for result in results] == [type(None), JournalError, type(None)]
    assert await last_seq(journal, bad.key) == 0


async def test_records_and_commands_of_a_newer_version_are_kept_and_cost_nothing(
    journal: SqliteJournal, path: Path
) -> None:
    lease = await begin(journal)
    await journal.append(lease, [*texts(lease, 1), Record(seq=2, at=0, fence=1, command=Prompt.of("hi"))])
    await journal.post(KEY, "new", Prompt.of("hi"))
    await journal.post(KEY, "known", Prompt.of("hi"))
    change(path, """UPDATE records SET payload = CAST('{"type":"hologram","n":1}' AS BLOB)""")
    change(path, """UPDATE commands SET payload = CAST('{"type":"dance"}' AS BLOB) WHERE key = 'new'""")
    assert [record.event for record in await journal.read(KEY)] == [
        Raw(source="trunkline", payload={"type": "hologram", "n": 1})
    ] * 2
    assert [posted.key for posted in await journal.commands(KEY)] == ["known"]


async def test_a_damaged_record_or_blob_is_reported_with_the_next_step(
    journal: SqliteJournal, path: Path
) -> None:
    lease = await begin(journal)
    await journal.append(lease, texts(lease, 1))
    digest = await journal.put_blob(b"picture")
    change(path, "UPDATE records SET payload = x'7b22ff'")
    change(path, "UPDATE blobs SET data = x'00'")
    with pytest.raises(Corrupt, match=r"record 1 is damaged.*copy"):
        await journal.read(KEY)
    with pytest.raises(Corrupt, match="is damaged; put back a copy"):
        await journal.get_blob(digest)


async def test_a_file_damaged_in_the_middle_is_reported_when_it_is_read(path: Path) -> None:
    async with opened(SqliteJournal(path)) as journal:
        lease = await begin(journal)
        await journal.append(lease, texts(lease, 1000, delta="x" * 1000))
    with path.open("r+b") as file:
        file.seek(4096 * 20)
        file.write(b"\xff" * 4096 * 100)
    await journal.open()
    with pytest.raises(Corrupt, match="move it away"):
        await journal.read(KEY, limit=1000)
    await journal.close()


async def test_a_sessions_waiting_bytes_never_refuse_anothers(path: Path) -> None:
    async with opened(SqliteJournal(path, max_waiting=100_000)) as journal:
        flooding, modest = await begin(journal, name="flooding"), await begin(journal, name="modest")
        with locked(path):
            flood = [
                journal.append(flooding, texts(flooding, 1, after=n, delta="x" * 60_000)) for n in range(20)
            ]
            assert isinstance(flood[-1].exception(), JournalError)
            fine = journal.append(modest, texts(modest, 1))
            settled = journal.describe(modest.key, title="fine")
        async with asyncio.timeout(10):
            await asyncio.gather(fine, settled)
            await asyncio.gather(*flood, return_exceptions=True)
        assert await last_seq(journal, modest.key) == 1
