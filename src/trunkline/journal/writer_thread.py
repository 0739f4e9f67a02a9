"""The one thread that writes a SQLite file: what waits at one moment shares one commit.

Above is the engine, which queues work from the event loop and never blocks; below is one
connection. Each piece of work runs in its own savepoint: what it refuses costs its neighbours
nothing, while a failure of the engine (a full disk, say) fails the whole group and is over then.

What waits is bounded for each session and for each principal: whoever can wait does so (``room``), and
who cannot is refused at a limit of its own, so that nobody's flood fails another's work.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import sqlite3
import threading
from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

from trunkline.errors import JournalError, TrunklineError
from trunkline.journal.fair_queue import NOBODY, FairQueue, Job, Work
from trunkline.journal.interface import SessionKey
from trunkline.journal.sqlite_errors import explain, is_everyones

T = TypeVar("T")

log = logging.getLogger("trunkline.journal")

# Shares of the bytes that may wait for one session: where it should wait, and what its principal may have.
_PATIENCE = 8
_PRINCIPALS_SHARE = 4


class _Outcome(NamedTuple):
    future: asyncio.Future[Any]
    result: Any = None
    error: TrunklineError | None = None


class WriterThread:
    """Runs work on its connection, each session's in order, and tells the loop once per commit."""

    def __init__(
        self,
        db: sqlite3.Connection,
        path: str,
        committed: Callable[[], None],
        *,
        max_waiting: int,
        check_present: Callable[[], None] = lambda: None,
    ) -> None:
        """Take the connection over and start the thread; ``committed`` is called on this loop.

        ``max_waiting`` is how many bytes of one session may wait before its appends are refused;
        ``check_present`` raises when the file is not there any more.
        """
        self.commits = 0
        self._db = db
        self._path = path
        self._committed = committed
        self._max_waiting = max_waiting
        self._check_present = check_present
        self._failing = False
        self._loop = asyncio.get_running_loop()
        self._full_sync: bool | None = None
        self._ready = threading.Condition()
        self._queue = FairQueue()
        self._patient: list[tuple[SessionKey, asyncio.Future[None]]] = []
        self._stopping = False
        # A daemon: a program that forgets to close its journal must still be able to end.
        self._thread = threading.Thread(target=self._run, name="trunkline-journal", daemon=True)
        self._thread.start()

    def submit(
        self, work: Work[T], key: SessionKey = NOBODY, *, durable: bool = False, size: int = 0
    ) -> asyncio.Future[T]:
        """Queue work of a session; the future tells its result once it is committed.

        The work runs even when the future is cancelled: others may be queued behind it that rely
        on it. ``size`` counts towards the bytes that may wait; work without any is never refused.
        """
        future: asyncio.Future[T] = self._loop.create_future()
        with self._ready:
            if size and (refused := self._refusal(key)):
                future.set_exception(refused)
                return future
            self._queue.put(Job(work, future, durable, key, size))
            self._ready.notify()
        return future

    def _refusal(self, key: SessionKey) -> JournalError | None:
        session, principal = self._queue.waiting(key)
        if session >= self._max_waiting:
            waits, whose = session, "this session"
        elif principal >= self._max_waiting * _PRINCIPALS_SHARE:
            waits, whose = principal, "the sessions of one principal"
        else:
            return None
        return JournalError(
            f"the journal failed ({waits} bytes of {whose} wait to be written, and no more may): the disk is "
            "too slow for what is said; let the agent wait for ctx.ready(), then try again"
        )

    @property
    def waiting(self) -> int:
        """How many bytes wait to be written, of all sessions."""
        return self._queue.bytes

    def crowded(self, key: SessionKey) -> bool:
        """Whether so much of a session, or of its principal, waits that more should wait for it."""
        session, principal = self._queue.waiting(key)
        return session >= self._max_waiting // _PATIENCE or principal >= self._max_waiting

    async def room(self, key: SessionKey) -> None:
        """Wait until a session is not crowded any more."""
        while self.crowded(key) and not self._stopping:
            waiter: asyncio.Future[None] = self._loop.create_future()
            self._patient.append((key, waiter))
            await waiter

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
                if not self._queue:
                    return
                group = self._queue.take()
            outcomes = self._commit(group)
            with self._ready:
                self._queue.settle(group)
            # The loop may be gone when a program ends without closing its journal.
            with contextlib.suppress(RuntimeError):
                self._loop.call_soon_threadsafe(self._deliver, outcomes)

    def _commit(self, group: list[Job]) -> list[_Outcome]:
        db = self._db
        try:
            self._check_present()
            self._sync(full=any(job.durable for job in group))
            db.execute("BEGIN IMMEDIATE")
            outcomes = [self._attempt(job) for job in group]
            db.execute("COMMIT")
            # Once more: what went into a file that was deleted meanwhile is not stored.
            self._check_present()
        except Exception as error:
            # A disk that fails may fail this too; whoever waits must hear of it all the same.
            with contextlib.suppress(sqlite3.Error):
                if db.in_transaction:
                    db.execute("ROLLBACK")
            return [_Outcome(job.future, error=self._explain(error)) for job in group]
        self._failing = False
        self.commits += 1
        return outcomes

    def _explain(self, error: Exception) -> TrunklineError:
        """Say what failed a whole group; the log hears of it once, and where."""
        explained = explain(error, self._path)
        if not self._failing:
            self._failing = True
            log.error("%s (%s)", explained, self._path)
        return explained

    def _attempt(self, job: Job) -> _Outcome:
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
        self._let_in()
        self._committed()

    def _let_in(self) -> None:
        """Wake whoever waits for room that is there now."""
        patient, self._patient = self._patient, []
        for key, waiter in patient:
            if waiter.done():
                continue
            if self.crowded(key) and not self._stopping:
                self._patient.append((key, waiter))
            else:
                waiter.set_result(None)
