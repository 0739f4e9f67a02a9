"""What went wrong with the ledger, said with its cause and the next step."""

from __future__ import annotations

import sqlite3

from trunkline.errors import Hint, TrunklineError


class LedgerError(TrunklineError):
    """The ledger cannot be opened, read or changed as asked; the message says why and what to do."""

    fault = "user"
    hint = Hint(-32602, 422)
    code = "ledger"


_ADVICE = {
    sqlite3.SQLITE_FULL: "the disk or a quota is full; free some space and try again, nothing was changed",
    sqlite3.SQLITE_BUSY: "another program writes to it for too long; try again, or close that program",
    sqlite3.SQLITE_LOCKED: "another program writes to it for too long; try again, or close that program",
    sqlite3.SQLITE_IOERR: "the disk does not do as told; check it and its free space, then try again",
    sqlite3.SQLITE_READONLY: "it cannot be written; check the modes of the file and of its folder",
    sqlite3.SQLITE_CANTOPEN: "it cannot be opened; check that it is a file and that its folder is yours",
    sqlite3.SQLITE_CORRUPT: "the file is damaged; put back a copy, or choose another with DATABASE_URL",
    sqlite3.SQLITE_NOTADB: "the file is no SQLite database; choose another with DATABASE_URL=sqlite:///PATH",
    sqlite3.SQLITE_CONSTRAINT: "a value does not fit the tables; nothing was changed",
}


def explain(error: sqlite3.Error, where: str) -> LedgerError:
    """Give the error that a person can act upon, for one of SQLite; ``where`` names the ledger."""
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    return LedgerError(f"the ledger {where} failed ({error}): {_ADVICE.get(code, 'try again')}")
