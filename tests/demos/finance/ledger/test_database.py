"""Where the ledger is, who may read it, and what is said when it cannot be used."""

import os
import sqlite3
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from trunkline.demos.finance.ledger import database
from trunkline.demos.finance.ledger.database import (
    MEMORY,
    Ledger,
    database_url,
    default_url,
    parse_database_url,
)
from trunkline.demos.finance.ledger.errors import LedgerError
from trunkline.demos.finance.ledger.schema import VERSION, migrate
from trunkline.own_files import own_file
from trunkline.state_files import state_folder

ACCOUNT = "INSERT INTO accounts (id, name, kind, currency) VALUES (?, 'Main', 'checking', 'EUR')"
COUNT = "SELECT count(*) FROM accounts"


@pytest.fixture(params=["file", "memory"])
def ledger(request: pytest.FixtureRequest, tmp_path: Path) -> Ledger:
    return Ledger(f"sqlite:///{tmp_path}/ledger.db" if request.param == "file" else MEMORY)


def count(ledger: Ledger) -> int:
    with ledger.reading() as db:
        return db.execute(COUNT).fetchone()[0]


def fill(db: sqlite3.Connection) -> None:
    """Write more than there is room for: SQLite says the same of a file at its limit and of a full disk."""
    pages = db.execute("PRAGMA page_count").fetchone()[0]
    db.execute(f"PRAGMA max_page_count={pages}")
    db.executemany(ACCOUNT, [(f"{number}" + "x" * 1000,) for number in range(1000)])


@pytest.mark.parametrize(
    "url",
    [
        "postgres://me:secret@host/money",
        "mysql:///money",
        "sqlite://ledger.db",
        "sqlite:ledger.db",
        "sqlite:///",
        "sqlite:///ledger.db?mode=ro",
        "sqlite:///:other:",
        "sqlite:///" + "x" * 5000,
        "sqlite:///a\0b",
        "ledger.db",
        "",
    ],
)
def test_an_address_that_is_no_sqlite_file_is_refused_without_its_password(url: str) -> None:
    with pytest.raises(LedgerError, match="set DATABASE_URL=sqlite:///PATH") as refused:
        parse_database_url(url)
    assert "secret" not in str(refused.value)


def test_a_path_may_be_relative_absolute_or_of_the_home_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert parse_database_url("sqlite:///a/b.db") == tmp_path / "a/b.db"
    assert parse_database_url(f"sqlite:///{tmp_path}/b.db") == tmp_path / "b.db"
    assert parse_database_url("sqlite:///~/b.db") == tmp_path / "home/b.db"
    assert parse_database_url(MEMORY) is None


def test_the_address_is_that_of_the_process_then_of_the_file_then_our_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("DATABASE_URL", raising=False)
    assert database_url(tmp_path) == f"sqlite:///{state_folder()}/finance/ledger.db"
    (tmp_path / ".env").write_text("DATABASE_URL=sqlite:///of-the-file.db\n")
    assert database_url(tmp_path) == "sqlite:///of-the-file.db"
    monkeypatch.setenv("DATABASE_URL", MEMORY)
    assert database_url(tmp_path) == MEMORY
    monkeypatch.chdir(tmp_path)
    assert Ledger().path is None


def test_what_is_written_is_read_and_what_fails_leaves_nothing(ledger: Ledger) -> None:
    with ledger.writing() as db:
        db.execute(ACCOUNT, ("a",))
    with pytest.raises(LedgerError, match="a value does not fit"), ledger.writing() as db:
        db.executemany(ACCOUNT, [("b",), ("a",)])
    assert count(ledger) == 1
    ledger.close()


def test_a_reader_cannot_write(ledger: Ledger) -> None:
    with pytest.raises(LedgerError, match="cannot be written"), ledger.reading() as db:
        db.execute(ACCOUNT, ("a",))
    with ledger.writing() as db:
        db.execute(ACCOUNT, ("a",))
    assert count(ledger) == 1


def test_a_reader_sees_one_state(tmp_path: Path) -> None:
    ledger = Ledger(f"sqlite:///{tmp_path}/ledger.db")
    with ledger.reading() as db:
        assert db.execute(COUNT).fetchone() == (0,)
        with ledger.writing() as other:
            other.execute(ACCOUNT, ("a",))
        assert db.execute(COUNT).fetchone() == (0,)
    assert count(ledger) == 1


def test_in_memory_a_use_inside_a_use_is_read_only_or_refused() -> None:
    ledger = Ledger(MEMORY)
    with ledger.writing() as db:
        db.execute(ACCOUNT, ("a",))
        assert count(ledger) == 1
        with pytest.raises(LedgerError, match="in use by this thread"), ledger.writing():
            pass
        db.execute(ACCOUNT, ("b",))
    with ledger.reading():
        with ledger.reading():
            pass
        with pytest.raises(LedgerError), ledger.reading() as db:
            db.execute(ACCOUNT, ("c",))
    assert count(ledger) == 2


def test_the_file_is_the_users_alone_and_no_agent_may_touch_it() -> None:
    ledger, folder = Ledger(default_url()), state_folder() / "finance"
    old = os.umask(0)
    try:
        with ledger.writing() as db:
            db.execute(ACCOUNT, ("a",))
            modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()}
    finally:
        os.umask(old)
    assert modes == dict.fromkeys(("ledger.db", "ledger.db-wal", "ledger.db-shm"), 0o600)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    known = own_file(str(folder / "ledger.db-wal"))
    assert known is not None
    assert known.secret


def test_a_folder_of_ones_own_is_not_made_for_a_misspelt_address(tmp_path: Path) -> None:
    ledger = Ledger(f"sqlite:///{tmp_path}/nonexist/ledger.db")
    refused = pytest.raises(LedgerError, match=f"there is no folder {tmp_path}/nonexist; make it")
    with refused, ledger.reading():
        pass
    assert not (tmp_path / "nonexist").exists()


def test_readers_wait_for_nobody_because_of_the_log(tmp_path: Path) -> None:
    ledger = Ledger(f"sqlite:///{tmp_path}/ledger.db")
    with ledger.reading() as db:
        assert db.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert db.execute("PRAGMA user_version").fetchone() == (VERSION,)
        assert db.execute("PRAGMA foreign_keys").fetchone() == (1,)


def test_threads_and_ledgers_share_one_file(ledger: Ledger) -> None:
    failed: list[BaseException] = []

    def add(number: int) -> None:
        own = Ledger(ledger.url) if ledger.path is not None and number % 2 else ledger
        try:
            for turn in range(5):
                with own.writing() as db:
                    db.execute(ACCOUNT, (f"{number}-{turn}",))
                count(own)
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=add, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert failed == []
    assert count(ledger) == 30


def test_processes_that_make_one_file_at_once_share_it(tmp_path: Path) -> None:
    program = (
        "import sys; from trunkline.demos.finance.ledger.database import Ledger\n"
        "with Ledger(sys.argv[1], timeout=60).writing() as db:\n"
        f"    db.execute({ACCOUNT!r}, (sys.argv[2],))"
    )
    url = f"sqlite:///{tmp_path}/ledger.db"
    running = [subprocess.Popen([sys.executable, "-c", program, url, name]) for name in "abc"]
    assert [process.wait(60) for process in running] == [0, 0, 0]
    assert count(Ledger(url)) == 3


def test_a_ledger_that_another_program_holds_is_said_to_be(tmp_path: Path) -> None:
    ledger = Ledger(f"sqlite:///{tmp_path}/ledger.db", timeout=0.05)
    with (
        ledger.writing(),
        pytest.raises(LedgerError, match="another program writes to it for too long"),
        ledger.writing(),
    ):
        pass


def test_a_new_ledger_that_another_program_holds_is_waited_for_and_then_said_to_be(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    other = sqlite3.connect(path, isolation_level=None)
    migrate(other, "here")
    other.execute("BEGIN EXCLUSIVE")
    with (
        pytest.raises(LedgerError, match="another program writes to it for too long"),
        Ledger(f"sqlite:///{path}", timeout=0.05).reading(),
    ):
        pass
    other.execute("ROLLBACK")
    other.close()
    assert count(Ledger(f"sqlite:///{path}")) == 0


def test_a_full_disk_is_said_and_nothing_is_half_written(tmp_path: Path) -> None:
    ledger = Ledger(f"sqlite:///{tmp_path}/ledger.db")
    with pytest.raises(LedgerError, match="full; free some space"), ledger.writing() as db:
        fill(db)
    assert count(ledger) == 0


def test_a_file_that_is_no_ledger_is_left_alone(tmp_path: Path) -> None:
    text, other, folder = tmp_path / "notes.txt", tmp_path / "other.db", tmp_path / "folder"
    text.write_text("shopping list\n" * 100)
    folder.mkdir()
    db = sqlite3.connect(other)
    db.execute("CREATE TABLE theirs (x)")
    db.commit()
    db.close()
    before = [text.read_bytes(), other.read_bytes()]
    for path, said in ((text, "no SQLite database"), (other, "of another program"), (folder, "not a file")):
        with pytest.raises(LedgerError, match=said), Ledger(f"sqlite:///{path}").reading():
            pass
    with pytest.raises(LedgerError, match="no SQLite database"):
        Ledger(f"sqlite:///{text}").snapshot()
    assert [text.read_bytes(), other.read_bytes()] == before


def test_a_folder_that_cannot_be_made_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(LedgerError, match="cannot be made"):
        Ledger(f"sqlite:///{tmp_path}/file/ledger.db").snapshot()


def test_a_removed_file_is_made_again(tmp_path: Path) -> None:
    ledger = Ledger(f"sqlite:///{tmp_path}/ledger.db")
    with ledger.writing() as db:
        db.execute(ACCOUNT, ("a",))
    for path in tmp_path.iterdir():
        path.unlink()
    assert count(ledger) == 0


def test_a_snapshot_reads_and_never_writes_and_is_a_copy_in_memory(ledger: Ledger) -> None:
    with ledger.writing() as db:
        db.execute(ACCOUNT, ("a",))
    snapshot = ledger.snapshot()
    assert snapshot.execute(COUNT).fetchone() == (1,)
    if ledger.path is None:
        snapshot.execute(ACCOUNT, ("b",))
        assert count(ledger) == 1
    else:
        with pytest.raises(sqlite3.OperationalError, match="readonly"):
            snapshot.execute(ACCOUNT, ("b",))
    snapshot.close()


def test_the_folder_of_our_own_ledger_is_the_state_folder() -> None:
    path = parse_database_url(database.default_url())
    assert path is not None
    assert path.is_relative_to(state_folder())
