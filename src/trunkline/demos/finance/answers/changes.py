"""Answers about what was changed: imports, categories, tags, budgets and reports; and about queries."""

from __future__ import annotations

from datetime import date
from typing import Any

from trunkline.demos.finance.answers.phrases import Document, count, period_words, table
from trunkline.demos.finance.questions.intent import Intent

__all__ = [
    "budgeted",
    "categorized",
    "edit_undone",
    "imported",
    "query",
    "recategorized",
    "report",
    "synced",
    "tagged",
    "undone",
    "why_category",
]

_QUERY_ROWS = 20
_MONEY = frozenset({"amount", "spent", "received", "monthly", "sum(amount)", "sum(spent)", "sum(received)"})
"""Columns with money, as the ledger and its own queries name them."""


def imported(step: Intent, result: Document, today: date) -> str:
    """Say what an import added."""
    if not result["new"]:
        return (
            f"{result['file']} has nothing new: {count(int(result['known']), 'transaction')} of it "
            "are in the ledger already."
        )
    period = f" from {result['first']} to {result['last']}" if result.get("first") else ""
    hidden = " The demo data is set aside as long as your own is there." if result.get("demo_hidden") else ""
    return (
        f"Imported {result['file']}: **{result['new']} new**, {result['known']} known{period}, "
        f'into {result["account"]}.{hidden} "Undo the last import" takes it back.'
    )


def undone(step: Intent, result: Document, today: date) -> str:
    """Say what was taken back."""
    return (
        f"Took back the import of {result['file']}: {count(int(result['removed']), 'transaction')} removed."
    )


def edit_undone(step: Intent, result: Document, today: date) -> str:
    """Say which change was taken back, and what was changed again since."""
    kept = int(result["kept"])
    rest = f" {count(kept, 'transaction')} changed again since, and stay as they are." if kept else ""
    return f"Took back: {result['title']}.{rest}"


def budgeted(step: Intent, result: Document, today: date) -> str:
    """Say what the budget of a category is now."""
    before, after = result["before"], result["monthly"]
    if not result["changed"]:
        return f"The budget of {result['category']} is {after or 'none'} already; nothing changed."
    if after is None:
        return f"Removed the budget of {result['category']}, which was {before} a month."
    instead = f", instead of {before}" if before else ""
    return f"The budget of {result['category']} is **{after}** a month now{instead}."


def synced(step: Intent, result: Document, today: date) -> str:
    """Say what the bank sent."""
    return (
        f"Synced with {result['institutions']}: **{result['added']} added**, {result['modified']} modified, "
        f"{result['removed']} removed."
    )


def recategorized(step: Intent, result: Document, today: date) -> str:
    """Say which transactions have another category now."""
    if not result["changed"]:
        where = f"under {result['category']} already"
        return f"All transactions of {result['merchant']} are {where}; nothing changed."
    return (
        f"Put {count(int(result['changed']), 'transaction')} of {result['merchant']} under "
        f"**{result['category']}**, and new ones will follow."
    )


def tagged(step: Intent, result: Document, today: date) -> str:
    """Say how many have the tag now."""
    if not result["changed"]:
        return f"Nothing to tag: no transaction fits, or all have the tag {result['tag']} already."
    return f"Tagged {count(int(result['changed']), 'transaction')} as **{result['tag']}**."


def categorized(step: Intent, result: Document, today: date) -> str:
    """Say what has a category now, and what is left."""
    left = count(int(result["left"]), "transaction")
    if not result["changed"]:
        return f"Nothing changed; {left} without a category. Try: put MERCHANT under CATEGORY."
    return f"Gave {count(int(result['changed']), 'transaction')} a category; {left} left without."


def why_category(step: Intent, result: Document, today: date) -> str:
    """Say why a merchant has its category."""
    return f"{result['merchant']} is under **{result['category']}**: {str(result['why']).rstrip('.')}."


def report(step: Intent, result: Document, today: date) -> str:
    """Say where the report is."""
    return f"Wrote the report on {period_words(result, today)} to **{result['path']}**."


def query(step: Intent, result: Document, today: date) -> str:
    """Show the rows of a query."""
    rows: list[Any] = list(result["rows"])
    note = f"\n\n{result['note']}" if result.get("note") else ""
    if _MONEY & {str(column).lower() for column in result["columns"]}:
        note += "\n\nAmounts are in the smallest unit of their currency: 1250 EUR is 12.50 EUR."
    if len(rows) > _QUERY_ROWS:
        note = f"\n\n… and {count(len(rows) - _QUERY_ROWS, 'more row')}.{note}"
    return f"The query gives:\n\n{table(result['columns'], rows[:_QUERY_ROWS])}{note}"
