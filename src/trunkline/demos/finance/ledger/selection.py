"""Which transactions a question is about: its conditions as SQL, and as phrases for the answer. Pure.

A category may also be a group ("Food"). A name that nothing has is no error here: it has no rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

import msgspec

from trunkline.demos.finance.ledger.results import Period, format_amount

LEFT_OUT = "transfers between own accounts and card payments left out"
NETTED = "refunds netted against their charges"
SEPARATE = "currencies kept apart"

TAGGED = "coalesce(CASE kind WHEN 'refund' THEN pair_id END, id)"
"""The transaction whose tags a row of ``spending`` has: a refund has those of its charge."""

Value = str | int | float | date | None


class Filters(msgspec.Struct, frozen=True, kw_only=True):
    """Which transactions count; None is no condition."""

    category: str | None = None
    """A category or a group."""
    merchant: str | None = None
    account: str | None = None
    """An account's name or id."""
    tag: str | None = None
    text: str | None = None
    """Words in the description."""
    currency: str | None = None
    minimum: int | None = None
    """Only charges of at least so many minor units; refunds are then left out."""
    excluding: tuple[str, ...] = ()
    """Categories, groups or merchants that do not count."""


EVERYTHING = Filters()
"""No condition."""


class Condition(msgspec.Struct, frozen=True):
    """A part of a WHERE clause, with its values."""

    sql: str
    values: tuple[Value, ...] = ()


def conditions(filters: Filters, period: Period | None) -> Condition:
    """Give the WHERE clause (without the word) over the view ``spending``."""
    parts: list[Condition] = []
    if period is not None:
        parts.append(Condition("day BETWEEN ? AND ?", (period.start, period.end)))
    if filters.category is not None:
        parts.append(_either(("category", "category_group"), filters.category))
    if filters.merchant is not None:
        parts.append(Condition("merchant = ? COLLATE NOCASE", (filters.merchant,)))
    if filters.account is not None:
        parts.append(_either(("account", "account_id"), filters.account))
    if filters.tag is not None:
        tag = f"{TAGGED} IN (SELECT transaction_id FROM tags WHERE tag = ? COLLATE NOCASE)"
        parts.append(Condition(tag, (filters.tag,)))
    if filters.text is not None:
        parts.append(Condition("instr(lower(description), lower(?)) > 0", (filters.text,)))
    if filters.currency is not None:
        parts.append(Condition("currency = ?", (filters.currency.upper(),)))
    if filters.minimum is not None:
        parts.append(Condition("spent >= ?", (filters.minimum,)))
    for name in filters.excluding:
        either = _either(("category", "category_group", "merchant"), name)
        parts.append(Condition(f"NOT {either.sql}", either.values))
    sql = " AND ".join(part.sql for part in parts) or "1"
    return Condition(sql, tuple(value for part in parts for value in part.values))


def _either(columns: Sequence[str], value: str) -> Condition:
    tests = " OR ".join(f"{column} = ? COLLATE NOCASE" for column in columns)
    return Condition(f"({tests})", (value,) * len(columns))


def phrases(filters: Filters) -> tuple[str, ...]:
    """Say what was counted and what was left out."""
    phrases = [
        f"{name} {value}"
        for name, value in (
            ("category", filters.category),
            ("merchant", filters.merchant),
            ("account", filters.account),
            ("tag", filters.tag),
            ("text", filters.text),
            ("currency", filters.currency),
        )
        if value is not None
    ]
    if filters.minimum is not None:
        phrases.append(f"at least {format_amount(filters.minimum, filters.currency or '')}".rstrip())
    phrases += [f"without {name}" for name in filters.excluding]
    return (*phrases, LEFT_OUT, NETTED, SEPARATE)


def fill(sql: str, values: Sequence[Value]) -> str:
    """Give a statement with its values in place of the question marks, so that it can be run as it is."""
    pieces = sql.split("?")
    if len(pieces) != len(values) + 1:
        raise ValueError(f"{len(values)} values for {len(pieces) - 1} places")
    filled = [piece + literal(value) for piece, value in zip(pieces, values, strict=False)]
    return "".join([*filled, pieces[-1]])


def literal(value: Value) -> str:
    """Write a value as SQL."""
    if value is None:
        return "NULL"
    if isinstance(value, int | float):
        return repr(value)
    # SQLite ends a statement at a NUL, also inside of quotes.
    return "'" + str(value).replace("\0", "").replace("'", "''") + "'"
