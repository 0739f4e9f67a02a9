"""All tools in one registry, and the names that a question may use."""

from __future__ import annotations

import functools
import inspect
import sqlite3
from collections.abc import Callable
from datetime import date, timedelta
from typing import Any

from trunkline.demos.finance.ledger.analysis.accounts import accounts, names
from trunkline.demos.finance.ledger.categories import SYNONYMS
from trunkline.demos.finance.ledger.database import Ledger
from trunkline.demos.finance.ledger.masking import mask_text
from trunkline.demos.finance.questions.names import Vocabulary
from trunkline.demos.finance.questions.periods import BEGINNING
from trunkline.demos.finance.tools.bank import register_bank
from trunkline.demos.finance.tools.changes import register_changes
from trunkline.demos.finance.tools.documents import MADE_UP
from trunkline.demos.finance.tools.figures import Today, register_figures
from trunkline.demos.finance.tools.files import register_files
from trunkline.demos.finance.tools.queries import register_queries
from trunkline.errors import SessionError, TrunklineError
from trunkline.tools import ToolError, ToolRegistry, ToolResult

__all__ = ["make_tools", "read_vocabulary"]

_ACCOUNT_WORDS = {
    "card": ("credit card", "card", "visa", "mastercard"),
    "checking": ("checking account", "current account", "giro account", "checking"),
    "savings": ("savings account",),
    "cash": ("cash account", "wallet"),
}
"""What people call an account of a kind."""
_MORE_WORDS = {
    "eat out": "Restaurants",
    "ate out": "Restaurants",
    "eaten out": "Restaurants",
    "meals": "Restaurants",
    "food shopping": "Groceries",
    "train tickets": "Trains",
    "plane tickets": "Flights",
    "flying": "Flights",
    "medication": "Pharmacy",
    "doctors": "Doctor",
    "mobile": "Internet and phone",
    "heating": "Utilities",
    "cabs": "Taxi",
}
"""How people ask, besides the synonyms that also sort transactions."""


_OF_PERIODS = (
    "spending",
    "compare_spending",
    "list_transactions",
    "income_and_savings",
    "unusual_charges",
    "chart_spending",
)
"""Tools whose figures are of the days that a person asked for."""
_QUIET = timedelta(days=7)
"""How many days without a transaction are nothing unusual."""


def make_tools(ledger: Ledger, today: Today, *, has_bank: bool = False) -> ToolRegistry:
    """Make the tools over a ledger; ``today`` gives the day, ``has_bank`` whether one can be synced."""
    registry = ToolRegistry()
    for register in (register_figures, register_queries, register_changes, register_files):
        register(registry, ledger, today)
    if has_bank:
        register_bank(registry, ledger)
    for one in registry.values():
        if one.kind == "read":
            one.function = _naming_demo(one.function, ledger)
        one.function = _with_tool_errors(one.function)
        if callable(one.permission):
            one.permission = _with_tool_errors(one.permission)
    return registry


def _naming_demo(function: Callable[..., Any], ledger: Ledger) -> Callable[..., Any]:
    """Let a figure say that it stands on the made-up data, and which days the ledger has."""

    @functools.wraps(function)
    def read(*args: Any, **kwargs: Any) -> Any:
        result = function(*args, **kwargs)
        if not isinstance(result, ToolResult):
            return result
        with ledger.reading() as db:
            added = _ledger_days(db, function.__name__, result.value)
            if MADE_UP not in result.value.get("filters", [MADE_UP]) and accounts(db).made_up:
                added["filters"] = [*result.value["filters"], MADE_UP]
        return ToolResult({**result.value, **added}, result.content) if added else result

    return read


def _ledger_days(db: sqlite3.Connection, tool: str, document: dict[str, Any]) -> dict[str, Any]:
    """Give the first and the last day of the ledger to a figure of days of which it has no transactions."""
    spans = [document[key] for key in ("period", "against") if key in document]
    if tool not in _OF_PERIODS or not spans:
        return {}
    first, last = db.execute("SELECT min(posted), max(posted) FROM entries").fetchone()
    if first is None:
        return {}
    start, end = min(one["start"] for one in spans), max(one["end"] for one in spans)
    early = date.fromisoformat(first) - date.fromisoformat(start)
    late = date.fromisoformat(end) - date.fromisoformat(last)
    has_some = start <= last and first <= end
    if has_some and (early <= _QUIET or start == BEGINNING.isoformat()) and late <= _QUIET:
        return {}
    return {"ledger": {"start": first, "end": last}}


def _with_tool_errors(function: Callable[..., Any]) -> Callable[..., Any]:
    """Let what the ledger, a statement or a file refuses be the failure of the tool, in the same words.

    A model reads them: numbers of accounts are hidden.
    """

    def refuse(error: TrunklineError) -> TrunklineError:
        # A cancelled turn is no failure of a tool.
        return error if isinstance(error, ToolError | SessionError) else ToolError(mask_text(str(error)))

    @functools.wraps(function)
    def plain(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except TrunklineError as error:
            raise refuse(error) from error

    @functools.wraps(function)
    async def waiting(*args: Any, **kwargs: Any) -> Any:
        try:
            return await function(*args, **kwargs)
        except TrunklineError as error:
            raise refuse(error) from error

    return waiting if inspect.iscoroutinefunction(function) else plain


def read_vocabulary(ledger: Ledger) -> Vocabulary:
    """Read the names that the ledger has now."""
    with ledger.reading() as db:
        known = names(db)
        listed = accounts(db).accounts
    words: dict[str, str] = {}
    for kind, kind_words in _ACCOUNT_WORDS.items():
        of_kind = [one.name for one in listed if one.kind == kind]
        # Two cards: then "my credit card" does not say which.
        words |= dict.fromkeys(kind_words, of_kind[0]) if len(of_kind) == 1 else {}
    return Vocabulary(
        categories=(*known.categories, *known.groups),
        merchants=known.merchants,
        accounts=dict(known.accounts),
        account_words=words,
        tags=known.tags,
        synonyms={**SYNONYMS, **_MORE_WORDS},
        currencies=known.currencies,
    )
