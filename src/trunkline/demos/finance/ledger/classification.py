"""Gives every transaction its merchant, its category, its kind and its pair; what a person chose stays.

It looks at the whole ledger each time and stores what changed: a second run changes nothing, and it does not
matter in which order statements were imported.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from datetime import date
from typing import NamedTuple

import msgspec

from trunkline.demos.finance.ledger.categories import (
    CARD_PAYMENT,
    INCOME,
    OTHER_INCOME,
    PARENTS,
    TRANSFER,
    TRANSFERS,
    find_card_payment,
    find_keyword,
    is_refund_text,
)
from trunkline.demos.finance.ledger.category_rules import Rule, RuleBook
from trunkline.demos.finance.ledger.category_words import Keyword
from trunkline.demos.finance.ledger.merchants import UNKNOWN, find_merchant
from trunkline.demos.finance.ledger.refunds import Charge, find_refunds
from trunkline.demos.finance.ledger.schema import UNCATEGORIZED
from trunkline.demos.finance.ledger.transfers import Leg, account_names, find_exchanges, find_transfers
from trunkline.demos.finance.ledger.words import fold

_KEPT = ("user", "import")
"""Whose categories are not found again."""


class _Account(NamedTuple):
    kind: str
    demo: bool
    names: tuple[str, ...]


class _Row(NamedTuple):
    id: int
    account: str
    posted: str
    amount: int
    currency: str
    description: str
    identity: str
    merchant: str
    category: str
    category_by: str | None
    kind: str
    pair_id: int | None

    @property
    def day(self) -> date:
        return date.fromisoformat(self.posted)


class _Found:
    """What was found about one transaction so far."""

    def __init__(self, row: _Row, rules: RuleBook, card: bool) -> None:
        self.row = row
        self.card = card
        self.folded = fold(row.description)
        merchant = find_merchant(row.description, row.merchant)
        self.merchant = merchant.name
        self.pair: int | None = None
        self.kind = "spend" if row.amount <= 0 else "income"
        self.by: str | None
        if row.category_by == "user":
            self.category, self.by = row.category, "user"
        elif rule := rules.find(self.folded, self.merchant):
            self.category, self.by = rule.category, "rule"
        elif row.category_by in _KEPT:
            self.category, self.by = row.category, row.category_by
        elif merchant.known is not None:
            self.category, self.by = merchant.known.category, "merchant"
        elif keyword := self._keyword():
            self.category, self.by = keyword.category, "keyword"
        else:
            self.category, self.by = UNCATEGORIZED, None

    def _keyword(self) -> Keyword | None:
        """Give the words that tell the category, also those of a charge in the words of its refund."""
        back = is_refund_text(self.folded)
        paid = self.card and self.row.amount > 0 and not back and find_card_payment(self.folded)
        of_refund = find_keyword(self.folded, -self.row.amount) if back else None
        return paid or find_keyword(self.folded, self.row.amount) or of_refund

    def values(self) -> tuple[str, str, str | None, str, int | None]:
        return self.merchant, self.category, self.by, self.kind, self.pair


class Classified(msgspec.Struct, frozen=True, kw_only=True):
    """What a run over the ledger found."""

    transactions: int
    changed: int
    transfers: int
    """Pairs between own accounts."""
    refunds: int
    """Refunds that belong to a charge."""
    uncategorized: int


def classify(db: sqlite3.Connection) -> Classified:
    """Bring merchants, categories, kinds and pairs up to date, in the transaction of the caller."""
    db.executemany("INSERT OR IGNORE INTO categories VALUES (?, ?)", PARENTS.items())
    parents = dict[str, str](db.execute("SELECT name, parent FROM categories").fetchall())
    rules = RuleBook(Rule(*row) for row in db.execute("SELECT pattern, category FROM category_rules"))
    accounts = {
        row[0]: _Account(row[1], row[5] == "demo", account_names(*row[2:5]))
        for row in db.execute("SELECT id, kind, name, number, institution, source FROM accounts")
    }
    rows = (_Row(*row) for row in db.execute(_ROWS))
    found = [_Found(row, rules, accounts[row.account].kind == "card") for row in rows]
    by_id = {one.row.id: one for one in found}
    transfers = 0
    # Made-up money and one's own never mix.
    for demo in (False, True):
        some = [one for one in found if accounts[one.row.account].demo is demo]
        transfers += _pair_transfers(some, by_id, accounts, parents)
        _pair_refunds(some, parents)
    changed = [(*one.values(), one.row.id) for one in found if one.values() != _stored(one.row)]
    db.executemany(_UPDATE, changed)
    return Classified(
        transactions=len(found),
        changed=len(changed),
        transfers=transfers,
        refunds=sum(one.kind == "refund" and one.pair is not None for one in found),
        uncategorized=sum(one.category == UNCATEGORIZED for one in found),
    )


_ROWS = """SELECT id, account_id, posted, amount, currency, description, identity, merchant, category,
category_by, kind, pair_id FROM transactions ORDER BY posted, account_id, identity"""
_UPDATE = (
    "UPDATE transactions SET merchant = ?, category = ?, category_by = ?, kind = ?, pair_id = ? WHERE id = ?"
)


def _stored(row: _Row) -> tuple[str, str, str | None, str, int | None]:
    return row.merchant, row.category, row.category_by, row.kind, row.pair_id


def _pair_transfers(
    found: Iterable[_Found],
    by_id: dict[int, _Found],
    accounts: dict[str, _Account],
    parents: dict[str, str],
) -> int:
    legs: list[Leg] = []
    for one in found:
        names_transfer = parents.get(one.category, one.category) == TRANSFERS
        if names_transfer:
            one.kind = "transfer"
        if one.by != "user" or names_transfer:
            row = one.row
            legs.append(
                Leg(
                    row.id,
                    row.account,
                    row.day,
                    row.amount,
                    row.currency,
                    one.folded,
                    row.identity,
                    names_transfer,
                    accounts[row.account].names,
                    bought=not names_transfer and one.by is not None,
                )
            )
    pairs = find_transfers(legs)
    paired = {id for pair in pairs for id in pair}
    pairs += find_exchanges([leg for leg in legs if leg.id not in paired])
    for out, into in pairs:
        cards = {accounts[by_id[id].row.account].kind for id in (out, into)}
        for id, other in ((out, into), (into, out)):
            one = by_id[id]
            one.kind, one.pair = "transfer", other
            if one.by in (None, "keyword"):
                one.category = CARD_PAYMENT if "card" in cards else TRANSFER
    return len(pairs)


def _pair_refunds(found: Iterable[_Found], parents: dict[str, str]) -> None:
    charges: list[Charge] = []
    returns: list[Charge] = []
    came_in: list[_Found] = []
    for one in found:
        row = one.row
        group = parents.get(one.category, one.category)
        if one.kind == "transfer" or not row.amount or (row.amount > 0 and group == INCOME):
            continue
        certain = one.card or one.by is not None or is_refund_text(one.folded)
        charge = Charge(
            row.id, row.account, row.day, row.amount, row.currency, one.merchant, row.identity, certain
        )
        if row.amount < 0:
            charges.append(charge)
            continue
        came_in.append(one)
        if certain:
            one.kind = "refund"
        if certain or one.merchant != UNKNOWN:
            returns.append(charge)
    pairs = find_refunds(charges, returns)
    for one in came_in:
        if one.row.id in pairs:
            one.kind, one.pair = "refund", pairs[one.row.id]
        elif one.kind == "income" and one.by is None:
            one.category = OTHER_INCOME
