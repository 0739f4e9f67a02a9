"""Changes that a person makes: first a plan that shows what would change, then the change, and its undo.

A plan is made from the ledger as it is. If one of its rows is different when it is applied, nothing is
changed. An edit keeps the old and the new values; undoing it restores what nobody changed since.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping
from datetime import date
from typing import Any, Literal

import msgspec

from trunkline.demos.finance.ledger.categories import find_category
from trunkline.demos.finance.ledger.category_rules import merchant_pattern
from trunkline.demos.finance.ledger.classification import classify
from trunkline.demos.finance.ledger.errors import LedgerError
from trunkline.demos.finance.ledger.masking import mask_text
from trunkline.demos.finance.ledger.results import Period, format_amount
from trunkline.demos.finance.ledger.selection import EVERYTHING, Filters, Value, conditions
from trunkline.demos.finance.ledger.words import fold
from trunkline.errors import did_you_mean

MAX_TAG = 40
"""How long a tag may be."""
MAX_BUDGET = 10**12

Field = Literal["category", "tag", "budget"]


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """One transaction, and what it would have instead."""

    transaction_id: int
    day: date
    merchant: str
    description: str
    amount: int
    currency: str
    before: str
    after: str


class EditPlan(msgspec.Struct, frozen=True, kw_only=True):
    """What an edit would do; nothing is changed yet."""

    title: str
    field: Field
    changes: tuple[Change, ...] = ()
    rule: tuple[str, str] | None = None
    """The pattern and the category of the own rule that it adds, for what comes later."""
    old_rule: str | None = None
    """The category that the rule said before."""
    budget: tuple[str, str, int | None, int | None] | None = None
    """Category, currency, and the monthly budget before and after."""

    @property
    def is_empty(self) -> bool:
        """Whether everything is so already."""
        same_rule = self.rule is None or self.rule[1] == self.old_rule
        same_budget = self.budget is None or self.budget[2] == self.budget[3]
        return not self.changes and same_rule and same_budget


class Undone(msgspec.Struct, frozen=True, kw_only=True):
    """What an undo did."""

    edit_id: int
    title: str
    restored: int
    """How many transactions have their old value again."""
    kept: int
    """How many were changed since, and stay as they are."""


class Unknown(msgspec.Struct, frozen=True, kw_only=True):
    """A merchant whose category no rule knows."""

    merchant: str
    transactions: int
    example: str


# -- plans --


def plan_recategorize(db: sqlite3.Connection, merchant: str, category: str) -> EditPlan:
    """Plan another category for all transactions of a merchant, and for those that come later."""
    name = _merchant(db, merchant)
    chosen = _category(db, category)
    rows = db.execute(
        f"{_ROWS} WHERE merchant = ? AND kind <> 'transfer' ORDER BY posted, id", (name,)
    ).fetchall()
    pattern = merchant_pattern(name)
    old = db.execute("SELECT category FROM category_rules WHERE pattern = ?", (pattern,)).fetchone()
    changes = _changes(rows, dict.fromkeys((row[0] for row in rows), chosen))
    return EditPlan(
        title=f"Put {name} under {chosen} ({_count(len(changes))})",
        field="category",
        changes=changes,
        rule=(pattern, chosen),
        old_rule=old[0] if old else None,
    )


def plan_categorize(db: sqlite3.Connection, choices: Mapping[int, str]) -> EditPlan:
    """Plan categories for single transactions, by their ids."""
    chosen = {id: _category(db, category) for id, category in choices.items()}
    rows = _by_id(db, chosen)
    changes = _changes(rows, chosen)
    return EditPlan(title=f"Categorize {_count(len(changes))}", field="category", changes=changes)


def plan_tag(
    db: sqlite3.Connection,
    tag: str,
    period: Period | None = None,
    filters: Filters = EVERYTHING,
) -> EditPlan:
    """Plan a tag for the transactions that fit."""
    name = _tag(tag)
    if period is None and filters == EVERYTHING:
        raise LedgerError("say which transactions are meant: a period, a merchant or a category")
    where = conditions(filters, period)
    values = [value.isoformat() if isinstance(value, date) else value for value in where.values]
    found = f"SELECT id FROM spending WHERE kind = 'spend' AND {where.sql}"
    rows = db.execute(f"{_ROWS} WHERE id IN ({found}) ORDER BY posted, id", values).fetchall()
    have = {row[0] for row in db.execute("SELECT transaction_id FROM tags WHERE tag = ?", (name,))}
    changes = tuple(_change(row, "", name) for row in rows if row[0] not in have)
    return EditPlan(title=f"Tag as {name}: {_count(len(changes))}", field="tag", changes=changes)


def plan_budget(db: sqlite3.Connection, category: str, monthly: int | None, currency: str) -> EditPlan:
    """Plan a monthly budget for a category or a group; None removes it."""
    chosen, unit = _category(db, category), currency.upper()
    if len(unit) != 3 or not unit.isalpha():
        raise LedgerError(f"{currency!r} is no currency: use its three letters, EUR for example")
    if monthly is not None and not 0 <= monthly <= MAX_BUDGET:
        raise LedgerError("a budget is not negative and not that large: give an amount for one month")
    row = db.execute(
        "SELECT monthly FROM budgets WHERE category = ? AND currency = ?", (chosen, unit)
    ).fetchone()
    sentence = (
        "Remove the budget of" if monthly is None else f"Budget of {format_amount(monthly, unit)} a month for"
    )
    return EditPlan(
        title=f"{sentence} {chosen}", field="budget", budget=(chosen, unit, row[0] if row else None, monthly)
    )


def uncategorized(db: sqlite3.Connection, limit: int = 20) -> tuple[Unknown, ...]:
    """Give the merchants that no rule knows, the one with the most transactions first."""
    rows = db.execute(
        "SELECT merchant, count(*), max(description) FROM entries "
        "WHERE category = 'Uncategorized' GROUP BY merchant ORDER BY count(*) DESC, merchant LIMIT ?",
        (limit,),
    )
    return tuple(
        Unknown(
            merchant=merchant,
            transactions=count,
            example=mask_text(example),
        )
        for merchant, count, example in rows
    )


# -- applying and undoing --


def apply_edit(db: sqlite3.Connection, plan: EditPlan, at: str) -> int:
    """Do what a plan says, in the transaction of the caller; give the number of the edit, for its undo."""
    if plan.is_empty:
        raise LedgerError("there is nothing to change: it is so already")
    _check(db, plan)
    before = _stored(db, plan)
    if plan.field == "category":
        by = "rule" if plan.rule else "user"
        db.executemany(
            "UPDATE transactions SET category = ?, category_by = ? WHERE id = ?",
            [(change.after, by, change.transaction_id) for change in plan.changes],
        )
    elif plan.field == "tag":
        db.executemany(
            "INSERT OR IGNORE INTO tags VALUES (?, ?)",
            [(change.transaction_id, change.after) for change in plan.changes],
        )
    if plan.rule:
        db.execute("INSERT OR REPLACE INTO category_rules VALUES (?, ?, ?)", (*plan.rule, at))
    if plan.budget:
        _write_budget(db, plan.budget[0], plan.budget[1], plan.budget[3])
    stored = msgspec.json.encode({"plan": plan, "before": before}).decode()
    edit = db.execute("INSERT INTO edits (at, title, changes) VALUES (?, ?, ?)", (at, plan.title, stored))
    classify(db)
    return int(edit.lastrowid or 0)


def last_edit(db: sqlite3.Connection) -> tuple[int, str] | None:
    """Give the number and the title of the last edit that was not undone."""
    row = db.execute(
        "SELECT id, title FROM edits WHERE undone_at IS NULL ORDER BY id DESC LIMIT 1"
    ).fetchone()
    return None if row is None else (row[0], row[1])


def undo_edit(db: sqlite3.Connection, at: str, edit_id: int | None = None) -> Undone:
    """Undo an edit, the last one if none is named, in the transaction of the caller."""
    condition, values = ("id = ?", (edit_id,)) if edit_id is not None else ("undone_at IS NULL", ())
    row = db.execute(
        f"SELECT id, title, changes, undone_at FROM edits WHERE {condition} ORDER BY id DESC LIMIT 1", values
    ).fetchone()
    if row is None or row[3] is not None:
        which = "there is no change to undo" if edit_id is None else f"there is no change {edit_id} to undo"
        raise LedgerError(which if row is None else f"the change {edit_id} was undone already")
    stored = msgspec.json.decode(row[2], type=_Stored)
    plan, restored = stored.plan, 0
    for change in plan.changes:
        restored += _restore(db, plan, change, stored.before.get(str(change.transaction_id)))
    if plan.rule:
        _restore_rule(db, plan.rule, plan.old_rule)
    if plan.budget:
        category, currency, before, after = plan.budget
        if _budget(db, category, currency) == after:
            _write_budget(db, category, currency, before)
    db.execute("UPDATE edits SET undone_at = ? WHERE id = ?", (at, row[0]))
    classify(db)
    return Undone(edit_id=row[0], title=row[1], restored=restored, kept=len(plan.changes) - restored)


class _Stored(msgspec.Struct):
    plan: EditPlan
    before: dict[str, tuple[str, str | None]]


_ROWS = "SELECT id, posted, merchant, description, amount, currency, category FROM entries"


def _count(number: int) -> str:
    return f"{number} transaction{'' if number == 1 else 's'}"


def _by_id(db: sqlite3.Connection, ids: Iterable[int]) -> list[Any]:
    rows: list[Any] = []
    for id in dict.fromkeys(ids):
        row = db.execute(f"{_ROWS} WHERE id = ?", (id,)).fetchone()
        if row is None:
            raise LedgerError(f"there is no transaction {id}: list some to see their numbers")
        rows.append(row)
    return rows


def _changes(rows: Iterable[Any], chosen: Mapping[int, str]) -> tuple[Change, ...]:
    return tuple(_change(row, row[6], chosen[row[0]]) for row in rows if row[6] != chosen[row[0]])


def _change(row: Any, before: str, after: str) -> Change:
    id, posted, merchant, description, amount, currency, _ = row
    return Change(
        transaction_id=id,
        day=date.fromisoformat(posted),
        merchant=merchant,
        description=mask_text(description),
        amount=amount,
        currency=currency,
        before=before,
        after=after,
    )


def _merchant(db: sqlite3.Connection, text: str) -> str:
    names = {fold(row[0]): row[0] for row in db.execute("SELECT DISTINCT merchant FROM entries")}
    if found := names.get(fold(text)):
        return found
    raise LedgerError(f"there is no merchant {text!r}{did_you_mean(text, names.values())}")


def _category(db: sqlite3.Connection, text: str) -> str:
    return find_category(text, [row[0] for row in db.execute("SELECT name FROM categories")])


def _tag(text: str) -> str:
    name = " ".join(text.split()).lstrip("#")
    if not name or len(name) > MAX_TAG or not name.isprintable():
        raise LedgerError(f"a tag has 1 to {MAX_TAG} characters: choose a shorter word")
    return name


def _check(db: sqlite3.Connection, plan: EditPlan) -> None:
    """Refuse a plan that was made for another state of the ledger."""
    same = True
    for change in plan.changes:
        if plan.field == "category":
            same &= _one(db, "SELECT category FROM transactions WHERE id = ?", change) == change.before
        else:
            tagged = "SELECT 1 FROM tags WHERE transaction_id = id AND tag = ?"
            untagged = f"SELECT 1 FROM transactions WHERE id = ? AND NOT EXISTS ({tagged})"
            same &= _one(db, untagged, change, change.after) is not None
    if plan.rule:
        row = db.execute("SELECT category FROM category_rules WHERE pattern = ?", (plan.rule[0],)).fetchone()
        same &= (row[0] if row else None) == plan.old_rule
    if plan.budget:
        same &= _budget(db, plan.budget[0], plan.budget[1]) == plan.budget[2]
    if not same:
        raise LedgerError(
            "the ledger was changed since this was shown, so nothing was done: look at it again"
        )


def _one(db: sqlite3.Connection, sql: str, change: Change, *values: Value) -> Any:
    row = db.execute(sql, (change.transaction_id, *values)).fetchone()
    return row[0] if row else None


def _stored(db: sqlite3.Connection, plan: EditPlan) -> dict[str, tuple[str, str | None]]:
    """What the transactions of a plan have now, with who chose it."""
    found: dict[str, tuple[str, str | None]] = {}
    for change in plan.changes if plan.field == "category" else ():
        row = db.execute(
            "SELECT category, category_by FROM transactions WHERE id = ?", (change.transaction_id,)
        ).fetchone()
        found[str(change.transaction_id)] = (row[0], row[1])
    return found


def _restore(
    db: sqlite3.Connection, plan: EditPlan, change: Change, before: tuple[str, str | None] | None
) -> bool:
    if plan.field == "tag":
        untag = "DELETE FROM tags WHERE transaction_id = ? AND tag = ?"
        return db.execute(untag, (change.transaction_id, change.after)).rowcount > 0
    if before is None:
        return False
    done = db.execute(
        "UPDATE transactions SET category = ?, category_by = ? WHERE id = ? AND category = ?",
        (*before, change.transaction_id, change.after),
    )
    return done.rowcount > 0


def _restore_rule(db: sqlite3.Connection, rule: tuple[str, str], old: str | None) -> None:
    if old is None:
        db.execute("DELETE FROM category_rules WHERE pattern = ? AND category = ?", rule)
    else:
        db.execute("UPDATE category_rules SET category = ? WHERE pattern = ? AND category = ?", (old, *rule))


def _budget(db: sqlite3.Connection, category: str, currency: str) -> int | None:
    row = db.execute(
        "SELECT monthly FROM budgets WHERE category = ? AND currency = ?", (category, currency)
    ).fetchone()
    return row[0] if row else None


def _write_budget(db: sqlite3.Connection, category: str, currency: str, monthly: int | None) -> None:
    if monthly is None:
        db.execute("DELETE FROM budgets WHERE category = ? AND currency = ?", (category, currency))
    else:
        db.execute("INSERT OR REPLACE INTO budgets VALUES (?, ?, ?)", (category, monthly, currency))
