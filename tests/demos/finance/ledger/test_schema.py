"""The tables: migrations in one transaction, and what no row may be."""

import sqlite3
from collections.abc import Iterator

import pytest

from trunkline.demos.finance.ledger import schema
from trunkline.demos.finance.ledger.errors import LedgerError
from trunkline.demos.finance.ledger.schema import VERSION, migrate
from trunkline.demos.finance.ledger.sql_views import VIEWS


@pytest.fixture
def db() -> Iterator[sqlite3.Connection]:
    db = sqlite3.connect(":memory:", isolation_level=None)
    db.execute("PRAGMA foreign_keys=1")
    yield db
    db.close()


def add(db: sqlite3.Connection, **values: object) -> None:
    row = {
        "account_id": "a",
        "posted": "2026-01-31",
        "amount": -100,
        "currency": "EUR",
        "identity": "1",
    } | values
    names = ", ".join(row)
    db.execute(
        f"INSERT INTO transactions ({names}) VALUES ({', '.join('?' * len(row))})", tuple(row.values())
    )


@pytest.fixture
def ledger(db: sqlite3.Connection) -> sqlite3.Connection:
    migrate(db, "here")
    db.execute("INSERT INTO accounts (id, name, kind, currency) VALUES ('a', 'Main', 'checking', 'EUR')")
    return db


def test_a_ledger_is_migrated_once(db: sqlite3.Connection) -> None:
    migrate(db, "here")
    before = db.execute("SELECT * FROM sqlite_master").fetchall()
    migrate(db, "here")
    assert db.execute("SELECT * FROM sqlite_master").fetchall() == before
    assert all(db.execute(f"SELECT * FROM {view}").fetchall() == [] for view in VIEWS)


def test_a_ledger_of_an_older_version_gets_the_steps_it_lacks_and_new_views(
    ledger: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    add(ledger)
    steps = (*schema.MIGRATIONS, ("ALTER TABLE accounts ADD COLUMN colour TEXT",))
    monkeypatch.setattr(schema, "MIGRATIONS", steps)
    monkeypatch.setattr(schema, "VERSION", VERSION + 1)
    migrate(ledger, "here")
    assert ledger.execute("SELECT colour FROM visible_accounts").fetchall() == [(None,)]
    assert ledger.execute("SELECT spent FROM spending").fetchall() == [(100,)]


def test_a_migration_that_fails_leaves_the_old_version(
    ledger: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps = (*schema.MIGRATIONS, ("CREATE TABLE more (x)", "CREATE TABLE more (x)"))
    monkeypatch.setattr(schema, "MIGRATIONS", steps)
    monkeypatch.setattr(schema, "VERSION", VERSION + 1)
    with pytest.raises(sqlite3.OperationalError, match="already exists"):
        migrate(ledger, "here")
    assert ledger.execute("SELECT 1 FROM sqlite_master WHERE name = 'more'").fetchall() == []
    assert ledger.execute("PRAGMA user_version").fetchone() == (VERSION,)


def test_a_newer_ledger_is_refused(ledger: sqlite3.Connection) -> None:
    ledger.execute(f"PRAGMA user_version={VERSION + 1}")
    with pytest.raises(LedgerError, match="upgrade Trunkline"):
        migrate(ledger, "here")


@pytest.mark.parametrize(
    "values",
    [
        {"posted": "2026-02-30"},
        {"posted": "31.01.2026"},
        {"posted": "2026-01-31 12:00"},
        {"posted": None},
        {"amount": 1.5},
        {"amount": "ten"},
        {"currency": "EURO"},
        {"kind": "gift"},
        {"category_by": "magic"},
        {"account_id": "nobody"},
        {"pair_id": 99},
    ],
)
def test_a_row_that_makes_no_sense_is_refused(ledger: sqlite3.Connection, values: dict[str, object]) -> None:
    with pytest.raises(sqlite3.IntegrityError):
        add(ledger, **values)


def test_an_identity_is_there_once_in_an_account(ledger: sqlite3.Connection) -> None:
    add(ledger)
    with pytest.raises(sqlite3.IntegrityError, match="UNIQUE"):
        add(ledger)
    add(ledger, identity="2")


def test_what_belongs_to_a_removed_transaction_goes_with_it(ledger: sqlite3.Connection) -> None:
    add(ledger)
    add(ledger, identity="2", amount=100, kind="refund", pair_id=1)
    ledger.execute("INSERT INTO tags VALUES (1, 'trip')")
    ledger.execute("DELETE FROM transactions WHERE id = 1")
    assert ledger.execute("SELECT * FROM tags").fetchall() == []
    assert ledger.execute("SELECT pair_id FROM transactions").fetchall() == [(None,)]
