"""How money, counts, periods and filters are written in an answer."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from decimal import Decimal
from typing import Any

from trunkline.demos.finance.ledger.selection import LEFT_OUT, NETTED, SEPARATE
from trunkline.demos.finance.questions.periods import BEGINNING, Period, describe_period

__all__ = [
    "Document",
    "add_up",
    "amount_of",
    "basis",
    "bold",
    "count",
    "join",
    "money",
    "period_words",
    "read_period",
    "table",
    "when",
]

_NUMBER = re.compile(r"[+-]?(?:\d{1,3}(?:[.,]\d{3})+|\d+)(?:[.,]\d+)?%?(?: [A-Z]{3})?")

_SHORT = {LEFT_OUT: "no transfers", NETTED: "refunds netted"}
"""What holds for nearly every figure, in fewer words than a model gets."""

Document = Mapping[str, Any]
"""The result of a tool."""


def amount_of(text: str) -> tuple[Decimal, str]:
    """Read an amount as the tools write it: ``1,234.50 EUR``."""
    number, _, currency = text.rpartition(" ")
    return Decimal(number.replace(",", "")), currency


def money(amount: Decimal, currency: str) -> str:
    """Write an amount as the tools do, with as many decimals as it has."""
    return f"{amount:,} {currency}"


def add_up(texts: Iterable[str]) -> list[str]:
    """Add amounts, each currency for itself."""
    sums: dict[str, Decimal] = {}
    for text in texts:
        amount, currency = amount_of(text)
        sums[currency] = sums.get(currency, Decimal(0)) + amount
    return [money(amount, currency) for currency, amount in sums.items()]


def join(texts: Sequence[str]) -> str:
    """Join with commas and an "and"."""
    return texts[0] if len(texts) == 1 else f"{', '.join(texts[:-1])} and {texts[-1]}" if texts else "nothing"


def bold(texts: Sequence[str]) -> str:
    """The amounts of an answer; currencies are never added."""
    return join([f"**{text}**" for text in texts]) if texts else "**nothing**"


def count(number: int, noun: str, plural: str | None = None) -> str:
    """Write a number with its noun."""
    return f"{number:,} {noun if number == 1 else plural or f'{noun}s'}"


def read_period(value: Document) -> Period:
    """Read a period of a result."""
    start = date.fromisoformat(value["start"]) if value.get("start") else BEGINNING
    return Period(max(start, BEGINNING), date.fromisoformat(value["end"]))


def when(result: Document, today: date) -> str:
    """Say when, as a sentence begins: "In October 2026", "On 3 May 2026", "From 1 to 9 May 2026"."""
    period = read_period(result["period"])
    words = describe_period(period, today)
    if period.start <= BEGINNING:
        return f"Over {words}"
    if period.start == period.end:
        return f"On {words}"
    return f"{'From' if words[0].isdigit() and ' to ' in words.partition('(')[0] else 'In'} {words}"


def period_words(result: Document, today: date, key: str = "period") -> str:
    """Say the period of a result."""
    return describe_period(read_period(result[key]), today)


def basis(result: Document, today: date) -> str:
    """Say what a figure stands on: its days, rows and filters; and that its SQL can be seen."""
    period = read_period(result["period"])
    days = "all days" if period.start <= BEGINNING else f"{period.start} to {period.end}"
    counted = [days, count(int(result.get("rows", 0)), "transaction")]
    if "against" in result:
        before = read_period(result["against"])
        rows = count(int(result.get("against_rows", 0)), "transaction")
        counted = [*counted, f"compared with {before.start} to {before.end}", rows]
    several = len(result.get("totals", ())) > 1
    filters = [_SHORT.get(one, one) for one in map(str, result.get("filters", ()))]
    text = "; ".join([*counted, *(one for one in filters if one != SEPARATE or several)])
    return f'{_ledger_days(result)}_{text}. "Show the SQL" shows the query._'


def _ledger_days(result: Document) -> str:
    """Say which days the ledger has, where a figure asks for others: no data is not "nothing"."""
    days = result.get("ledger")
    return f"Your ledger has transactions from {days['start']} to {days['end']} only.\n\n" if days else ""


def table(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Write rows as a Markdown table."""
    head = [_cell(column) for column in columns]
    cells = [[_cell(value) for value in row] for row in rows]
    rules = ["---:" if _is_numeric(column) else "---" for column in zip(*cells, strict=True)]
    rules = rules or ["---"] * len(columns)
    return "\n".join(f"| {' | '.join(line)} |" for line in (head, rules, *cells))


def _is_numeric(cells: Sequence[str]) -> bool:
    """Whether a column has numbers and amounts only: they are set to the right."""
    filled = [cell for cell in cells if cell]
    return bool(filled) and all(_NUMBER.fullmatch(cell) for cell in filled)


def _cell(value: Any) -> str:
    return "" if value is None else str(value).replace("|", "\\|").replace("\n", " ")
