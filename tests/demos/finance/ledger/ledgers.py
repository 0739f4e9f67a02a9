"""Ledgers for tests: the made-up household, and small ones line by line."""

import sqlite3
from collections.abc import Iterable, Sequence
from datetime import date
from functools import lru_cache
from typing import Any, NamedTuple

from trunkline.demos.finance.ledger.classification import classify
from trunkline.demos.finance.ledger.dataset import SEED
from trunkline.demos.finance.ledger.demo import seed_demo
from trunkline.demos.finance.ledger.schema import migrate

TODAY = date(2026, 11, 18)


class Line(NamedTuple):
    """One line of a statement."""

    day: str
    amount: int
    description: str
    account: str = "main"
    currency: str = "EUR"


ACCOUNTS = (
    ("main", "Giro", "checking", "EUR", "DE02120300000000202051", "Nordbank", "file"),
    ("save", "Tagesgeld", "savings", "EUR", "DE02500105170137075030", "Sparbank", "file"),
    ("card", "Visa", "card", "EUR", "4000123456789010", "Kartenhaus", "file"),
    ("usd", "Dollars", "checking", "USD", "8310006751", "Wise", "file"),
)


def empty_ledger() -> sqlite3.Connection:
    """A ledger in memory with nothing in it."""
    db = sqlite3.connect(":memory:", isolation_level=None)
    db.execute("PRAGMA foreign_keys=1")
    migrate(db, "in memory")
    return db


def ledger_of(lines: Iterable[Sequence[Any]]) -> sqlite3.Connection:
    """A ledger with four accounts and these lines, classified; ids are 1, 2, 3 in their order."""
    db = empty_ledger()
    db.executemany("INSERT INTO accounts VALUES (?, ?, ?, ?, ?, ?, ?)", ACCOUNTS)
    add(db, lines)
    return db


def add(db: sqlite3.Connection, lines: Iterable[Sequence[Any]]) -> None:
    """Add lines as an import does."""
    start = db.execute("SELECT count(*) FROM transactions").fetchone()[0]
    for number, line in enumerate(lines, start + 1):
        day, amount, description, account, currency = Line(*line)
        db.execute(
            "INSERT INTO transactions (account_id, posted, amount, currency, description, identity) "
            "VALUES (?, ?, ?, ?, ?, ?)",
            (account, day, amount, "USD" if account == "usd" else currency, description, f"n{number}"),
        )
    classify(db)


@lru_cache(maxsize=16)
def _household(today: date, seed: str) -> sqlite3.Connection:
    db = empty_ledger()
    seed_demo(db, today, seed=seed)
    return db


def household(today: date = TODAY, seed: str = SEED) -> sqlite3.Connection:
    """The made-up household of the demo, for this test alone."""
    db = sqlite3.connect(":memory:", isolation_level=None)
    _household(today, seed).backup(db)
    db.execute("PRAGMA foreign_keys=1")
    return db


def facts(db: sqlite3.Connection, columns: str) -> list[tuple[object, ...]]:
    """Give columns of all transactions in the order of ids."""
    return db.execute(f"SELECT {columns} FROM transactions ORDER BY id").fetchall()
