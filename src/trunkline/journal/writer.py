"""The one thread that writes a SQLite file: whatever waits at one moment shares one commit.

Above is the engine, which queues work from the event loop and never blocks; below is one
connection. Each piece of work runs in its own savepoint: what it refuses costs its neighbours
nothing, while a failure of the engine (a full disk, say) fails the whole group and is over then.
"""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
import threading
from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

from trunkline.errors import JournalError, TrunklineError
from trunkline.journal.failures import explain, is_everyones

__all__ = ["Work", "Writer"]

T = TypeVar("T")
Work = Callable[[sqlite3.Connection], T]


class _Job(NamedTuple):
    work: Work[Any]
    future: asyncio.Future[Any]
    durable: bool


class _Outcome(NamedTuple):
    future: asyncio.Future[Any]
    result: Any = None
    error: TrunklineError | None = None


class Writer:
    """Runs work on its connection, in the order of submission, and tells the loop once per commit."""

    def __init__(
        self, db: sqlite3.Connection, path: str, committed: Callable[[], None], *, max_waiting: int
    ) -> None:
        """Take the connection over and start the thread; ``committed`` is called on this loop."""
        self.commits = 0
        self._db = db
        self._path = path
        self._committed = committed
        self._max_waiting = max_waiting
        self._loop = asyncio.get_running_loop()
        self._full_sync: bool | None = None
        self._ready = threading.Condition()
        self._queue: list[_Job] = []
        self._waiting = 0
        self._stopping = False
        # A daemon: a program that forgets to close its journal must still be able to end.
        self._thread = threading.Thread(target=self._run, name="trunkline-journal", daemon=True)
        self._thread.start()

    def submit(self, work: Work[T], *, durable: bool = False, size: int = 0) -> asyncio.Future[T]:
        """Queue work; the future tells its result once it is committed.

        The work runs even when the future is cancelled: others may be queued behind it that rely
        on it. ``size`` counts towards the bytes that may wait.
        """
        future: asyncio.Future[T] = self._loop.create_future()
        with self._ready:
            if self._waiting >= self._max_waiting:
                future.set_exception(
                    JournalError(
                        f"{self._waiting} bytes wait to be written to the journal {self._path}, and no more "
                        "may: the disk is too slow for what is said; wait for appends before making more"
                    )
                )
                return future
            self._waiting += size
            self._queue.append(_Job(work, future, durable))
            self._ready.notify()
        return future

    def stop(self) -> None:
        """Commit what waits, end the thread and close the connection. Blocks; not for the loop."""
        with self._ready:
            self._stopping = True
            self._ready.notify()
        self._thread.join()
        self._db.close()

    def _run(self) -> None:
        while True:
            with self._ready:
                while not self._queue and not self._stopping:
                    self._ready.wait()
                group, self._queue, self._waiting = self._queue, [], 0
            if not group:
                return
            outcomes = self._commit(group)
            # The loop may be gone when a program ends without closing its journal.
            with contextlib.suppress(RuntimeError):
                self._loop.call_soon_threadsafe(self._deliver, outcomes)

    def _commit(self, group: list[_Job]) -> list[_Outcome]:
        db = self._db
        try:
            self._sync(full=any(job.durable for job in group))
            db.execute("BEGIN IMMEDIATE")
            outcomes = [self._attempt(job) for job in group]
            db.execute("COMMIT")
        except Exception as error:
            if db.in_transaction:
                db.execute("ROLLBACK")
            return [_Outcome(job.future, error=explain(error, self._path)) for job in group]
        self.commits += 1
        return outcomes

    def _attempt(self, job: _Job) -> _Outcome:
        db = self._db
        db.execute("SAVEPOINT job")
        try:
            outcome = _Outcome(job.future, job.work(db))
        except Exception as error:
            if is_everyones(error):
                raise
            db.execute("ROLLBACK TO job")
            outcome = _Outcome(job.future, error=explain(error, self._path))
        db.execute("RELEASE job")
        return outcome

    def _sync(self, *, full: bool) -> None:
        """Choose what a commit survives: the process's death, or a power cut too."""
        if full is not self._full_sync:
            self._db.execute(f"PRAGMA synchronous={'FULL' if full else 'NORMAL'}")
            self._full_sync = full

    def _deliver(self, outcomes: list[_Outcome]) -> None:
        for future, result, error in outcomes:
            if future.done():
                continue
            if error is None:
                future.set_result(result)
            else:
                future.set_exception(error)
        self._committed()
