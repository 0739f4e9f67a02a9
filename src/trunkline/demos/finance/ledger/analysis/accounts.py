"""The accounts, and the names that the ledger knows."""

from __future__ import annotations

import sqlite3
from datetime import date

import msgspec

from trunkline.demos.finance.ledger.categories import TAXONOMY
from trunkline.demos.finance.ledger.masking import mask_number
from trunkline.demos.finance.ledger.results import Money


class AccountLine(msgspec.Struct, frozen=True, kw_only=True):
    """An account, with its number masked."""

    id: str
    name: str
    kind: str
    currency: str
    number: str
    institution: str
    source: str
    transactions: int
    first: date | None
    last: date | None
    balance: int
    """The sum of its transactions in its currency: what the ledger saw of it, not what the bank says."""
    others: tuple[Money, ...] = ()
    """The sums in other currencies that it has."""


class AccountList(msgspec.Struct, frozen=True, kw_only=True):
    """The accounts that count."""

    accounts: tuple[AccountLine, ...]
    made_up: bool
    """Whether all of it is the made-up data of the demo."""
    sql: str


class Names(msgspec.Struct, frozen=True, kw_only=True):
    """What a question can be about."""

    categories: tuple[str, ...]
    """Those that come with the package, and own ones."""
    groups: tuple[str, ...]
    merchants: tuple[str, ...]
    """The one with the most transactions first."""
    accounts: tuple[tuple[str, str], ...]
    """The id and the name of each."""
    tags: tuple[str, ...]
    currencies: tuple[str, ...]
    first: date | None
    last: date | None
    """The days of the first and the last transaction."""


_ACCOUNTS = """SELECT a.id, a.name, a.kind, a.currency, a.number, a.institution, a.source, count(t.id),
min(t.posted), max(t.posted), coalesce(sum(CASE WHEN t.currency = a.currency THEN t.amount END), 0)
FROM visible_accounts AS a LEFT JOIN transactions AS t ON t.account_id = a.id
GROUP BY a.id ORDER BY a.name, a.id"""

_OTHERS = """SELECT a.id, t.currency, sum(t.amount) FROM visible_accounts AS a
JOIN transactions AS t ON t.account_id = a.id AND t.currency <> a.currency
GROUP BY a.id, t.currency ORDER BY t.currency"""

_MERCHANTS = """SELECT merchant FROM entries WHERE kind <> 'transfer' GROUP BY merchant
ORDER BY count(*) DESC, merchant"""


def accounts(db: sqlite3.Connection) -> AccountList:
    """Give the accounts that count."""
    others: dict[str, list[Money]] = {}
    for account, currency, amount in db.execute(_OTHERS):
        others.setdefault(account, []).append(Money(currency, amount))
    lines = tuple(
        AccountLine(
            id=row[0],
            name=row[1],
            kind=row[2],
            currency=row[3],
            number=mask_number(row[4]),
            institution=row[5],
            source=row[6],
            transactions=row[7],
            first=_day(row[8]),
            last=_day(row[9]),
            balance=row[10],
            others=tuple(others.get(row[0], ())),
        )
        for row in db.execute(_ACCOUNTS)
    )
    made_up = bool(lines) and all(line.source == "demo" for line in lines)
    return AccountList(accounts=lines, made_up=made_up, sql=_ACCOUNTS)


def names(db: sqlite3.Connection) -> Names:
    """Give the names that the ledger knows."""
    categories = dict(db.execute("SELECT name, parent FROM categories ORDER BY name"))
    first, last = db.execute("SELECT min(posted), max(posted) FROM entries").fetchone()
    return Names(
        categories=tuple(categories),
        groups=tuple(sorted({*TAXONOMY, *categories.values()})),
        merchants=_column(db, _MERCHANTS),
        accounts=tuple(db.execute("SELECT id, name FROM visible_accounts ORDER BY name, id").fetchall()),
        tags=_column(db, "SELECT DISTINCT tag FROM tags JOIN entries ON id = transaction_id ORDER BY tag"),
        currencies=_column(
            db, "SELECT currency FROM entries GROUP BY currency ORDER BY count(*) DESC, currency"
        ),
        first=_day(first),
        last=_day(last),
    )


def _column(db: sqlite3.Connection, sql: str) -> tuple[str, ...]:
    return tuple(row[0] for row in db.execute(sql))


def _day(text: str | None) -> date | None:
    return None if text is None else date.fromisoformat(text)
