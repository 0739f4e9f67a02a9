"""How the columns of a CSV file are read: the mapping, what could not be told, and the one form for it.

A mapping is kept for the header of the file. The next file with that header is read by it, without a
question.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Sequence
from typing import Any, Literal

import msgspec

from trunkline.demos.finance.statements.amounts import DecimalMark
from trunkline.demos.finance.statements.csv_layout import Table
from trunkline.demos.finance.statements.dates import DateOrder, parse_date
from trunkline.demos.finance.statements.statement import StatementError, shorten

Sign = Literal["negative_is_out", "positive_is_out", "marker", "two_columns"]

_SHOWN_ROWS = 5
_SHOWN_COLUMNS = 12
_MOST_KEPT_ACCOUNTS = 50


class _Columns(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Which column holds what, counted from 0; None for what a file does not have."""

    amount: int | None = None
    debit: int | None = None
    credit: int | None = None
    marker: int | None = None
    texts: tuple[int, ...] = ()
    """The columns of the description: who, then what for."""
    fallback_text: int | None = None
    """The column that is the description when the others are empty: the kind of booking."""
    currency_column: int | None = None
    currency: str | None = None
    """The currency of all rows, where no column and no amount names it."""
    balance: int | None = None
    account_column: int | None = None
    status: int | None = None
    native_id: int | None = None
    fee: int | None = None
    """The column of fees that are not in the amounts."""


class CsvMapping(_Columns, frozen=True, kw_only=True, omit_defaults=True):
    """The columns of a file, and how their cells are written."""

    date: int
    date_order: DateOrder
    decimal: DecimalMark
    sign: Sign
    accounts: tuple[str, ...] = ()
    """The ids of the accounts that files with this header were imported into."""


class Draft(_Columns, frozen=True, kw_only=True):
    """What could be told about the columns of a file: None is an open question."""

    date: int | None = None
    date_order: DateOrder | None = None
    decimal: DecimalMark | None = None
    sign: Sign | None = None
    amounts_name_currency: bool = False
    """Whether each amount has its currency beside it."""


def open_fields(table: Table, draft: Draft) -> dict[str, Any]:
    """Give the fields of a form for what a file does not tell; none if it tells everything."""
    fields: dict[str, Any] = {}
    choices = [{"const": str(index), "title": name} for index, name in enumerate(_column_names(table))]
    if draft.date is None:
        fields["date_column"] = {"type": "string", "title": "Which column is the date?", "oneOf": choices}
    if draft.date_order is None:
        fields["date_order"] = {
            "type": "string",
            "title": "How are dates written?",
            "oneOf": [
                {"const": "dmy", "title": f"day first{_sample_date(table, draft, 'dmy')}"},
                {"const": "mdy", "title": f"month first{_sample_date(table, draft, 'mdy')}"},
                {"const": "ymd", "title": "year first"},
            ],
        }
    if draft.amount is None and draft.debit is None and draft.credit is None:
        fields["amount_column"] = {"type": "string", "title": "Which column is the amount?", "oneOf": choices}
    if draft.decimal is None:
        fields["decimal"] = {
            "type": "string",
            "title": "Which mark stands before the cents?",
            "oneOf": [
                {"const": "point", "title": "a point: 1,234.50"},
                {"const": "comma", "title": "a comma: 1.234,50"},
            ],
        }
    if draft.sign is None:
        fields["sign"] = {
            "type": "string",
            "title": "Which amounts are money that went out?",
            "oneOf": [
                {"const": "negative_is_out", "title": "those with a minus"},
                {"const": "positive_is_out", "title": "those without a minus (as on some cards)"},
            ],
            # No default: a wrong sign makes income of all payments, and here neither is the likely one.
        }
    if draft.currency is None and draft.currency_column is None and not draft.amounts_name_currency:
        fields["currency"] = {
            "type": "string",
            "title": "Currency (three letters)",
            "minLength": 3,
            "maxLength": 3,
        }
    return fields


def answer_draft(table: Table, draft: Draft, answers: dict[str, Any]) -> Draft:
    """Give a draft with the answers of a person in it; StatementError names a wrong one."""
    changes: dict[str, Any] = {}
    for field, target in (("date_column", "date"), ("amount_column", "amount")):
        if field in answers:
            changes[target] = _column(table, str(answers[field]), field)
    for field, allowed in (
        ("date_order", ("dmy", "mdy", "ymd")),
        ("decimal", ("point", "comma")),
        ("sign", ("negative_is_out", "positive_is_out")),
    ):
        if field in answers:
            if answers[field] not in allowed:
                raise StatementError(f"{field} is {answers[field]!r}: it must be one of {', '.join(allowed)}")
            changes[field] = answers[field]
    if "currency" in answers:
        code = str(answers["currency"]).strip().upper()
        if re.fullmatch(r"[A-Z]{3}", code) is None:
            raise StatementError(f"{answers['currency']!r} is no currency: write three letters, such as EUR")
        changes["currency"] = code
    return msgspec.structs.replace(draft, **changes)


def finish_draft(draft: Draft) -> CsvMapping | None:
    """Give the mapping of a draft without open questions; None while there are some."""
    values = {
        name: getattr(draft, name) for name in Draft.__struct_fields__ if name in CsvMapping.__struct_fields__
    }
    has_amount = draft.amount is not None or draft.debit is not None or draft.credit is not None
    has_currency = draft.currency or draft.currency_column is not None or draft.amounts_name_currency
    needed = (draft.date, draft.date_order, draft.decimal, draft.sign)
    return CsvMapping(**values) if None not in needed and has_amount and has_currency else None


def load_mapping(db: sqlite3.Connection, fingerprint: str) -> CsvMapping | None:
    """Give the mapping that was kept for a header."""
    row = db.execute("SELECT mapping FROM csv_mappings WHERE header_digest = ?", (fingerprint,)).fetchone()
    if row is None:
        return None
    try:
        return msgspec.json.decode(row[0], type=CsvMapping)
    except msgspec.MsgspecError:
        return None  # One of another version: the file is looked at anew.


def save_mapping(db: sqlite3.Connection, fingerprint: str, mapping: CsvMapping, account_id: str) -> None:
    """Keep a mapping for a header, inside of a transaction of the caller's."""
    kept = load_mapping(db, fingerprint)
    accounts = tuple(dict.fromkeys((kept.accounts if kept else ()) + (account_id,)))[-_MOST_KEPT_ACCOUNTS:]
    text = msgspec.json.encode(msgspec.structs.replace(mapping, accounts=accounts)).decode()
    db.execute(
        "INSERT OR REPLACE INTO csv_mappings (header_digest, mapping) VALUES (?, ?)", (fingerprint, text)
    )


def first_rows(table: Table) -> str:
    """Give the first records as a Markdown table."""
    columns = _column_names(table)[:_SHOWN_COLUMNS]
    lines = [_row(columns), _row(["---"] * len(columns))]
    for record in table.records[:_SHOWN_ROWS]:
        cells = [*record.cells, *[""] * len(columns)][: len(columns)]
        lines.append(_row(cells))
    return "\n".join(lines)


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(shorten(cell, 40).replace("|", "\\|") for cell in cells) + " |"


def _column_names(table: Table) -> list[str]:
    header = table.header or ()
    return [
        shorten(header[index], 40) if index < len(header) and header[index].strip() else f"column {index + 1}"
        for index in range(table.width)
    ]


def _column(table: Table, answer: str, field: str) -> int:
    """Give the index of a column that was answered by its number or its name."""
    names = [name.casefold() for name in _column_names(table)]
    if answer.isdecimal() and int(answer) < table.width:
        return int(answer)
    if answer.casefold().strip() in names:
        return names.index(answer.casefold().strip())
    raise StatementError(f"{field} is {answer!r}: there is no such column; columns are {', '.join(names)}")


def _sample_date(table: Table, draft: Draft, order: DateOrder) -> str:
    for text in table.column(draft.date) if draft.date is not None else ():
        try:
            return f": {text} is {parse_date(text, order):%d %B %Y}"
        except ValueError:
            continue
    return ""
