"""Where the ledger is, and how it is opened: a SQLite file (WAL, mode 0600), or one in memory.

A ledger may be used from several threads, and its file from several processes: each use has a connection of
its own, writers wait for each other, and readers wait for nobody. One in memory has a single connection,
which one thread after the other gets.

Never put the file on a network disk: its locks need one machine.
"""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from trunkline.demos.finance.ledger.environment import environment
from trunkline.demos.finance.ledger.errors import LedgerError, explain
from trunkline.demos.finance.ledger.schema import migrate
from trunkline.own_files import protect_own_file
from trunkline.state_files import state_folder

MEMORY = "sqlite:///:memory:"
"""The address of a ledger that goes with its process."""
_PREFIX = "sqlite:///"
_MAX_URL = 4096


def default_url() -> str:
    """Give the address of the ledger in the user's state folder."""
    return f"{_PREFIX}{state_folder() / 'finance' / 'ledger.db'}"


def database_url(folder: Path | None = None) -> str:
    """Give ``DATABASE_URL`` of the process, else of ``.env`` in a folder (the present one), else our own."""
    return environment(folder).get("DATABASE_URL") or default_url()


def parse_database_url(url: str) -> Path | None:
    """Give the file that an address names, None for one in memory; refuse every other address."""
    path = url.removeprefix(_PREFIX)
    if url == MEMORY:
        return None
    if path == url or not path or path.startswith(":") or "?" in path or "\0" in path or len(url) > _MAX_URL:
        # Another address may hold a password, so only its first word is named.
        scheme = url.partition(":")[0][:40] if ":" in url else ""
        raise LedgerError(
            f"DATABASE_URL{f' ({scheme}:...)' if scheme else ''} cannot be used: the ledger is a SQLite "
            "file; set DATABASE_URL=sqlite:///PATH (sqlite:////home/me/ledger.db for an absolute path) or "
            f"{MEMORY}, or unset it"
        )
    return Path(path).expanduser().absolute()


class Ledger:
    """The ledger at an address; nothing is opened or made before it is used."""

    def __init__(self, url: str | None = None, *, timeout: float = 5.0) -> None:
        """Name the ledger; without an address it is the one of ``DATABASE_URL`` or our own file.

        ``timeout`` is how long, in seconds, to wait for another process that writes.
        """
        self.url = database_url() if url is None else url
        self.path = parse_database_url(self.url)
        """The file; None if the ledger is in memory."""
        self._timeout = timeout
        self._lock = threading.RLock()
        self._memory: sqlite3.Connection | None = None
        self._ready = False

    @property
    def where(self) -> str:
        """The ledger's name in messages."""
        return "in memory" if self.path is None else str(self.path)

    @contextmanager
    def reading(self) -> Generator[sqlite3.Connection]:
        """Give a connection that sees one state of the ledger and cannot change it."""
        with self._connection() as db:
            nested = db.in_transaction  # In memory, inside another use by the same thread.
            before = db.execute("PRAGMA query_only").fetchone()[0]
            db.execute("PRAGMA query_only=1")
            try:
                if not nested:
                    db.execute("BEGIN")
                yield db
            finally:
                # Nothing is written, so there is nothing to lose; and SQLite may have rolled back by itself.
                if not nested and db.in_transaction:
                    db.execute("ROLLBACK")
                db.execute(f"PRAGMA query_only={before}")

    @contextmanager
    def writing(self) -> Generator[sqlite3.Connection]:
        """Give a connection inside a transaction: all of it is stored at the end, or nothing on an error."""
        with self._connection() as db:
            if db.in_transaction:
                raise LedgerError("the ledger in memory is in use by this thread: finish that use first")
            db.execute("BEGIN IMMEDIATE")
            try:
                yield db
                db.execute("COMMIT")
            finally:
                # SQLite rolls back by itself on a full disk, for example.
                if db.in_transaction:
                    db.execute("ROLLBACK")

    def snapshot(self) -> sqlite3.Connection:
        """Open a connection that can only read; the caller closes it. One in memory is copied."""
        try:
            if self.path is not None:
                self._prepare(self.path)
                return self._connect(self.path, "mode=ro")
            copy = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
            with self._connection() as db:
                db.backup(copy)
            return copy
        except sqlite3.Error as error:
            raise explain(error, self.where) from error

    def close(self) -> None:
        """Let go of a ledger in memory, with all that is in it; a file is closed after each use anyway."""
        with self._lock:
            if self._memory is not None:
                self._memory.close()
            self._memory = None

    @contextmanager
    def _connection(self) -> Generator[sqlite3.Connection]:
        try:
            if self.path is None:
                with self._lock:
                    yield self._in_memory()
                return
            self._prepare(self.path)
            db = self._connect(self.path, "mode=rw")
            try:
                yield db
            finally:
                db.close()
        except sqlite3.Error as error:
            raise explain(error, self.where) from error

    def _in_memory(self) -> sqlite3.Connection:
        if self._memory is None:
            db = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
            db.execute("PRAGMA foreign_keys=1")
            migrate(db, self.where)
            self._memory = db
        return self._memory

    def _prepare(self, path: Path) -> None:
        """Make the file and bring it to the present version, at the first use and when it was removed."""
        with self._lock:
            if self._ready and path.exists():
                return
            # It holds the keys to the bank: no agent of this process may read or write the file itself.
            protect_own_file(path, "the finance ledger", secret=True)
            _make_file(path, make_folders=self.url == default_url())
            db = self._connect(path, "mode=rw")
            try:
                migrate(db, self.where)
                self._use_wal(db)
            finally:
                db.close()
            self._ready = True

    def _use_wal(self, db: sqlite3.Connection) -> None:
        deadline = time.monotonic() + self._timeout
        while True:
            try:
                db.execute("PRAGMA journal_mode=WAL")
                return
            except sqlite3.OperationalError as error:
                # SQLite does not wait for its turn here when two processes make one file.
                if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                    raise
                time.sleep(0.01)

    def _connect(self, path: Path, options: str) -> sqlite3.Connection:
        # Never made by SQLite: that would have the mode of the umask.
        db = sqlite3.connect(
            f"{path.as_uri()}?{options}",
            uri=True,
            timeout=self._timeout,
            isolation_level=None,
            check_same_thread=False,
        )
        db.execute("PRAGMA foreign_keys=1")
        return db


def _make_file(path: Path, *, make_folders: bool) -> None:
    """Make the file (0600) and our own folders (0700), whatever the umask; leave others alone."""
    if not make_folders and not path.parent.is_dir():
        # A folder that is not there is more often a misspelt one than one to be made.
        raise LedgerError(
            f"the ledger {path} cannot be made: there is no folder {path.parent}; make it, or choose another "
            "with DATABASE_URL=sqlite:///PATH"
        )
    try:
        for folder in reversed(path.parents) if make_folders else ():
            if not folder.exists():
                folder.mkdir(exist_ok=True)
                folder.chmod(0o700)
        # Never open and close a file that exists: closing it would drop the locks that another
        # connection of this process holds on it (POSIX).
        file = os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600)
    except FileExistsError:
        if path.is_file():
            return
        raise LedgerError(f"{path} is not a file: choose another with DATABASE_URL=sqlite:///PATH") from None
    except OSError as error:
        raise LedgerError(
            f"the ledger {path} cannot be made ({error.strerror}): check its folder, or choose another with "
            "DATABASE_URL=sqlite:///PATH"
        ) from error
    try:
        os.fchmod(file, 0o600)
    finally:
        os.close(file)
