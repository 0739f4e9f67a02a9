"""Takes an import back, with all that it alone brought; what a person changed since is kept and named."""

from __future__ import annotations

import datetime
import sqlite3
from typing import Literal

import msgspec

from trunkline.demos.finance.ledger.classification import classify
from trunkline.demos.finance.statements.statement import StatementError

BANK = "bank"
"""The source of what a sync brought."""


class ImportRecord(msgspec.Struct, frozen=True, kw_only=True):
    """An import or a sync that was made."""

    id: int
    at: str
    source: str
    file: str
    added: int
    left: int
    """How many of its transactions are still there."""
    undone_at: str | None


class Undone(msgspec.Struct, frozen=True, kw_only=True):
    """What an undo did, and what it kept."""

    import_id: int
    file: str
    removed: int
    also_in_others: int
    """Transactions that another import shows too: they belong to that one now."""
    edited: tuple[str, ...]
    """Transactions that a person changed since, which were kept (or removed, if that was asked)."""
    edited_kept: bool
    accounts_removed: tuple[str, ...]


def list_imports(db: sqlite3.Connection, limit: int = 50) -> list[ImportRecord]:
    """Give the last imports, newest first."""
    rows = db.execute(
        "SELECT id, at, source, file, added, "
        "(SELECT count(*) FROM transactions WHERE import_id = imports.id), undone_at "
        "FROM imports ORDER BY id DESC LIMIT ?",
        (limit,),
    )
    return [
        ImportRecord(
            id=row[0], at=row[1], source=row[2], file=row[3], added=row[4], left=row[5], undone_at=row[6]
        )
        for row in rows
    ]


def undo_import(
    db: sqlite3.Connection,
    import_id: int | None = None,
    *,
    at: datetime.datetime,
    edited: Literal["keep", "remove"] = "keep",
) -> Undone:
    """Undo an import of a file, by default the last one, in the transaction of the caller.

    Tags and pairs of removed transactions go with them, and accounts that are empty then. Transactions that
    another import shows too stay. So do those with a tag, a note or a category of a person's, unless they are
    to be removed as well.
    """
    record = _find(db, import_id)
    mine = [row[0] for row in db.execute("SELECT id FROM transactions WHERE import_id = ?", (record.id,))]
    shared = dict[int, int](
        db.execute(
            "SELECT transaction_id, min(import_id) FROM sightings JOIN imports ON imports.id = import_id "
            "WHERE import_id <> ?1 AND undone_at IS NULL AND transaction_id IN "
            "(SELECT id FROM transactions WHERE import_id = ?1) GROUP BY transaction_id",
            (record.id,),
        ).fetchall()
    )
    changed = dict[int, str](
        db.execute(
            "SELECT id, posted || ' ' || description FROM transactions WHERE import_id = ? AND "
            "(category_by = 'user' OR note <> '' OR id IN (SELECT transaction_id FROM tags)) "
            "ORDER BY posted, id",
            (record.id,),
        ).fetchall()
    )
    kept_edits = {one for one in changed if one not in shared} if edited == "keep" else set[int]()
    gone = [one for one in mine if one not in shared and one not in kept_edits]
    accounts = _accounts_of(db, record.id)
    db.executemany(
        "UPDATE transactions SET import_id = ? WHERE id = ?", [(new, old) for old, new in shared.items()]
    )
    db.executemany("DELETE FROM transactions WHERE id = ?", [(one,) for one in gone])
    db.execute(
        "DELETE FROM sightings WHERE import_id = ? AND transaction_id NOT IN "
        "(SELECT id FROM transactions WHERE import_id = ?)",
        (record.id, record.id),
    )
    removed_accounts = _remove_empty(db, accounts)
    db.execute("UPDATE imports SET undone_at = ? WHERE id = ?", (at.isoformat(timespec="seconds"), record.id))
    classify(db)
    return Undone(
        import_id=record.id,
        file=record.file,
        removed=len(gone),
        also_in_others=len(shared),
        edited=tuple(text for one, text in changed.items() if one not in shared),
        edited_kept=edited == "keep",
        accounts_removed=removed_accounts,
    )


def _find(db: sqlite3.Connection, import_id: int | None) -> ImportRecord:
    records = list_imports(db, 10_000)
    if import_id is None:
        found = next((one for one in records if one.undone_at is None and one.source != BANK), None)
        if found is None:
            raise StatementError("there is no import to undo")
        return found
    found = next((one for one in records if one.id == import_id), None)
    if found is None:
        raise StatementError(f"there is no import {import_id}: `trunkline finance imports` lists them")
    if found.undone_at is not None:
        raise StatementError(f"import {import_id} was undone at {found.undone_at} already")
    if found.source == BANK:
        raise StatementError(
            f"import {import_id} is a bank sync: the bank would not send its transactions again, so it "
            "cannot be undone"
        )
    return found


def _accounts_of(db: sqlite3.Connection, import_id: int) -> list[str]:
    rows = db.execute("SELECT DISTINCT account_id FROM sightings WHERE import_id = ?", (import_id,))
    return [row[0] for row in rows]


def _remove_empty(db: sqlite3.Connection, accounts: list[str]) -> tuple[str, ...]:
    """Remove accounts of files that have no transaction any more; give their names."""
    names: list[str] = []
    for account in accounts:
        row = db.execute(
            "DELETE FROM accounts WHERE id = ? AND source = 'file' AND NOT EXISTS "
            "(SELECT 1 FROM transactions WHERE account_id = accounts.id) RETURNING name",
            (account,),
        ).fetchone()
        if row is not None:
            names.append(row[0])
    return tuple(names)
