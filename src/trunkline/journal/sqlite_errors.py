"""What went wrong with a SQLite file, said with its cause and the next step.

The words may reach a stranger, so they name no file; ``JournalError.path`` does, for logs and commands.
"""

from __future__ import annotations

import sqlite3

from trunkline.errors import Corrupt, JournalError, TrunklineError

_ADVICE = {
    sqlite3.SQLITE_FULL: "the disk or a quota is full: free some space; writing goes on by itself after that",
    sqlite3.SQLITE_BUSY: "another process holds it for too long: see who with `fuser`, then try again",
    sqlite3.SQLITE_IOERR: "the disk does not do as told: check it and its free space, then try again",
    sqlite3.SQLITE_READONLY: "it cannot be written: check the modes of the file and of its folder",
    sqlite3.SQLITE_CANTOPEN: "it cannot be opened: check that it is a file and that its folder is yours",
    sqlite3.SQLITE_TOOBIG: "a value is larger than SQLite allows (1 GB): send it in pieces",
}
_DAMAGE = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})
_OF_THE_WORK = (sqlite3.IntegrityError, sqlite3.DataError, sqlite3.InterfaceError, sqlite3.ProgrammingError)


def explain(error: Exception, path: str) -> TrunklineError:
    """Give the error that a person can act upon; one of ours stays as it is."""
    if isinstance(error, TrunklineError):
        return error
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code in _DAMAGE:
        return damaged(path, str(error))
    return JournalError(f"the journal failed ({error}): {_ADVICE.get(code, 'try again')}", path=path)


def damaged(path: str, cause: str) -> Corrupt:
    """Say that a file is not a journal of ours, or is not whole."""
    return Corrupt(
        f"the journal failed (not a sound Trunkline journal: {cause}): move it away (its -wal and -shm "
        "too) and put back a copy, or choose another with --journal or TRUNKLINE_JOURNAL (sqlite:PATH); "
        "`sqlite3 PATH .recover` saves what can be read",
        path=path,
    )


def is_everyones(error: Exception) -> bool:
    """Whether the engine itself failed (a full disk, say), and not only one piece of work on it."""
    return isinstance(error, sqlite3.Error) and not isinstance(error, _OF_THE_WORK)
