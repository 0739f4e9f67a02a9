"""The tables of a SQLite journal, how they came to be, and how a file is opened.

The schema is the list of its migrations: a new file is one at version 0. All steps that a file
lacks run in one transaction, so a crash leaves the old version or the new one.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from trunkline.errors import JournalError
from trunkline.journal.sqlite_errors import damaged

APPLICATION_ID = 0x74726B6C
"""``trkl``, in the header of every file of ours."""

# A session's number never leaves the engine; it keeps keys out of a million rows. Records live in
# the primary key's own tree: a page of them is one walk, and an append goes to the end of a leaf.
_VERSION_1 = (
    """CREATE TABLE sessions (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        principal TEXT NOT NULL,
        session_id TEXT NOT NULL,
        target TEXT NOT NULL,
        cwd TEXT,
        roots TEXT NOT NULL,
        title TEXT,
        meta TEXT NOT NULL,
        created_at REAL NOT NULL,
        updated_at REAL NOT NULL,
        first_seq INTEGER NOT NULL DEFAULT 1,
        last_seq INTEGER NOT NULL DEFAULT 0,
        bytes INTEGER NOT NULL DEFAULT 0,
        fence INTEGER NOT NULL DEFAULT 0,
        owner TEXT,
        expires_at REAL NOT NULL DEFAULT 0,
        UNIQUE (principal, session_id)
    )""",
    "CREATE INDEX sessions_by_update ON sessions (principal, updated_at, session_id)",
    "CREATE INDEX sessions_by_owner ON sessions (owner) WHERE owner IS NOT NULL",
    """CREATE TABLE records (
        session INTEGER NOT NULL,
        seq INTEGER NOT NULL,
        at REAL NOT NULL,
        fence INTEGER NOT NULL,
        kind INTEGER NOT NULL,
        payload BLOB NOT NULL,
        PRIMARY KEY (session, seq)
    ) WITHOUT ROWID""",
    """CREATE TABLE commands (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        session INTEGER NOT NULL,
        key TEXT NOT NULL,
        payload BLOB NOT NULL,
        disposition BLOB,
        UNIQUE (session, key)
    )""",
    "CREATE INDEX commands_waiting ON commands (session, number) WHERE disposition IS NULL",
)

# The floor is the highest fence of any session that was deleted: a new session starts there, so a
# lease or a cursor of a deleted session never fits one made later under the same name.
_VERSION_2 = (
    "CREATE TABLE blobs (digest TEXT PRIMARY KEY, created_at REAL NOT NULL, data BLOB NOT NULL)",
    "CREATE INDEX blobs_by_age ON blobs (created_at)",
    "CREATE TABLE floor (fence INTEGER NOT NULL)",
    "INSERT INTO floor VALUES (0)",
)

# A lease's expires_at is a time of the lease clock, which means something in its own boot only. Leases of
# older versions, by the wall clock, have no boot: they have run out.
_VERSION_3 = ("ALTER TABLE sessions ADD COLUMN boot TEXT NOT NULL DEFAULT 'none'",)

# What records mean, in parts, so that a long session opens without reading all of it. It can be deleted.
_VERSION_4 = (
    """CREATE TABLE snapshots (
        session INTEGER NOT NULL,
        part TEXT NOT NULL,
        seq INTEGER NOT NULL,
        after INTEGER NOT NULL,
        version INTEGER NOT NULL,
        payload BLOB NOT NULL,
        PRIMARY KEY (session, part, seq)
    )""",
)

# A number that a check writes and reads back.
_VERSION_5 = ("CREATE TABLE checks (number INTEGER NOT NULL)", "INSERT INTO checks VALUES (0)")

# What the agent of a session keeps with it.
_VERSION_6 = ("ALTER TABLE sessions ADD COLUMN kept TEXT NOT NULL DEFAULT 'null'",)

# How often the owner reported that it works on a posted command.
_VERSION_7 = ("ALTER TABLE commands ADD COLUMN progress INTEGER NOT NULL DEFAULT 0",)

MIGRATIONS: Sequence[Sequence[str]] = (
    _VERSION_1,
    _VERSION_2,
    _VERSION_3,
    _VERSION_4,
    _VERSION_5,
    _VERSION_6,
    _VERSION_7,
)
VERSION = len(MIGRATIONS)


def make_file(path: Path) -> None:
    """Make the file (0600) and the folders it lacks (0700), whatever the umask; leave others alone."""
    try:
        for folder in reversed(path.parents):
            if not folder.exists():
                folder.mkdir(exist_ok=True)
                folder.chmod(0o700)
        # Never open and close a file that exists: closing it would drop the locks that another
        # connection of this process holds on it (POSIX).
        file = os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600)
    except FileExistsError:
        return
    except OSError as error:
        raise JournalError(
            f"the journal failed (it cannot be made: {error.strerror}): check its folder, "
            "or choose another with --journal or TRUNKLINE_JOURNAL (sqlite:PATH)",
            path=str(path),
        ) from error
    try:
        os.fchmod(file, 0o600)
    finally:
        os.close(file)


def connect(
    path: Path, *, timeout: float, read_only: bool = False, options: str = "mode=rw"
) -> sqlite3.Connection:
    """Open a connection that begins no transaction by itself and may move between threads.

    It never makes a file: one that SQLite makes has the mode of the umask. ``options`` are those of an
    address (https://www.sqlite.org/uri.html).
    """
    address = f"{path.as_uri()}?{options}"
    db = sqlite3.connect(address, uri=True, timeout=timeout, isolation_level=None, check_same_thread=False)
    db.execute(f"PRAGMA query_only={int(read_only)}")
    if not read_only:
        # Without this a Mac's fsync leaves data in the drive's cache; elsewhere it does nothing.
        db.execute("PRAGMA fullfsync=1")
        db.execute("PRAGMA journal_size_limit=67108864")
    return db


def migrate(db: sqlite3.Connection, path: Path) -> None:
    """Bring a file to the present version; refuse one that is newer, or is not ours."""
    if (_pragma(db, "application_id"), _pragma(db, "user_version")) == (APPLICATION_ID, VERSION):
        return
    # From here on nobody else can migrate, so what is read is one state of the file.
    db.execute("BEGIN IMMEDIATE")
    try:
        for statements in MIGRATIONS[_version(db, path) :]:
            for statement in statements:
                db.execute(statement)
        db.execute(f"PRAGMA application_id={APPLICATION_ID}")
        db.execute(f"PRAGMA user_version={VERSION}")
        db.execute("COMMIT")
    finally:
        if db.in_transaction:
            db.execute("ROLLBACK")


def can_write(path: Path) -> bool:
    """Whether a file may be written, with its log beside it; one that is not there can be made."""
    log = path.with_name(f"{path.name}-wal")
    return not path.exists() or (
        os.access(path, os.W_OK) and os.access(log if log.exists() else path.parent, os.W_OK)
    )


def read_options(path: Path, *, timeout: float) -> str:
    """How a file that cannot be written can be read all the same."""
    # SQLite reads one in WAL mode if its log and its shared memory are there, or as one that nobody changes:
    # https://www.sqlite.org/wal.html#readonly. The second way must not leave out what is in the log only.
    log = path.with_name(f"{path.name}-wal")
    whole = not log.exists() or not log.stat().st_size
    ways = ("mode=ro", "mode=ro&immutable=1") if whole else ("mode=ro",)
    for options in ways:
        try:
            with closing(connect(path, timeout=timeout, read_only=True, options=options)) as db:
                version = _version(db, path)
        except sqlite3.OperationalError:
            if options != ways[-1]:
                continue
            raise
        if version != VERSION:
            raise JournalError(
                f"the journal failed (it has schema {version} and cannot be written, so it cannot be brought "
                f"to {VERSION}): make its file and its folder writable once",
                path=str(path),
            )
        return options
    raise AssertionError("one of the ways is the last")


def _version(db: sqlite3.Connection, path: Path) -> int:
    application, version = _pragma(db, "application_id"), _pragma(db, "user_version")
    if application == APPLICATION_ID:
        if version > VERSION:
            raise JournalError(
                f"the journal failed (it has schema {version}, this Trunkline knows up to {VERSION}): "
                "upgrade Trunkline, or choose another with --journal or TRUNKLINE_JOURNAL (sqlite:PATH)",
                path=str(path),
            )
        return version
    if application or version or db.execute("SELECT 1 FROM sqlite_master").fetchone():
        raise damaged(str(path), "it is a SQLite database of another program")
    return 0


def use_wal(db: sqlite3.Connection, path: Path, *, timeout: float) -> None:
    """Let readers and the writer work at the same time; needs a local disk."""
    deadline = time.monotonic() + timeout
    while True:
        try:
            mode = db.execute("PRAGMA journal_mode=WAL").fetchone()[0]
            break
        except sqlite3.OperationalError as error:
            # SQLite does not wait for its turn here when two processes make one file.
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
            time.sleep(0.01)
    if mode != "wal":
        raise JournalError(
            "the journal failed (it cannot use write-ahead logging): keep it on a local disk", path=str(path)
        )


def _pragma(db: sqlite3.Connection, name: str) -> int:
    return db.execute(f"PRAGMA {name}").fetchone()[0]
