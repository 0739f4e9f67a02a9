"""The reason for a transaction's category and kind, as a sentence that names the rule."""

from __future__ import annotations

import sqlite3
from typing import Any

import msgspec

from trunkline.demos.finance.ledger.categories import find_card_payment, find_keyword
from trunkline.demos.finance.ledger.category_rules import Rule, RuleBook
from trunkline.demos.finance.ledger.errors import LedgerError
from trunkline.demos.finance.ledger.merchants import find_merchant
from trunkline.demos.finance.ledger.results import format_amount
from trunkline.demos.finance.ledger.words import fold


class Why(msgspec.Struct, frozen=True, kw_only=True):
    """A transaction, and why it is what it is."""

    transaction_id: int
    merchant: str
    category: str
    kind: str
    because: str


def why(db: sqlite3.Connection, transaction_id: int) -> Why:
    """Say why a transaction has its category, and why it counts as it does."""
    row = db.execute(
        "SELECT id, merchant, category, kind, category_by, pair_id, description, amount FROM transactions "
        "WHERE id = ?",
        (transaction_id,),
    ).fetchone()
    if row is None:
        raise LedgerError(f"there is no transaction {transaction_id}: list some to see their numbers")
    id, merchant, category, kind, by, pair_id, description, amount = row
    because = _kind(db, kind, pair_id)
    # What is a transfer because of its other side needs no further reason.
    if by is not None or kind != "transfer":
        because = f"{_category(db, by, merchant, category, description, amount)} {because}"
    return Why(transaction_id=id, merchant=merchant, category=category, kind=kind, because=because)


def _category(
    db: sqlite3.Connection, by: str | None, merchant: str, category: str, description: str, amount: int
) -> str:
    folded = fold(description)
    if by == "user":
        return f"You put it under {category}."
    if by == "import":
        return f"The imported file or the bank says {category}."
    if by == "rule":
        rules = RuleBook(Rule(*rule) for rule in db.execute("SELECT pattern, category FROM category_rules"))
        rule = rules.find(folded, merchant)
        return f'Your rule "{rule.pattern if rule else merchant}" says {category}.'
    if by == "merchant":
        known = find_merchant(description, merchant).known
        words = f' ("{known.words}" in the description)' if known else ""
        return f"The merchant is {merchant}{words}, which is known as {category}."
    if by == "keyword":
        words = (find_keyword(folded, amount), find_keyword(folded, -amount), find_card_payment(folded))
        keyword = next((one for one in words if one and one.category == category), words[0] or words[2])
        return f'The description has the word "{keyword.words if keyword else category}": {category}.'
    return f"No rule knows it, so it is {category}."


def _kind(db: sqlite3.Connection, kind: str, pair_id: int | None) -> str:
    pair: tuple[Any, ...] | None = db.execute(
        "SELECT t.posted, t.amount, t.currency, a.name FROM transactions AS t JOIN accounts AS a "
        "ON a.id = t.account_id WHERE t.id = ?",
        (pair_id,),
    ).fetchone()
    other = f"{format_amount(pair[1], pair[2])} in {pair[3]} on {pair[0]}" if pair else ""
    if kind == "transfer":
        if not pair:
            return "Its words say that money moves between own accounts, so it is no spending."
        return f"It moves money between own accounts (the other side is {other}), so it is no spending."
    if kind == "refund":
        if not pair:
            return "Money came back, so it lowers the spending of its own day."
        return f"It is a refund of the charge of {other}, and lowers that charge."
    return "It counts as income." if kind == "income" else "It counts as spending."
