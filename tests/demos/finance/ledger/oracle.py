"""Figures computed a second time, in plain Python from the raw tables: what the views must give."""

import sqlite3
from collections import defaultdict
from collections.abc import Callable, Iterable
from datetime import date, timedelta
from random import Random
from typing import Any, NamedTuple

from trunkline.demos.finance.ledger.classification import classify
from trunkline.demos.finance.ledger.results import Period


class Raw(NamedTuple):
    """A transaction that counts as spending: a charge, or a refund with the day and names of its charge."""

    id: int
    charge: int
    day: date
    spent: int
    currency: str
    merchant: str
    category: str
    group: str
    account: str
    tags: frozenset[str]


_ROWS = "SELECT id, account_id, posted, amount, currency, merchant, category, kind, pair_id FROM transactions"
_INSERT = """INSERT INTO transactions (account_id, posted, amount, currency, description, identity)
VALUES (?, ?, ?, 'EUR', ?, ?)"""


def raw_spending(db: sqlite3.Connection) -> list[Raw]:
    """Give what is spending, from the tables alone."""
    rows = {row[0]: row for row in db.execute(_ROWS)}
    accounts = {row[0]: row for row in db.execute("SELECT id, name, source FROM accounts")}
    own = any(accounts[row[1]][2] != "demo" for row in rows.values())
    parents = dict(db.execute("SELECT name, parent FROM categories").fetchall())
    tags: dict[int, set[str]] = defaultdict(set)
    for id, tag in db.execute("SELECT transaction_id, tag FROM tags"):
        tags[id].add(tag)
    found: list[Raw] = []
    for row in rows.values():
        if row[7] not in ("spend", "refund") or (own and accounts[row[1]][2] == "demo"):
            continue
        charge = rows[row[8]] if row[7] == "refund" and row[8] else row
        found.append(
            Raw(
                row[0],
                charge[0],
                date.fromisoformat(charge[2]),
                -row[3],
                row[4],
                charge[5],
                charge[6],
                parents.get(charge[6], charge[6]),
                accounts[row[1]][1],
                frozenset(tags[charge[0]]),
            )
        )
    return found


def within(rows: Iterable[Raw], period: Period) -> list[Raw]:
    """Keep what counts in a period."""
    return [row for row in rows if period.start <= row.day <= period.end]


def sums(
    rows: Iterable[Raw], key: Callable[[Raw], Any] = lambda row: row.currency
) -> dict[Any, tuple[int, int]]:
    """Give the sum and the number of rows for each key."""
    found: dict[Any, tuple[int, int]] = {}
    for row in rows:
        amount, count = found.get(key(row), (0, 0))
        found[key(row)] = (amount + row.spent, count + 1)
    return found


TEXTS = (
    "REWE 12",
    "ZALANDO 4",
    "ZALANDO RETOURE",
    "Umbuchung",
    "Somebody",
    "NETFLIX.COM",
    "GEHALT",
    "PAYMENT THANK YOU",
    "Cafe Sonne",
)


def mutate(db: sqlite3.Connection, random: Random, changes: int = 60) -> None:
    """Change, remove and add transactions and tags at random, then classify, as imports and edits do."""
    ids = [row[0] for row in db.execute("SELECT id FROM transactions ORDER BY id")]
    accounts = [row[0] for row in db.execute("SELECT id FROM accounts ORDER BY id")]
    for number in range(changes):
        id = random.choice(ids)
        what = random.randrange(6)
        if what == 0:
            db.execute("DELETE FROM transactions WHERE id = ?", (id,))
        elif what == 1:
            db.execute("UPDATE transactions SET amount = ? WHERE id = ?", (random.randint(-90000, 90000), id))
        elif what == 2:
            db.execute(
                "UPDATE transactions SET description = ?, merchant = '' WHERE id = ?",
                (random.choice(TEXTS), id),
            )
        elif what == 3:
            db.execute(
                "UPDATE transactions SET currency = ? WHERE id = ?",
                (random.choice(("EUR", "USD", "JPY")), id),
            )
        elif what == 4:
            tagged = db.execute("SELECT 1 FROM transactions WHERE id = ?", (id,)).fetchone()
            if tagged:
                db.execute("INSERT OR IGNORE INTO tags VALUES (?, ?)", (id, random.choice(("trip", "work"))))
        else:
            day = date(2026, 1, 1) + timedelta(days=random.randrange(320))
            db.execute(
                _INSERT,
                (
                    random.choice(accounts),
                    day.isoformat(),
                    random.randint(-20000, 20000),
                    random.choice(TEXTS),
                    f"m{number}",
                ),
            )
    classify(db)
