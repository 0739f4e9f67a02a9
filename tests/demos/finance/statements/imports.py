"""Importing files in tests: answers to the form, and the ledger as values to compare."""

import datetime
from collections.abc import Mapping
from typing import Any

from trunkline.demos.finance.ledger.database import MEMORY, Ledger
from trunkline.demos.finance.statements.importing import Imported, ImportPlan, apply_import, plan_import
from trunkline.demos.finance.statements.reading import ImportQuestion

AT = datetime.datetime(2026, 11, 18, 9, 0, tzinfo=datetime.UTC)


def new_ledger() -> Ledger:
    """Give an empty ledger in memory."""
    return Ledger(MEMORY)


def plan(ledger: Ledger, data: bytes | str, **options: Any) -> ImportPlan:
    """Plan an import that needs no answer."""
    with ledger.reading() as db:
        found = plan_import(db, "bank.csv", data.encode() if isinstance(data, str) else data, **options)
    assert isinstance(found, ImportPlan), found
    return found


def question(ledger: Ledger, data: bytes | str, **options: Any) -> ImportQuestion:
    """Plan an import that needs an answer."""
    with ledger.reading() as db:
        found = plan_import(db, "bank.csv", data.encode() if isinstance(data, str) else data, **options)
    assert isinstance(found, ImportQuestion), found
    return found


def bring(
    ledger: Ledger,
    data: bytes | str,
    *,
    answers: Mapping[str, Any] | None = None,
    account: str | None = None,
    **how: Any,
) -> Imported:
    """Import a file; of the answers those that are asked for are given."""
    raw = data.encode() if isinstance(data, str) else data
    with ledger.writing() as db:
        found = plan_import(db, "bank.csv", raw, account=account)
        if isinstance(found, ImportQuestion):
            asked = found.fields["properties"]
            given = {name: value for name, value in (answers or {}).items() if name in asked}
            found = plan_import(db, "bank.csv", raw, account=account, answers=given)
        assert isinstance(found, ImportPlan), found
        return apply_import(db, found, at=AT, **how)


def rows(ledger: Ledger) -> list[tuple[str, int, str]]:
    """Give all transactions as (day, amount, description), sorted."""
    with ledger.reading() as db:
        return sorted(db.execute("SELECT posted, amount, description FROM transactions").fetchall())


def whole(ledger: Ledger) -> list[tuple[Any, ...]]:
    """Give all that counts of the transactions, sorted: also what was classified, without ids."""
    columns = "account_id, posted, amount, currency, description, merchant, category, kind, identity, pending"
    with ledger.reading() as db:
        return sorted(db.execute(f"SELECT {columns} FROM transactions").fetchall())
