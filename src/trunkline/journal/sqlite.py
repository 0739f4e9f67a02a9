"""The SQLite journal: one file, shared by the processes of one machine.

Above are sessions; below are one thread that writes (``writer_thread``), a few that read (``reader_threads``)
and what they do to the tables (``sessions``, ``leases`` ...). Nothing here blocks the event loop; it only
asks for ``PRAGMA data_version``, which takes microseconds.

Never put the file on a network disk: its locks and its shared memory need one machine.
"""

from __future__ import annotations

import asyncio
import builtins
import os
import sqlite3
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from trunkline.commands import Command
from trunkline.errors import ConfigurationError, JournalError
from trunkline.journal import (
    blobs,
    leases,
    posted_commands,
    refusals,
    retention,
    sessions,
    snapshots,
    tables,
)
from trunkline.journal.change_waiters import ChangeWaiters
from trunkline.journal.codec import encode, pack
from trunkline.journal.fair_queue import NOBODY, Work
from trunkline.journal.file_health import RESERVE, FileHealth, read_mark, write_mark
from trunkline.journal.interface import (
    Disposition,
    Held,
    Lease,
    Posted,
    Record,
    SearchPage,
    SessionInfo,
    SessionKey,
    Snapshot,
)
from trunkline.journal.lease_clock import Moment, boot_id, lease_clock
from trunkline.journal.reader_threads import ReaderThreads
from trunkline.journal.search import Query
from trunkline.journal.sqlite_errors import explain
from trunkline.journal.writer_thread import WriterThread
from trunkline.own_files import protect_own_file

T = TypeVar("T")

_BLOBS = SessionKey("", "blobs")
"""Whose bytes those of blobs are: they are shared, so they are no session's."""


class _Engine(NamedTuple):
    """What is there while the journal is open."""

    writer: WriterThread
    readers: ReaderThreads
    waiters: ChangeWaiters
    probe: sqlite3.Connection
    health: FileHealth

    def stop(self) -> None:
        # The writer's connection is the last one, so it is the one that tidies the log up.
        self.readers.stop()
        self.writer.stop()


class SqliteJournal:
    """Keeps sessions in a SQLite file (WAL); belongs to the event loop that opened it."""

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        clock: Callable[[], float] = time.time,
        lease_clock: Callable[[], float] = lease_clock,
        timeout: float = 5.0,
        max_waiting: int = 64 * 2**20,
        reserve: int = RESERVE,
    ) -> None:
        """Name the file (``~`` is the home folder); it is made when the journal is opened.

        ``clock`` is the time of records; ``lease_clock`` that of leases, which begins again in every
        boot of the machine. ``timeout`` is how long to wait, in seconds, for another process that
        writes; ``max_waiting`` how many bytes of one session may wait for the disk before its appends are
        refused. An eighth of it makes a session ``crowded``; its principal may have four times as much.
        With less than ``reserve`` bytes of the disk free there is a ``shortage``.
        """
        if os.fspath(path) == ":memory:":
            raise ConfigurationError("a SQLite journal needs a file; for one in memory use memory:")
        self._url = f"sqlite:{os.fspath(path)}"
        self._path = Path(path).expanduser().absolute()
        self._clock = clock
        self._lease_clock = lease_clock
        self._boot = boot_id()
        self._timeout = timeout
        self._max_waiting = max_waiting
        self._reserve = reserve
        self._options = "mode=rw"
        self._checking: asyncio.Future[None] | None = None
        self._engine: _Engine | None = None
        self._closing: asyncio.Future[None] | None = None

    @property
    def url(self) -> str:
        return self._url

    @property
    def commits(self) -> int:
        """How many times this process committed since the journal was opened."""
        return self._open_engine().writer.commits

    # -- life --

    async def open(self) -> None:
        """Make or migrate the file and start the threads; does nothing if that was done.

        A file that cannot be written can be read; every attempt to write to it fails.
        """
        if self._engine is not None:
            return
        protect_own_file(self._path, "the journal", secret=True)
        preparing = asyncio.get_running_loop().run_in_executor(None, self._prepare)
        db, probe = await _or_undo(preparing, _close_all)
        path = str(self._path)
        health = FileHealth(self._path, reserve=self._reserve)
        waiters = ChangeWaiters(partial(_data_version, probe))
        writer = WriterThread(
            db, path, waiters.refresh, max_waiting=self._max_waiting, check_present=health.check_present
        )
        readers = ReaderThreads(partial(self._connect, read_only=True), path, size=4)
        self._engine = _Engine(writer, readers, waiters, probe, health)

    def _prepare(self) -> tuple[sqlite3.Connection, sqlite3.Connection]:
        writable = tables.can_write(self._path)
        if writable:
            tables.make_file(self._path)
        try:
            self._options = "mode=rw" if writable else tables.read_options(self._path, timeout=self._timeout)
            db = self._connect()
            try:
                if writable:
                    tables.migrate(db, self._path)
                    tables.use_wal(db, self._path, timeout=self._timeout)
                return db, tables.connect(self._path, timeout=0, read_only=True, options=self._options)
            except BaseException:
                db.close()
                raise
        except sqlite3.Error as error:
            raise explain(error, str(self._path)) from error

    def _connect(self, *, read_only: bool = False) -> sqlite3.Connection:
        return tables.connect(self._path, timeout=self._timeout, read_only=read_only, options=self._options)

    async def close(self) -> None:
        """Commit everything that is queued and let go of the file; idempotent."""
        engine, self._engine = self._engine, None
        if engine is not None:
            engine.waiters.close(self._closed)
            engine.probe.close()
            self._closing = asyncio.get_running_loop().run_in_executor(None, engine.stop)
        if self._closing is not None:
            await asyncio.shield(self._closing)

    def _open_engine(self) -> _Engine:
        if self._engine is None:
            raise self._closed()
        return self._engine

    def _closed(self) -> JournalError:
        return refusals.closed(self._url)

    async def check(self) -> None:
        """Write something and read it back through another connection; raise with the reason."""
        # One at a time: on a disk that hangs, those who ask again and again must not fill the queue.
        if self._checking is None or self._checking.done():
            self._checking = asyncio.ensure_future(self._check())
            self._checking.add_done_callback(_retrieve_error)
        await asyncio.shield(self._checking)

    async def _check(self) -> None:
        writer, _, _, _, health = self._open_engine()
        if (short := health.look(writer.waiting)) is not None:
            raise short
        number = await writer.submit(write_mark, durable=True)
        if await self._read(read_mark) < number:
            raise JournalError(
                "the journal failed (what was written cannot be read back): check its disk",
                path=str(self._path),
            )
        await self._read(health.inspect)

    def shortage(self) -> JournalError | None:
        """Why nothing new should be begun, as far as that is known; None if nothing speaks against it."""
        engine = self._engine
        return self._closed() if engine is None else engine.health.shortage(engine.writer.waiting)

    def _moment(self) -> Moment:
        return Moment(self._lease_clock(), self._boot)

    def _write(self, work: Work[T], key: SessionKey = NOBODY) -> asyncio.Future[T]:
        return self._open_engine().writer.submit(work, key)

    async def _read(self, work: Work[T]) -> T:
        return await self._open_engine().readers.run(work)

    # -- sessions --

    async def create(self, info: SessionInfo) -> SessionInfo:
        return await self._write(lambda db: sessions.create(db, info, self._clock()), info.key)

    async def get(self, key: SessionKey) -> SessionInfo | None:
        return await self._read(lambda db: sessions.get(db, key, self._moment()))

    async def list(
        self,
        principal: str | None,
        *,
        cwd: str | None = None,
        limit: int = 100,
        before: tuple[float, str] | None = None,
        begun: bool = False,
        target: str | None = None,
    ) -> list[SessionInfo]:
        wanted = sessions.Listed(principal, cwd, before, begun, target)
        return await self._read(lambda db: sessions.list_sessions(db, wanted, limit, self._moment()))

    async def search(
        self,
        query: str,
        principal: str | None,
        *,
        limit: int = 100,
        before: tuple[float, str] | None = None,
        target: str | None = None,
    ) -> SearchPage:
        words = Query.parse(query)
        wanted = sessions.Listed(principal, None, before, True, target)
        return await self._read(lambda db: sessions.search(db, words, wanted, limit, self._moment()))

    async def describe(self, key: SessionKey, *, title: str | None) -> None:
        await self._write(lambda db: sessions.describe(db, key, title), key)

    async def keep(self, key: SessionKey, name: str, value: Any) -> None:
        await self._write(lambda db: sessions.keep(db, key, name, value), key)

    async def delete(self, key: SessionKey) -> bool:
        number = await self._write(lambda db: retention.delete(db, key), key)
        if number is not None:
            await self._retention().remove_all_leftovers(number)
        return number is not None

    def _retention(self) -> retention.Retention:
        return retention.Retention(self._read, self._write)

    # -- ownership --

    async def claim(self, key: SessionKey, owner: str, ttl: float) -> Lease | Held:
        """Take the lease with a new fence if nobody holds it; a cancelled claim is given back."""
        claiming = self._write(lambda db: leases.claim(db, key, owner, ttl, self._moment()), key)
        return await _or_undo(claiming, self._release_soon)

    def _release_soon(self, lease: Lease | Held) -> None:
        if isinstance(lease, Lease) and self._engine is not None:
            self._write(lambda db: leases.release(db, lease), lease.key)

    async def renew(self, owner: str, ttl: float) -> dict[SessionKey, int]:
        return await self._write(lambda db: leases.renew(db, owner, ttl, self._moment()))

    async def release(self, lease: Lease) -> None:
        await self._write(lambda db: leases.release(db, lease), lease.key)

    # -- records --

    def append(
        self, lease: Lease, records: Sequence[Record], *, durable: bool = False
    ) -> asyncio.Future[None]:
        try:
            writer = self._open_engine().writer
            batch = pack(lease, records)
        except JournalError as error:
            refused: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            refused.set_exception(error)
            return refused
        return writer.submit(
            lambda db: sessions.append(db, lease, batch, self._clock()),
            lease.key,
            durable=durable,
            size=batch.size,
        )

    def crowded(self, key: SessionKey) -> bool:
        return self._engine is not None and self._engine.writer.crowded(key)

    async def room(self, key: SessionKey) -> None:
        await self._open_engine().writer.room(key)

    async def read(self, key: SessionKey, after: int = 0, limit: int = 1000) -> builtins.list[Record]:
        return await self._read(lambda db: sessions.read(db, key, after, limit))

    # -- snapshots --

    async def put_snapshot(self, lease: Lease, part: str, snapshot: Snapshot) -> None:
        await self._open_engine().writer.submit(
            lambda db: snapshots.put(db, lease, part, snapshot), lease.key, size=len(snapshot.payload)
        )

    async def get_snapshots(self, key: SessionKey, part: str) -> builtins.list[Snapshot]:
        return await self._read(lambda db: snapshots.get(db, key, part))

    # -- commands --

    async def post(self, key: SessionKey, command_key: str, command: Command) -> int:
        payload = encode(command, f"command {command_key!r}")
        await self.room(key)
        return await self._open_engine().writer.submit(
            lambda db: posted_commands.post(db, key, command_key, payload), key, size=len(payload)
        )

    async def commands(self, key: SessionKey) -> builtins.list[Posted]:
        return await self._read(lambda db: posted_commands.read_waiting(db, key))

    async def inbox(self, owner: str) -> builtins.list[SessionKey]:
        return await self._read(lambda db: posted_commands.inbox(db, owner))

    async def settle(self, lease: Lease, command_key: str, disposition: Disposition) -> None:
        await self._write(lambda db: posted_commands.settle(db, lease, command_key, disposition), lease.key)

    async def report_progress(self, lease: Lease) -> None:
        await self._write(lambda db: posted_commands.report_progress(db, lease), lease.key)

    async def progress(self, key: SessionKey, command_key: str) -> int:
        return await self._read(lambda db: posted_commands.progress(db, key, command_key))

    async def disposition(self, key: SessionKey, command_key: str) -> Disposition | None:
        return await self._read(lambda db: posted_commands.disposition(db, key, command_key))

    # -- watching --

    async def changes(self, since: int, *, poll: float) -> int:
        return await self._open_engine().waiters.wait(since, poll)

    # -- blobs and retention --

    async def put_blob(self, data: bytes) -> str:
        digest = await asyncio.to_thread(blobs.digest_of, data)
        await self.room(_BLOBS)
        await self._open_engine().writer.submit(
            lambda db: blobs.put(db, digest, data, self._clock()), _BLOBS, size=len(data)
        )
        return digest

    async def get_blob(self, digest: str) -> bytes | None:
        """Give the data back, if it is still there; Corrupt if it is not what was kept."""
        return await self._read(lambda db: blobs.get(db, digest))

    async def retain(self, *, max_age: float | None = None, max_bytes: int | None = None) -> int:
        """Forget idle sessions and the oldest turns of large ones; give the number of records removed.

        A session that somebody holds is not idle. Blobs that no record mentions go when they are an hour
        old. Everything goes in slices of their own, so that appends never wait for the whole.
        """
        discarding = self._retention()
        removed = 0
        if max_age is not None:
            removed += await discarding.discard_idle(self._clock() - max_age, self._moment)
        if max_bytes is not None:
            removed += await discarding.trim_large(max_bytes)
        await discarding.remove_all_leftovers()
        await discarding.sweep_blobs(self._clock() - blobs.GRACE)
        return removed


def _retrieve_error(check: asyncio.Future[None]) -> None:
    """Look at how a check ended, even if nobody waits for it any more."""
    if not check.cancelled():
        check.exception()


async def _or_undo(work: asyncio.Future[T], undo: Callable[[T], None]) -> T:
    """Wait for work; when the wait is cancelled, undo what the work brings in the end."""

    def undo_it(done: asyncio.Future[T]) -> None:
        if not done.cancelled() and done.exception() is None:
            undo(done.result())

    try:
        return await asyncio.shield(work)
    except asyncio.CancelledError:
        work.add_done_callback(undo_it)
        raise


def _close_all(connections: tuple[sqlite3.Connection, ...]) -> None:
    for db in connections:
        db.close()


def _data_version(probe: sqlite3.Connection) -> int | None:
    """A number that is another one after every commit of any other connection."""
    try:
        return probe.execute("PRAGMA data_version").fetchone()[0]
    except sqlite3.Error:
        return None  # Busy for this moment, or closed.
