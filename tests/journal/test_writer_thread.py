"""The writing thread: groups, the cost of durability, and failures that stay where they belong."""

import asyncio
import sqlite3
import threading
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import pytest

from trunkline.errors import JournalError, SessionBusy
from trunkline.journal.fair_queue import Work
from trunkline.journal.tables import connect, make_file
from trunkline.journal.writer_thread import WriterThread


class Bench(NamedTuple):
    writer: WriterThread
    statements: list[str]
    notified: list[threading.Thread]
    path: Path


@pytest.fixture
async def bench(path: Path) -> AsyncIterator[Bench]:
    """A writer on a bare table, with every statement and every delivery written down."""
    make_file(path)
    db = connect(path, timeout=1)
    db.execute("PRAGMA journal_mode=WAL")
    db.execute("CREATE TABLE notes (note TEXT NOT NULL)")
    statements: list[str] = []
    notified: list[threading.Thread] = []
    db.set_trace_callback(statements.append)
    writer = WriterThread(
        db, "notes.db", lambda: notified.append(threading.current_thread()), max_waiting=1000
    )
    yield Bench(writer, statements, notified, path)
    await asyncio.to_thread(writer.stop)


def note(text: str | None) -> Work[int]:
    return lambda db: db.execute("INSERT INTO notes VALUES (?)", (text,)).rowcount


def notes(path: Path) -> list[str]:
    with closing(sqlite3.connect(path)) as db:
        return [row[0] for row in db.execute("SELECT note FROM notes")]


async def gather_as_one_group(bench: Bench, *works: Work[int]) -> list[int | BaseException]:
    """Let the writer begin something, queue all the work meanwhile, and let it go on."""
    begun, go_on = threading.Event(), threading.Event()

    def hold(db: sqlite3.Connection) -> None:
        begun.set()
        assert go_on.wait(10)

    holding = bench.writer.submit(hold)
    await asyncio.to_thread(begun.wait, 10)
    futures = [bench.writer.submit(work) for work in works]
    go_on.set()
    async with asyncio.timeout(10):
        await holding
        return await asyncio.gather(*futures, return_exceptions=True)


async def test_a_group_is_one_commit_and_one_word_to_the_loop(bench: Bench) -> None:
    results = await gather_as_one_group(bench, *(note(str(number)) for number in range(100)))
    assert results == [1] * 100
    assert bench.writer.commits == 2
    assert bench.notified == [threading.main_thread()] * 2
    assert bench.statements.count("COMMIT") == 2
    assert notes(bench.path) == [str(number) for number in range(100)]


async def test_what_one_piece_of_work_refuses_costs_the_others_nothing(bench: Bench) -> None:
    def refuse(db: sqlite3.Connection) -> int:
        db.execute("INSERT INTO notes VALUES ('half done')")
        raise SessionBusy("not now")

    def fail(db: sqlite3.Connection) -> int:
        raise ZeroDivisionError("a bug")

    results = await gather_as_one_group(bench, note("a"), refuse, note(None), fail, note("b"))
    assert results[0] == results[4] == 1
    assert [type(result) for result in results[1:4]] == [SessionBusy, JournalError, JournalError]
    assert "a bug" in str(results[3])
    assert notes(bench.path) == ["a", "b"]


async def test_a_failure_of_the_engine_fails_the_whole_group_and_is_over_then(bench: Bench) -> None:
    await bench.writer.submit(note("before"))
    await bench.writer.submit(lambda db: db.execute("PRAGMA max_page_count=3"))
    results = await gather_as_one_group(bench, note("a"), note("x" * 100_000), note("b"))
    assert len({id(result) for result in results}) == 3
    for result in results:
        assert isinstance(result, JournalError)
        assert "the journal failed (database or disk is full)" in str(result)
        assert result.path == "notes.db"
    await bench.writer.submit(note("after"))
    assert notes(bench.path) == ["before", "after"]


async def test_a_group_that_fails_is_taken_back_whole(bench: Bench) -> None:
    def misspell(db: sqlite3.Connection) -> int:
        return db.execute("INSERT INTO nots VALUES ('x')").rowcount

    results = await gather_as_one_group(bench, note("a"), misspell)
    assert [type(result) for result in results] == [JournalError, JournalError]
    await bench.writer.submit(note("after"))
    assert notes(bench.path) == ["after"]


async def test_only_a_durable_commit_pays_for_a_sync(bench: Bench) -> None:
    for durable in (False, False, True, True, False):
        await bench.writer.submit(note("x"), durable=durable)
    pragmas = [statement for statement in bench.statements if "synchronous" in statement]
    assert pragmas == ["PRAGMA synchronous=NORMAL", "PRAGMA synchronous=FULL", "PRAGMA synchronous=NORMAL"]


async def test_stopping_commits_what_waits(bench: Bench) -> None:
    futures = [bench.writer.submit(note(str(number))) for number in range(10)]
    await asyncio.to_thread(bench.writer.stop)
    assert await asyncio.gather(*futures) == [1] * 10
    assert notes(bench.path) == [str(number) for number in range(10)]


def test_a_loop_that_is_gone_does_not_stop_the_writing(path: Path) -> None:
    make_file(path)
    with closing(connect(path, timeout=1)) as db:
        db.execute("CREATE TABLE notes (note TEXT NOT NULL)")
    begun, go_on = threading.Event(), threading.Event()

    def late(db: sqlite3.Connection) -> int:
        begun.set()
        assert go_on.wait(10)
        return note("late")(db)

    async def leave_early() -> WriterThread:
        writer = WriterThread(connect(path, timeout=1), "notes.db", lambda: None, max_waiting=1000)
        writer.submit(late)
        await asyncio.to_thread(begun.wait, 10)
        return writer

    writer = asyncio.run(leave_early())
    go_on.set()
    writer.stop()
    assert notes(path) == ["late"]
