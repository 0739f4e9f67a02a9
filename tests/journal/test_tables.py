"""Files: made private, migrated in one step, refused when they are not ours."""

import asyncio
import os
import sqlite3
import stat
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from tests.hubs import opened

from trunkline.errors import Corrupt, JournalError
from trunkline.events import Text
from trunkline.journal import Record, SessionInfo, SessionKey
from trunkline.journal.sqlite import SqliteJournal
from trunkline.journal.tables import APPLICATION_ID, MIGRATIONS, VERSION, connect, make_file, migrate, use_wal


@pytest.fixture(params=[0o000, 0o022, 0o777])
def umask(request: pytest.FixtureRequest) -> Iterator[int]:
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


def content(path: Path) -> bytes:
    return path.read_bytes()


def write(path: Path, data: bytes) -> None:
    path.write_bytes(data)


def set_mode(path: Path, mode: int) -> None:
    path.touch()
    path.chmod(mode)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.usefixtures("umask")
async def test_a_new_file_and_its_new_folders_are_the_owners_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_mode(tmp_path, 0o755)
    monkeypatch.setenv("HOME", str(tmp_path))
    async with opened(SqliteJournal("~/deep/er/journal.db")) as journal:
        await journal.put_blob(b"x")
        folder = tmp_path / "deep" / "er"
        assert {path.name for path in folder.iterdir()} == {"journal.db", "journal.db-shm", "journal.db-wal"}
        assert {mode(path) for path in folder.iterdir()} == {0o600}
        assert mode(folder) == mode(folder.parent) == 0o700
        assert mode(tmp_path) == 0o755
        assert journal.url == "sqlite:~/deep/er/journal.db"


async def test_a_file_that_exists_keeps_its_mode(path: Path) -> None:
    set_mode(path, 0o640)
    journal = SqliteJournal(path)
    await journal.open()
    await journal.close()
    assert mode(path) == 0o640


async def test_a_file_made_by_many_at_once_is_made_once(tmp_path: Path) -> None:
    for attempt in range(5):
        journals = [SqliteJournal(tmp_path / str(attempt) / "journal.db") for _ in range(6)]
        async with asyncio.timeout(30):
            await asyncio.gather(*(journal.open() for journal in journals))
        await journals[0].create(SessionInfo(principal="ada", session_id="one"))
        for journal in journals:
            assert len(await journal.list(None)) == 1
            await journal.close()


def facts(path: Path) -> tuple[int, int, str]:
    with closing(sqlite3.connect(path)) as db:
        return tuple(
            db.execute(f"PRAGMA {name}").fetchone()[0]
            for name in ("application_id", "user_version", "journal_mode")
        )


async def test_a_file_says_whose_it_is_and_which_version(path: Path) -> None:
    journal = SqliteJournal(path)
    await journal.open()
    await journal.close()
    assert facts(path) == (APPLICATION_ID, VERSION, "wal")


def make_version_1(path: Path, *, damaged: bool = False) -> None:
    """Write a file as the first version did, with a session of two records and a command."""
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        for statement in MIGRATIONS[0]:
            db.execute(statement)
        db.execute(f"PRAGMA application_id={APPLICATION_ID}")
        db.execute("PRAGMA user_version=1")
        db.execute(
            "INSERT INTO sessions (principal, session_id, target, roots, meta, created_at, updated_at,"
            " last_seq, bytes, fence) VALUES ('ada', 'one', 'demo', '[]', 'null', 1, 2, 2, 80, 5)"
        )
        payload = b'{"type":"text","message_id":"m","delta":"old"}'
        db.executemany("INSERT INTO records VALUES (1, ?, 0.5, 5, 0, ?)", [(1, payload), (2, payload)])
        db.execute("INSERT INTO commands (session, key, payload) VALUES (1, 'k', ?)", (b'{"type":"cancel"}',))
        if damaged:
            db.execute("CREATE TABLE floor (something_else TEXT)")


async def test_an_older_file_is_migrated_with_all_it_holds(path: Path) -> None:
    make_version_1(path)
    async with opened(SqliteJournal(path)) as journal:
        key = SessionKey("ada", "one")
        event = Text(message_id="m", delta="old")
        assert await journal.read(key) == [Record(seq=seq, at=0.5, fence=5, event=event) for seq in (1, 2)]
        assert [posted.key for posted in await journal.commands(key)] == ["k"]
        info = await journal.get(key)
        assert info is not None
        assert (info.target, info.last_seq, info.fence) == ("demo", 2, 5)
        assert await journal.get_blob(await journal.put_blob(b"new")) == b"new"
    assert facts(path)[1] == VERSION


async def test_a_migration_that_fails_leaves_the_old_version_whole(path: Path) -> None:
    make_version_1(path, damaged=True)
    with pytest.raises(JournalError, match="floor already exists"):
        await SqliteJournal(path).open()
    with closing(sqlite3.connect(path)) as db:
        assert db.execute("PRAGMA user_version").fetchone() == (1,)
        assert db.execute("SELECT count(*) FROM records").fetchone() == (2,)
        assert db.execute("SELECT name FROM sqlite_master WHERE name = 'blobs'").fetchone() is None


async def test_a_newer_file_is_refused_untouched(path: Path) -> None:
    make_version_1(path)
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("PRAGMA user_version=99")
    before = content(path)
    with pytest.raises(JournalError, match=r"schema 99.*upgrade Trunkline"):
        await SqliteJournal(path).open()
    assert content(path) == before


async def test_a_database_of_another_program_is_refused_untouched(path: Path) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("CREATE TABLE bookmarks (url TEXT)")
    before = content(path)
    with pytest.raises(Corrupt, match=r"another program.*choose another with --journal or"):
        await SqliteJournal(path).open()
    assert content(path) == before


async def test_a_file_that_is_no_database_is_refused_untouched(path: Path) -> None:
    write(path, b"Dear diary, " * 1000)
    with pytest.raises(Corrupt, match=r"not a sound Trunkline journal.*move it away"):
        await SqliteJournal(path).open()
    assert content(path) == b"Dear diary, " * 1000


async def test_a_truncated_file_is_refused(path: Path) -> None:
    async with opened(SqliteJournal(path)) as journal:
        for number in range(200):
            await journal.put_blob(bytes([number]) * 1000)
    write(path, content(path)[: len(content(path)) // 2])
    with pytest.raises(Corrupt, match="malformed"):
        await journal.open()


@pytest.mark.parametrize("place", ["file/journal.db", "."])
async def test_a_place_that_cannot_hold_a_file_is_named_with_the_way_out(tmp_path: Path, place: str) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(JournalError, match="check"):
        await SqliteJournal(tmp_path / place).open()


def test_a_file_that_cannot_use_wal_is_refused(path: Path) -> None:
    with closing(sqlite3.connect(":memory:")) as db, pytest.raises(JournalError, match="local disk"):
        use_wal(db, path, timeout=1)


@pytest.fixture
def exclusive(path: Path) -> Iterator[sqlite3.Connection]:
    """A connection that holds the whole file."""
    make_file(path)
    with closing(connect(path, timeout=0)) as db:
        migrate(db, path)
        db.execute("BEGIN EXCLUSIVE")
        yield db


def test_waiting_for_wal_is_bounded(path: Path, exclusive: sqlite3.Connection) -> None:
    with closing(connect(path, timeout=0)) as db, pytest.raises(sqlite3.OperationalError, match="locked"):
        use_wal(db, path, timeout=0.03)


class Counting(sqlite3.Connection):
    """A connection that tells when it was asked for the third time."""

    attempts = 0
    third = threading.Event()

    def execute(self, *arguments: Any) -> sqlite3.Cursor:
        self.attempts += 1
        if self.attempts == 3:
            self.third.set()
        return super().execute(*arguments)


async def test_wal_is_asked_for_again_while_the_file_is_held(
    path: Path, exclusive: sqlite3.Connection
) -> None:
    with closing(sqlite3.connect(path, timeout=0, check_same_thread=False, factory=Counting)) as db:
        waiting = asyncio.create_task(asyncio.to_thread(use_wal, db, path, timeout=30))
        assert await asyncio.to_thread(db.third.wait, 10)
        exclusive.execute("COMMIT")
        await waiting
    assert facts(path)[2] == "wal"


def test_a_reading_connection_cannot_write(path: Path) -> None:
    make_file(path)
    with closing(connect(path, timeout=0)) as db:
        migrate(db, path)
    with closing(connect(path, timeout=0, read_only=True)) as db, pytest.raises(sqlite3.OperationalError):
        db.execute("DELETE FROM sessions")
