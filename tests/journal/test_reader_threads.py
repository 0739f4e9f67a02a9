"""Readers: a connection whose work failed reads what is new, like any other."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from trunkline.errors import Corrupt
from trunkline.journal.reader_threads import ReaderThreads


async def test_a_connection_whose_work_failed_halfway_reads_what_was_written_since(tmp_path: Path) -> None:
    path = tmp_path / "j.db"
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("PRAGMA journal_mode=WAL")
        db.execute("CREATE TABLE words (word)")
        db.executemany("INSERT INTO words VALUES (?)", [("one",), ("two",)])
        readers = ReaderThreads(lambda: sqlite3.connect(path, check_same_thread=False), str(path), size=1)

        def fail(reader: sqlite3.Connection) -> None:
            rows = reader.execute("SELECT word FROM words")
            raise Corrupt(f"{next(rows)} cannot be read")

        def count(reader: sqlite3.Connection) -> int:
            return reader.execute("SELECT count(*) FROM words").fetchone()[0]

        with pytest.raises(Corrupt) as kept:
            await readers.run(fail)
        db.execute("INSERT INTO words VALUES ('three')")
        assert await readers.run(count) == 3, f"while somebody keeps {kept.value!r}"
        readers.stop()
