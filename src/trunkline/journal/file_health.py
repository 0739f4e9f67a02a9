"""Whether a journal's file is there, whole, and on a disk with space left.

SQLite goes on writing to a file that somebody deleted, and notices a full disk or a damaged page only when
it meets one. Whoever is told that something is stored must be able to rely on it, so we look ourselves.
"""

from __future__ import annotations

import os
import sqlite3
import time
from pathlib import Path

from trunkline.errors import Corrupt, JournalError
from trunkline.journal.sqlite_errors import damaged

RESERVE = 32 * 2**20
"""How many bytes of the disk stay free: with less, nothing new is begun."""

_FRESH = 1.0
"""For how many seconds a look at the disk counts."""
_WHOLE_FOR = 600.0
"""For how many seconds a file counts as whole after it was inspected."""
_BUDGET = 1.0
"""How many seconds an inspection may take; what it has not seen by then stays unseen."""
_STEPS = 10_000
"""After how many steps of SQLite an inspection looks at the time."""

_Identity = tuple[int, int]


class FileHealth:
    """Looks after one file from the moment it was opened."""

    def __init__(self, path: Path, *, reserve: int = RESERVE) -> None:
        self._path = path
        self._log = path.with_name(f"{path.name}-wal")
        self._reserve = reserve
        self._file = _identity(path)
        self._log_file: _Identity | None = None
        self._damage: Corrupt | None = None
        self._whole_until = 0.0
        self._looked_at = 0.0
        self._found: JournalError | None = None

    def check_present(self) -> None:
        """Raise when the file, or its log, is not the one that was opened; takes microseconds."""
        log = _identity(self._log)
        if self._log_file is None:
            self._log_file = log
        if self._file is None or _identity(self._path) != self._file or log != self._log_file:
            raise JournalError(
                "the journal failed (its file was deleted or replaced while it was in use): put it back "
                "under its name, or restart to begin with a new one",
                path=str(self._path),
            )

    def shortage(self, waiting: int) -> JournalError | None:
        """Why nothing new should be begun, as far as that is known; ``waiting`` bytes are to be written."""
        now = time.monotonic()
        if now - self._looked_at > _FRESH:
            self._found, self._looked_at = self.look(waiting), now
        return self._found

    def look(self, waiting: int) -> JournalError | None:
        """Look at the disk and the file now."""
        try:
            self.check_present()
            disk = os.statvfs(self._path)
        except JournalError as error:
            return error
        except OSError as error:
            return JournalError(
                f"the journal failed ({error.strerror}): check its disk, then try again", path=str(self._path)
            )
        free, needed = disk.f_bavail * disk.f_frsize, self._reserve + waiting
        if free >= needed:
            return self._damage
        return JournalError(
            f"the journal failed ({free >> 10} KiB of its disk are free, {needed >> 10} KiB are needed): "
            "free some space; writing goes on by itself after that",
            path=str(self._path),
        )

    def inspect(self, db: sqlite3.Connection) -> None:
        """Raise Corrupt when the file is damaged; looks at it now and then, and never for long."""
        now = time.monotonic()
        if now < self._whole_until:
            return
        end = now + _BUDGET
        db.set_progress_handler(lambda: int(time.monotonic() > end), _STEPS)
        try:
            (found,) = db.execute("PRAGMA quick_check(1)").fetchone()
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_INTERRUPT:
                raise
            found = "ok"
        except sqlite3.DatabaseError as error:
            found = str(error)
        finally:
            db.set_progress_handler(None, 0)
        self._damage = None if found == "ok" else damaged(str(self._path), found.splitlines()[-1])
        if self._damage is not None:
            raise self._damage
        self._whole_until = now + _WHOLE_FOR


def write_mark(db: sqlite3.Connection) -> int:
    """Write a number that was never written before."""
    db.execute("UPDATE checks SET number = number + 1")
    return read_mark(db)


def read_mark(db: sqlite3.Connection) -> int:
    """Read the number that was written last."""
    (number,) = db.execute("SELECT number FROM checks").fetchone()
    return number


def _identity(path: Path) -> _Identity | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino
