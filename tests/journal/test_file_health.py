"""A file that is gone, replaced, damaged or on a full disk is noticed before anybody relies on it."""

import asyncio
import json
import os
import sqlite3
import stat
import sys
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path

import pytest
from tests.faults.disks import as_anybody
from tests.hubs import opened

from trunkline.errors import Corrupt, JournalError
from trunkline.events import Text
from trunkline.journal import Lease, Record, SessionInfo, SessionKey
from trunkline.journal.file_health import FileHealth
from trunkline.journal.sqlite import SqliteJournal
from trunkline.journal.tables import connect

KEY = SessionKey("ada", "one")


@pytest.fixture
async def journal(path: Path) -> AsyncIterator[SqliteJournal]:
    async with opened(SqliteJournal(path)) as engine:
        await engine.create(SessionInfo(principal="ada", session_id="one"))
        yield engine


async def begin(journal: SqliteJournal) -> Lease:
    lease = await journal.claim(KEY, "A", 30)
    assert isinstance(lease, Lease)
    return lease


def text_record(lease: Lease, seq: int, delta: str = "x") -> list[Record]:
    return [Record(seq=seq, at=0.0, fence=lease.fence, event=Text(message_id="m", delta=delta))]


def names(path: Path) -> set[str]:
    return {found.name for found in path.parent.iterdir()}


def remove(path: Path, ending: str = "") -> None:
    path.with_name(path.name + ending).unlink()


def move(old: Path, new: Path) -> None:
    old.rename(new)


def write(path: Path, data: bytes) -> None:
    path.write_bytes(data)


def size_of(path: Path) -> int:
    return path.stat().st_size


def damage(path: Path) -> None:
    """Overwrite pages behind the first ones, as a bad disk does."""
    with path.open("r+b") as file:
        file.seek(path.stat().st_size // 2)
        file.write(b"\xff" * 4096 * 4)


async def test_a_sound_file_passes_every_check(journal: SqliteJournal) -> None:
    assert journal.shortage() is None
    for _ in range(3):
        await journal.check()


@pytest.mark.parametrize("ending", ["", "-wal"])
async def test_nothing_is_written_to_a_file_that_was_deleted(
    journal: SqliteJournal, path: Path, ending: str
) -> None:
    lease = await begin(journal)
    await journal.append(lease, text_record(lease, 1))
    remove(path, ending)
    before = names(path)
    with pytest.raises(JournalError, match="deleted or replaced while it was in use"):
        await journal.append(lease, text_record(lease, 2))
    with pytest.raises(JournalError, match="deleted or replaced"):
        await journal.check()
    short = journal.shortage()
    assert short is not None
    assert "deleted" in str(short)
    assert names(path) == before


async def test_no_reader_makes_a_deleted_file_anew(journal: SqliteJournal, path: Path) -> None:
    remove(path)
    for _ in range(8):
        with pytest.raises(JournalError, match="cannot be opened"):
            await asyncio.gather(*(journal.list(None) for _ in range(4)))
    assert path.name not in names(path)


async def test_nothing_is_written_to_a_file_that_another_took_the_place_of(
    journal: SqliteJournal, path: Path
) -> None:
    lease = await begin(journal)
    move(path, path.with_name("aside"))
    write(path, b"")
    with pytest.raises(JournalError, match="replaced"):
        await journal.append(lease, text_record(lease, 1))
    assert size_of(path) == 0
    move(path.with_name("aside"), path)
    await journal.append(lease, text_record(lease, 1))
    assert len(await journal.read(KEY)) == 1


async def test_files_that_are_made_anew_are_the_owners_alone(path: Path) -> None:
    before = os.umask(0)
    try:
        for _ in range(2):
            async with opened(SqliteJournal(path)) as journal:
                await journal.create(SessionInfo(principal="ada", session_id="one"))
                modes = {stat.S_IMODE(found.stat().st_mode) for found in path.parent.iterdir()}
                assert modes == {0o600}
                remove(path)
    finally:
        os.umask(before)


async def test_too_little_space_is_a_shortage_before_anything_fails(path: Path) -> None:
    async with opened(SqliteJournal(path, reserve=2**62)) as journal:
        await journal.create(SessionInfo(principal="ada", session_id="one"))
        for found in (journal.shortage(), journal.shortage()):
            assert isinstance(found, JournalError)
            assert "KiB of its disk are free" in str(found)
            assert "free some space" in str(found)
            assert str(path) not in str(found)
            assert found.path == str(path)
        with pytest.raises(JournalError, match="free some space"):
            await journal.check()
    assert "not open" in str(journal.shortage())


def test_what_waits_needs_space_too(path: Path) -> None:
    write(path, b"")
    health = FileHealth(path, reserve=0)
    assert health.look(0) is None
    assert health.look(2**62) is not None


async def fill(path: Path) -> None:
    async with opened(SqliteJournal(path)) as journal:
        await journal.create(SessionInfo(principal="ada", session_id="one"))
        lease = await begin(journal)
        for seq in range(1, 301):
            await journal.append(lease, text_record(lease, seq, f"{seq} " * 500))


async def test_a_damaged_file_is_found_by_a_check_and_is_a_reason_to_begin_nothing(path: Path) -> None:
    await fill(path)
    damage(path)
    async with opened(SqliteJournal(path)) as journal:
        with pytest.raises(Corrupt, match=r"not a sound Trunkline journal.*put back a copy"):
            await journal.check()
        short = journal.shortage()
        assert isinstance(short, Corrupt)
        assert str(path) not in str(short)


async def test_an_inspection_of_a_large_file_is_bounded(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    await fill(path)
    monkeypatch.setattr("trunkline.journal.file_health._BUDGET", 0.0)
    monkeypatch.setattr("trunkline.journal.file_health._STEPS", 1)
    health = FileHealth(path)
    with closing(connect(path, timeout=1, read_only=True)) as db:
        health.inspect(db)
        assert db.execute("PRAGMA quick_check(1)").fetchone() == ("ok",)


async def test_many_checks_at_once_are_one_write(journal: SqliteJournal) -> None:
    commits = journal.commits
    await asyncio.gather(*(journal.check() for _ in range(50)))
    assert journal.commits == commits + 1


async def test_a_check_that_nobody_waits_for_any_more_is_not_made_again(
    journal: SqliteJournal, path: Path
) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("BEGIN IMMEDIATE")
        for _ in range(20):
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0):
                    await journal.check()
        commits = journal.commits
        db.execute("ROLLBACK")
    await journal.check()
    assert journal.commits <= commits + 1


# -- files that cannot be written --

READ = """
import asyncio, json, os, sys
from trunkline.errors import JournalError
from trunkline.journal import SessionInfo, SessionKey
from trunkline.journal.sqlite import SqliteJournal

async def main():
    journal = SqliteJournal(sys.argv[1])
    await journal.open()
    read = await journal.read(SessionKey("ada", "one"))
    told = {"sessions": len(await journal.list(None)), "records": len(read)}
    for name, attempt in {
        "create": journal.create(SessionInfo(principal="ada", session_id="new")),
        "describe": journal.describe(SessionKey("ada", "one"), title="new"),
        "check": journal.check(),
    }.items():
        try:
            await attempt
        except JournalError as error:
            told[name] = str(error)
    await journal.close()
    print(json.dumps(told))

asyncio.run(main())
"""


@pytest.fixture(params=["closed", "in use"])
async def unwritable(path: Path, request: pytest.FixtureRequest) -> AsyncIterator[Path]:
    """A file that nobody may write; in use, its log holds what the file does not."""
    folder = path.parent / "shelf"
    folder.mkdir()
    shelved = folder / "journal.db"
    await fill(shelved)
    other = SqliteJournal(shelved)
    if request.param == "in use":
        await other.open()
        await other.create(SessionInfo(principal="ada", session_id="two"))
    for file in folder.iterdir():
        file.chmod(0o400)
    folder.chmod(0o500)
    yield shelved
    folder.chmod(0o700)
    await other.close()


async def test_a_file_that_cannot_be_written_can_be_read(
    unwritable: Path, request: pytest.FixtureRequest
) -> None:
    reading = await asyncio.create_subprocess_exec(
        *as_anybody(), sys.executable, "-c", READ, str(unwritable), stdout=asyncio.subprocess.PIPE
    )
    async with asyncio.timeout(30):
        out, _ = await reading.communicate()
    report = json.loads(out)
    in_use = "in use" in request.node.name
    assert (report["sessions"], report["records"]) == (2 if in_use else 1, 300)
    for attempt in ("create", "describe", "check"):
        assert "it cannot be written: check the modes" in report[attempt]


async def test_a_file_that_cannot_be_written_is_not_migrated_either(path: Path) -> None:
    folder = path.parent / "shelf"
    folder.mkdir()
    shelved = folder / "journal.db"
    await fill(shelved)
    with closing(sqlite3.connect(shelved)) as db:
        db.execute("PRAGMA user_version=1")
    shelved.chmod(0o400)
    folder.chmod(0o500)
    reading = await asyncio.create_subprocess_exec(
        *as_anybody(), sys.executable, "-c", READ, str(shelved), stderr=asyncio.subprocess.PIPE
    )
    async with asyncio.timeout(30):
        _, err = await reading.communicate()
    folder.chmod(0o700)
    assert b"it has schema 1 and cannot be written" in err
