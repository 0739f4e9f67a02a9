"""The tables of a ledger, how they came to be, and how a file is brought to the present version.

The schema is the list of its migrations: a new file is one at version 0. All steps that a file lacks run in
one transaction, so a crash leaves the old version or the new one. Views hold no data; they are made anew with
every version.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from trunkline.demos.finance.ledger.errors import LedgerError
from trunkline.demos.finance.ledger.sql_views import VIEWS

APPLICATION_ID = 0x74726B66
"""``trkf``, in the header of every ledger."""

UNCATEGORIZED = "Uncategorized"
"""The category of what no rule knows."""

_VERSION_1 = (
    # source: 'demo' (made up), 'file' (an imported statement), 'bank' (a sync). See sql_views.VISIBLE.
    """CREATE TABLE accounts (
        id TEXT PRIMARY KEY NOT NULL,
        name TEXT NOT NULL,
        kind TEXT NOT NULL CHECK (kind IN ('checking', 'savings', 'card', 'cash')),
        currency TEXT NOT NULL CHECK (length(currency) = 3),
        number TEXT NOT NULL DEFAULT '',
        institution TEXT NOT NULL DEFAULT '',
        source TEXT NOT NULL DEFAULT 'file'
    )""",
    """CREATE TABLE imports (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        at TEXT NOT NULL,
        source TEXT NOT NULL,
        file TEXT NOT NULL DEFAULT '',
        digest TEXT NOT NULL DEFAULT '',
        added INTEGER NOT NULL DEFAULT 0,
        undone_at TEXT
    )""",
    # pair_id: the other leg of a transfer, or the charge that a refund belongs to.
    # identity: what a statement or a bank calls it; the same one twice in an account is one transaction.
    f"""CREATE TABLE transactions (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        account_id TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
        posted TEXT NOT NULL CHECK (posted IS date(posted, '+0 days')),
        amount INTEGER NOT NULL CHECK (typeof(amount) = 'integer'),
        currency TEXT NOT NULL CHECK (length(currency) = 3),
        description TEXT NOT NULL DEFAULT '',
        merchant TEXT NOT NULL DEFAULT '',
        category TEXT NOT NULL DEFAULT '{UNCATEGORIZED}',
        category_by TEXT CHECK (category_by IN ('rule', 'merchant', 'keyword', 'user', 'import')),
        kind TEXT NOT NULL DEFAULT 'spend' CHECK (kind IN ('spend', 'income', 'transfer', 'refund')),
        pair_id INTEGER REFERENCES transactions (id) ON DELETE SET NULL,
        identity TEXT NOT NULL,
        import_id INTEGER REFERENCES imports (id),
        pending INTEGER NOT NULL DEFAULT 0 CHECK (pending IN (0, 1)),
        note TEXT NOT NULL DEFAULT '',
        UNIQUE (account_id, identity)
    )""",
    "CREATE INDEX transactions_by_day ON transactions (posted)",
    "CREATE INDEX transactions_by_merchant ON transactions (merchant, posted)",
    "CREATE INDEX transactions_by_import ON transactions (import_id) WHERE import_id IS NOT NULL",
    "CREATE INDEX transactions_by_pair ON transactions (pair_id) WHERE pair_id IS NOT NULL",
    """CREATE TABLE tags (
        transaction_id INTEGER NOT NULL REFERENCES transactions (id) ON DELETE CASCADE,
        tag TEXT NOT NULL,
        PRIMARY KEY (transaction_id, tag)
    ) WITHOUT ROWID""",
    "CREATE INDEX tags_by_tag ON tags (tag)",
    "CREATE TABLE categories (name TEXT PRIMARY KEY NOT NULL, parent TEXT NOT NULL) WITHOUT ROWID",
    """CREATE TABLE category_rules (
        pattern TEXT PRIMARY KEY NOT NULL,
        category TEXT NOT NULL,
        created TEXT NOT NULL
    ) WITHOUT ROWID""",
    """CREATE TABLE budgets (
        category TEXT NOT NULL,
        monthly INTEGER NOT NULL CHECK (typeof(monthly) = 'integer' AND monthly >= 0),
        currency TEXT NOT NULL CHECK (length(currency) = 3),
        PRIMARY KEY (category, currency)
    ) WITHOUT ROWID""",
    """CREATE TABLE csv_mappings (
        header_digest TEXT PRIMARY KEY NOT NULL,
        mapping TEXT NOT NULL
    ) WITHOUT ROWID""",
    """CREATE TABLE bank_items (
        id TEXT PRIMARY KEY NOT NULL,
        institution TEXT NOT NULL DEFAULT '',
        access_token TEXT NOT NULL,
        cursor TEXT NOT NULL DEFAULT ''
    )""",
    # What a person changed, so that it can be undone: the old and the new values as JSON.
    """CREATE TABLE edits (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        at TEXT NOT NULL,
        title TEXT NOT NULL,
        changes TEXT NOT NULL,
        undone_at TEXT
    )""",
    "CREATE TABLE facts (name TEXT PRIMARY KEY NOT NULL, value TEXT NOT NULL) WITHOUT ROWID",
)

_VERSION_2 = (
    # What an import or a sync showed, under the name that it has there: also of transactions that another one
    # added. An undo leaves what another import shows too.
    """CREATE TABLE sightings (
        import_id INTEGER NOT NULL REFERENCES imports (id) ON DELETE CASCADE,
        account_id TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
        identity TEXT NOT NULL,
        transaction_id INTEGER NOT NULL REFERENCES transactions (id) ON DELETE CASCADE,
        PRIMARY KEY (import_id, account_id, identity)
    ) WITHOUT ROWID""",
    "CREATE INDEX sightings_by_identity ON sightings (account_id, identity)",
    "CREATE INDEX sightings_by_transaction ON sightings (transaction_id)",
)

MIGRATIONS: Sequence[Sequence[str]] = (_VERSION_1, _VERSION_2)
VERSION = len(MIGRATIONS)


def migrate(db: sqlite3.Connection, where: str) -> None:
    """Bring a database to the present version; refuse one that is newer, or is not a ledger."""
    if _header(db) == (APPLICATION_ID, VERSION):
        return
    # From here on nobody else can migrate, so what is read is one state of the file.
    db.execute("BEGIN IMMEDIATE")
    try:
        version = _version(db, where)
        for statements in MIGRATIONS[version:]:
            for statement in statements:
                db.execute(statement)
        if version < VERSION:
            _make_views(db)
            db.execute(f"PRAGMA application_id={APPLICATION_ID}")
            db.execute(f"PRAGMA user_version={VERSION}")
        db.execute("COMMIT")
    finally:
        if db.in_transaction:
            db.execute("ROLLBACK")


def _make_views(db: sqlite3.Connection) -> None:
    for name in reversed(VIEWS):
        db.execute(f"DROP VIEW IF EXISTS {name}")
    for name, select in VIEWS.items():
        db.execute(f"CREATE VIEW {name} AS {select}")


def _version(db: sqlite3.Connection, where: str) -> int:
    application, version = _header(db)
    if application == APPLICATION_ID:
        if version > VERSION:
            raise LedgerError(
                f"the ledger {where} has schema {version}, and this Trunkline knows up to {VERSION}: "
                "upgrade Trunkline, or choose another file with DATABASE_URL=sqlite:///PATH"
            )
        return version
    if application or version or db.execute("SELECT 1 FROM sqlite_master").fetchone():
        raise LedgerError(
            f"{where} is a SQLite database of another program, and nothing in it was changed: "
            "choose another file with DATABASE_URL=sqlite:///PATH"
        )
    return 0


def _header(db: sqlite3.Connection) -> tuple[int, int]:
    names = ("application_id", "user_version")
    application, version = (db.execute(f"PRAGMA {name}").fetchone()[0] for name in names)
    return application, version
