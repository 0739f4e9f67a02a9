"""Failures of a real SQLite, as a person reads them."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from trunkline.errors import Corrupt, Fenced, JournalError
from trunkline.journal.sqlite_errors import explain, is_everyones


def read_only(path: Path) -> None:
    with closing(sqlite3.connect(path)) as db:
        db.execute("CREATE TABLE t (x NOT NULL)")
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as db:
        db.execute("INSERT INTO t VALUES (1)")


def no_folder(path: Path) -> None:
    sqlite3.connect(path / "none" / "file")


def not_a_database(path: Path) -> None:
    path.write_bytes(b"hello" * 1000)
    with closing(sqlite3.connect(path)) as db:
        db.execute("SELECT * FROM sqlite_master")


def busy(path: Path) -> None:
    with closing(sqlite3.connect(path)) as one, closing(sqlite3.connect(path, timeout=0)) as two:
        one.execute("BEGIN IMMEDIATE")
        two.execute("BEGIN IMMEDIATE")


def too_big(path: Path) -> None:
    with closing(sqlite3.connect(path)) as db:
        db.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, 100)
        db.execute("SELECT ?", (b"x" * 1000,))


def unknown_table(path: Path) -> None:
    with closing(sqlite3.connect(path)) as db:
        db.execute("SELECT * FROM nothing")


@pytest.mark.parametrize(
    ("provoke", "advice", "kind", "everyones"),
    [
        (read_only, "cannot be written", JournalError, True),
        (no_folder, "cannot be opened", JournalError, True),
        (not_a_database, "move it away", Corrupt, True),
        (busy, "another process holds it", JournalError, True),
        (too_big, "1 GB", JournalError, False),
        (unknown_table, "try again", JournalError, True),
    ],
)
def test_a_failure_names_its_cause_and_the_next_step(
    path: Path, provoke: Callable[[Path], None], advice: str, kind: type[JournalError], everyones: bool
) -> None:
    with pytest.raises(sqlite3.Error) as caught:
        provoke(path)
    error = explain(caught.value, "FILE")
    assert type(error) is kind
    assert advice in str(error)
    assert str(error).startswith("the journal failed (")
    assert "FILE" not in str(error)
    assert isinstance(error, JournalError)
    assert error.path == "FILE"
    assert str(caught.value) in str(error)
    assert is_everyones(caught.value) is everyones


def test_an_error_of_ours_stays_as_it_is() -> None:
    ours = Fenced("taken over")
    assert explain(ours, "FILE") is ours
    assert not is_everyones(ours)
