"""What a question asks for, as values: an Intent is one step, a Reading is what a whole message says."""

from __future__ import annotations

from typing import Literal

import msgspec

from trunkline.demos.finance.ledger.results import Period

__all__ = ["By", "Intent", "Reading", "What"]

What = Literal[
    "spend",
    "breakdown",
    "top",
    "list",
    "count",
    "average",
    "share",
    "compare",
    "income",
    "savings",
    "unusual",
    "double_charges",
    "subscriptions",
    "price_rises",
    "due",
    "budget",
    "accounts",
    "uncategorized",
    "why_category",
    "chart",
    "report",
    "import",
    "undo_import",
    "undo_edit",
    "set_budget",
    "sync",
    "recategorize",
    "tag",
    "categorize",
    "sql",
    "show_sql",
    "run_shown_sql",
    "help",
    "instructions",
    "greeting",
    "thanks",
]

By = Literal["category", "merchant", "month", "week", "day", "account"]


class Intent(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One thing that is asked for; what is None was not said."""

    what: What
    period: Period | None = None
    against: Period | None = None
    """The period that ``period`` is compared with."""
    category: str | None = None
    merchant: str | None = None
    account: str | None = None
    """The id of an account."""
    tag: str | None = None
    currency: str | None = None
    excluding: tuple[str, ...] = ()
    """Categories and merchants that do not count."""
    by: By | None = None
    count: int | None = None
    minimum: int | None = None
    """Only what costs at least so much, in hundredths."""
    amount: int | None = None
    """The budget to set, in hundredths; None removes it."""
    per: Literal["year", "month", "week", "day", "purchase"] | None = None
    """The unit of an average."""
    order: Literal["newest", "largest"] | None = None
    file: str | None = None
    text: str | None = None
    """Words for the tool as they were written: a query, a tag."""
    has_period: bool = False
    """Whether the period was said, here or before, and not assumed."""


class Reading(msgspec.Struct, frozen=True, kw_only=True):
    """What a message says; without steps it was not understood."""

    steps: tuple[Intent, ...] = ()
    unknown: tuple[str, ...] = ()
    """Names in it that the ledger does not have."""
    problem: str | None = None
    """What keeps it from being answered, as a sentence."""
