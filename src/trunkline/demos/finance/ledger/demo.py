"""Puts the made-up data into an empty ledger, so that there is something to ask about at the first start."""

from __future__ import annotations

import sqlite3
from datetime import date

from trunkline.demos.finance.ledger.classification import classify
from trunkline.demos.finance.ledger.dataset import ACCOUNTS, BUDGETS, SEED, household_transactions

_FACT = "demo data until"


def seed_demo(db: sqlite3.Connection, today: date, *, seed: str = SEED) -> int:
    """Fill a ledger that never had data, in the transaction of the caller; give how many transactions came.

    A ledger that has accounts, or had the made-up data once, is left alone.
    """
    seeded = db.execute("SELECT 1 FROM facts WHERE name = ?", (_FACT,)).fetchone()
    if seeded or db.execute("SELECT 1 FROM accounts").fetchone():
        return 0
    db.executemany(
        "INSERT INTO accounts (id, name, kind, currency, number, institution, source) "
        "VALUES (?, ?, ?, ?, ?, ?, 'demo')",
        ACCOUNTS,
    )
    lines = household_transactions(today, seed)
    db.executemany(
        "INSERT INTO transactions (account_id, posted, amount, currency, description, identity) "
        "VALUES (?, ?, ?, ?, ?, ?)",
        [(line.account, line.day.isoformat(), *line[2:]) for line in lines],
    )
    db.executemany("INSERT INTO budgets (category, monthly, currency) VALUES (?, ?, ?)", BUDGETS)
    db.execute("INSERT INTO facts VALUES (?, ?)", (_FACT, today.isoformat()))
    classify(db)
    return len(lines)
