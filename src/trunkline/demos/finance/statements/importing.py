"""Imports a statement in two steps: a plan that changes nothing, and applying it. ``undo`` takes it back.

Every row of a file is new, known (a booking that the ledger has under this identity), or a possible
duplicate (a booking that another kind of source brought, found by amount and day). Applying is one
transaction, in which the rows are sorted anew: what another process imported meanwhile is known then.
"""

from __future__ import annotations

import datetime
import hashlib
import sqlite3
from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

import msgspec

from trunkline.demos.finance.ledger.classification import classify
from trunkline.demos.finance.ledger.results import Money
from trunkline.demos.finance.ledger.schema import UNCATEGORIZED
from trunkline.demos.finance.statements.accounts import LedgerAccount, insert_account
from trunkline.demos.finance.statements.identity import Candidate, Known, identify_rows, match_other_sources
from trunkline.demos.finance.statements.mapping import CsvMapping, save_mapping
from trunkline.demos.finance.statements.reading import ImportQuestion, read_file
from trunkline.demos.finance.statements.statement import (
    Format,
    Problem,
    Statement,
    StatementError,
    StatementRow,
    shorten,
)

_SHOWN_PROBLEMS = 10


class PlannedRow(msgspec.Struct, frozen=True, kw_only=True):
    """A row of a file with its account and its identity."""

    account_id: str
    identity: str
    row: StatementRow
    transaction_id: int | None = None
    """The transaction that it is, or may be."""
    like: str = ""
    """The description of the transaction that it may be."""


class ImportPlan(msgspec.Struct, frozen=True, kw_only=True):
    """What an import would do. Nothing is changed until it is applied."""

    file: str
    format: Format
    digest: str
    accounts: tuple[LedgerAccount, ...]
    new: tuple[PlannedRow, ...]
    known: tuple[PlannedRow, ...]
    possible_duplicates: tuple[PlannedRow, ...]
    pending: int
    """Rows that are not final: they have no identity yet and come with a later file."""
    problems: tuple[Problem, ...]
    """Rows that cannot be read. An import with any is refused, unless a person says to leave them out."""
    notes: tuple[str, ...]
    fingerprint: str | None = None
    mapping: CsvMapping | None = None

    @property
    def counts(self) -> str:
        """The counts as words: ``47 new, 3 known``."""
        parts = [f"{len(self.new)} new", f"{len(self.known)} known"]
        if self.possible_duplicates:
            parts.append(f"{len(self.possible_duplicates)} possible duplicates")
        if self.pending:
            parts.append(f"{self.pending} pending left out")
        if self.problems:
            parts.append(f"{len(self.problems)} unreadable")
        return ", ".join(parts)

    @property
    def period(self) -> tuple[datetime.date, datetime.date] | None:
        """The first and the last day of the file's bookings."""
        days = [one.row.posted for one in (*self.new, *self.known, *self.possible_duplicates)]
        return (min(days), max(days)) if days else None

    @property
    def totals(self) -> tuple[Money, ...]:
        """What the new rows add up to, for each currency."""
        sums: dict[str, int] = {}
        for one in self.new:
            sums[one.row.currency] = sums.get(one.row.currency, 0) + one.row.amount
        return tuple(Money(currency, amount) for currency, amount in sorted(sums.items()))


class Imported(msgspec.Struct, frozen=True, kw_only=True):
    """What an import did."""

    import_id: int | None
    """None if the ledger had every row already: then there is nothing to undo, and no record."""
    file: str
    added: int
    known: int
    possible_duplicates: int
    """Rows that look like bookings of another source; they were left out or added, as asked."""
    pending: int
    left_out: int
    """Rows that could not be read."""
    accounts: tuple[LedgerAccount, ...]


class _Sorted(NamedTuple):
    new: list[PlannedRow]
    known: list[PlannedRow]
    possible: list[PlannedRow]


def plan_import(
    db: sqlite3.Connection,
    file: str,
    data: bytes,
    *,
    account: str | None = None,
    answers: Mapping[str, Any] | None = None,
) -> ImportPlan | ImportQuestion:
    """Look at a file and say what its import would do; or ask what the file does not tell, as one form.

    ``file`` is the name to show. ``account`` is the name, id or number of an account, or the name of a new
    one. ``answers`` are those to the form of an earlier call. StatementError says why a file cannot be read.
    """
    try:
        read = read_file(db, file, data, account, answers or {})
    except StatementError as error:
        raise StatementError(f"{shorten(file, 200)} cannot be imported: {error}") from error
    if isinstance(read, ImportQuestion):
        return read
    new: list[PlannedRow] = []
    known: list[PlannedRow] = []
    possible: list[PlannedRow] = []
    for ledger_account, statement in read.statements:
        found = _sort(db, ledger_account.id, _planned(ledger_account.id, statement))
        new += found.new
        known += found.known
        possible += found.possible
    statements = [statement for _, statement in read.statements]
    return ImportPlan(
        file=file,
        format=read.format,
        digest=hashlib.sha256(data).hexdigest(),
        accounts=tuple({one.id: one for one, _ in read.statements}.values()),
        new=tuple(new),
        known=tuple(known),
        possible_duplicates=tuple(possible),
        pending=sum(row.pending for statement in statements for row in statement.rows),
        problems=tuple(problem for statement in statements for problem in statement.problems),
        notes=tuple(note for statement in statements for note in statement.notes),
        fingerprint=read.fingerprint,
        mapping=read.mapping,
    )


def apply_import(
    db: sqlite3.Connection,
    plan: ImportPlan,
    *,
    at: datetime.datetime,
    duplicates: Literal["skip", "add"] = "skip",
    unreadable: Literal["refuse", "leave_out"] = "refuse",
) -> Imported:
    """Carry out a plan, in the transaction of the caller (``Ledger.writing``)."""
    if plan.problems and unreadable == "refuse":
        raise StatementError(f"{shorten(plan.file, 200)} was not imported: {explain_problems(plan)}")
    rows = [*plan.new, *plan.known, *plan.possible_duplicates]
    sorted_rows = [
        _sort(db, account.id, sorted_by_line(one for one in rows if one.account_id == account.id))
        for account in plan.accounts
    ]
    import_id = None
    if any(found.new or found.possible for found in sorted_rows):
        import_id = begin_import(db, at, plan.format, plan.file, plan.digest)
    added = known = possible = 0
    for account, found in zip(plan.accounts, sorted_rows, strict=True):
        if import_id is not None:
            added += _apply_rows(db, import_id, account, found, add_possible=duplicates == "add")
        known += len(found.known)
        possible += len(found.possible)
        if plan.fingerprint is not None and plan.mapping is not None:
            save_mapping(db, plan.fingerprint, plan.mapping, account.id)
    db.execute("UPDATE imports SET added = ? WHERE id = ?", (added, import_id))
    if import_id is not None:
        classify(db)
    return Imported(
        import_id=import_id,
        file=plan.file,
        added=added,
        known=known,
        possible_duplicates=possible,
        pending=plan.pending,
        left_out=len(plan.problems),
        accounts=plan.accounts,
    )


def _apply_rows(
    db: sqlite3.Connection, import_id: int, account: LedgerAccount, found: _Sorted, *, add_possible: bool
) -> int:
    """Add the new rows of an account, and record which known ones this import showed too."""
    insert_account(db, account)
    fresh = [*found.new, *(found.possible if add_possible else ())]
    for one in fresh:
        insert_transaction(db, import_id, one)
    for one in (*found.known, *(() if add_possible else found.possible)):
        if one.transaction_id is not None:
            record_sighting(db, import_id, one.account_id, one.identity, one.transaction_id)
    return len(fresh)


def explain_problems(plan: ImportPlan) -> str:
    """Say which rows cannot be read, with their lines and the next step."""
    shown = "; ".join(str(problem) for problem in plan.problems[:_SHOWN_PROBLEMS])
    more = len(plan.problems) - _SHOWN_PROBLEMS
    rest = f"; and {more} more" if more > 0 else ""
    count = len(plan.problems)
    rows = "one row" if count == 1 else f"{count} rows"
    return f"{rows} cannot be read ({shown}{rest}). Correct the file, or say to leave them out"


def begin_import(db: sqlite3.Connection, at: datetime.datetime, source: str, file: str, digest: str) -> int:
    """Make the record of an import or a sync, and give its id."""
    cursor = db.execute(
        "INSERT INTO imports (at, source, file, digest) VALUES (?, ?, ?, ?)",
        (at.isoformat(timespec="seconds"), source, file, digest),
    )
    assert cursor.lastrowid is not None
    return cursor.lastrowid


def insert_transaction(db: sqlite3.Connection, import_id: int, planned: PlannedRow) -> int:
    """Add a transaction, and record that this import showed it."""
    row = planned.row
    cursor = db.execute(
        "INSERT INTO transactions (account_id, posted, amount, currency, description, identity, import_id, "
        "pending, category, category_by) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            planned.account_id,
            row.posted.isoformat(),
            row.amount,
            row.currency,
            row.description,
            planned.identity,
            import_id,
            int(row.pending),
            row.category or UNCATEGORIZED,
            None if row.category is None else "import",
        ),
    )
    assert cursor.lastrowid is not None
    record_sighting(db, import_id, planned.account_id, planned.identity, cursor.lastrowid)
    return cursor.lastrowid


def record_sighting(
    db: sqlite3.Connection, import_id: int, account_id: str, identity: str, transaction_id: int
) -> None:
    """Record that an import showed a transaction under this identity."""
    db.execute(
        "INSERT OR REPLACE INTO sightings (import_id, account_id, identity, transaction_id) "
        "VALUES (?, ?, ?, ?)",
        (import_id, account_id, identity, transaction_id),
    )


def known_identities(db: sqlite3.Connection, account_id: str) -> dict[str, int]:
    """Give the transactions of an account by every identity that they have in some source."""
    seen = "SELECT identity, transaction_id FROM sightings WHERE account_id = ?"
    own = "SELECT identity, id FROM transactions WHERE account_id = ?"
    return {**dict(db.execute(seen, (account_id,))), **dict(db.execute(own, (account_id,)))}


def known_transactions(db: sqlite3.Connection, account_id: str, identities: Mapping[str, int]) -> list[Known]:
    """Give the transactions of an account with all their identities."""
    names: dict[int, set[str]] = {}
    for identity, transaction_id in identities.items():
        names.setdefault(transaction_id, set()).add(identity)
    rows = db.execute(
        "SELECT id, posted, amount, currency, description FROM transactions WHERE account_id = ?",
        (account_id,),
    )
    return [
        Known(
            identifier,
            datetime.date.fromisoformat(posted),
            amount,
            currency,
            frozenset(names[identifier]),
            description,
        )
        for identifier, posted, amount, currency, description in rows
    ]


def sorted_by_line(rows: Any) -> list[PlannedRow]:
    """Give rows in the order of their file."""
    return sorted(rows, key=lambda one: one.row.line)


def _planned(account_id: str, statement: Statement) -> list[PlannedRow]:
    rows = [row for row in statement.rows if not row.pending]
    return [
        PlannedRow(account_id=account_id, identity=identity, row=row)
        for row, identity in zip(rows, identify_rows(rows), strict=True)
    ]


def _sort(db: sqlite3.Connection, account_id: str, rows: list[PlannedRow]) -> _Sorted:
    """Tell new rows from known ones and from possible duplicates."""
    identities = known_identities(db, account_id)
    found = _Sorted([], [], [])
    unknown: dict[int, PlannedRow] = {}
    seen: set[str] = set()
    taken: set[int] = set()
    for index, one in enumerate(rows):
        one = msgspec.structs.replace(one, transaction_id=identities.get(one.identity), like="")
        if one.transaction_id is not None:
            taken.add(one.transaction_id)
        if one.transaction_id is not None or one.identity in seen:
            found.known.append(one)  # A bank's id twice in a file is one booking.
        else:
            unknown[index] = one
        seen.add(one.identity)
    candidates = [
        Candidate(index, one.row.posted, one.row.amount, one.row.currency, one.identity)
        for index, one in unknown.items()
    ]
    ledger = [
        one for one in known_transactions(db, account_id, identities) if one.transaction_id not in taken
    ]
    matches = match_other_sources(candidates, ledger) if ledger else {}
    for index, one in unknown.items():
        match = matches.get(index)
        if match is None:
            found.new.append(one)
        else:
            found.possible.append(
                msgspec.structs.replace(one, transaction_id=match.transaction_id, like=match.description)
            )
    return found
