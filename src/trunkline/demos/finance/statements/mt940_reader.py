"""Reads MT940 (SWIFT) by the library ``mt-940`` of the extra ``finance``, which is imported only here."""

from __future__ import annotations

import datetime
import importlib
import re
from decimal import Decimal
from typing import Any

from trunkline.demos.finance.statements.amounts import to_minor
from trunkline.demos.finance.statements.statement import (
    Account,
    Problem,
    Statement,
    StatementError,
    StatementRow,
    join_texts,
    shorten,
)
from trunkline.demos.finance.statements.text_encoding import decode_text

_TAG = re.compile(rb"^:(20|25|28C?|60[FM]|61|62[FM]|86):", re.MULTILINE)
_FIELDS = ("applicant_name", "purpose", "additional_purpose")
_STATEMENT = re.compile(r"^:20:", re.MULTILINE)


def is_mt940(data: bytes) -> bool:
    """Whether a file has the tags of an MT940 statement."""
    found = {match[1] for match in _TAG.finditer(data[:65536])}
    return b"25" in found and bool(found & {b"60F", b"60M", b"61"})


def read_mt940(data: bytes) -> list[Statement]:
    """Read all statements of a file; StatementError if the library is missing or the file is damaged."""
    try:
        library: Any = importlib.import_module("mt940")
    except ModuleNotFoundError:
        raise StatementError(
            "it is MT940, which needs the package mt-940: run `pip install 'trunkline[finance]'`, "
            "or export CSV or OFX at the bank"
        ) from None
    text, _ = decode_text(data)
    text = text.replace("\r\n", "\n")
    begins = [match.start() for match in _STATEMENT.finditer(text)] or [0]
    statements: dict[str, Statement] = {}
    for begin, end in zip(begins, [*begins[1:], len(text)], strict=True):
        part = text[begin:end]
        line = text.count("\n", 0, begin) + 1
        statement = _read_one(library, part, line)
        number = (statement.account.number if statement.account else None) or ""
        before = statements.get(number)
        # One file often has one statement for each day.
        statements[number] = statement if before is None else Statement(
            format="mt940",
            account=before.account,
            rows=before.rows + statement.rows,
            problems=before.problems + statement.problems,
        )  # fmt: skip
    return list(statements.values())


def _read_one(library: Any, text: str, line: int) -> Statement:
    try:
        parsed: Any = library.parse(text, options=library.Options(applicant_iban=True))
    except Exception as error:  # The library raises whatever its regular expressions run into.
        raise StatementError(f"its part at line {line} is no MT940 ({shorten(str(error), 200)})") from error
    lines = [line + text.count("\n", 0, match.start()) for match in re.finditer(r"^:61:", text, re.MULTILINE)]
    rows: list[StatementRow] = []
    problems: list[Problem] = []
    for index, transaction in enumerate(parsed.transactions):
        data: dict[str, Any] = transaction.data
        at = lines[index] if index < len(lines) else line
        if "amount" not in data:
            continue  # The library gives one empty entry for a statement without bookings.
        try:
            rows.append(_row(data, at))
        except (KeyError, ValueError) as error:
            problems.append(Problem(line=at, text=shorten(str(data), 120), reason=shorten(str(error), 200)))
    if len(rows) + len(problems) != len(lines):
        raise StatementError(
            f"of the {len(lines)} bookings after line {line} only {len(rows) + len(problems)} can be read: "
            "export CSV or OFX at the bank"
        )
    number = str(parsed.data.get("account_identification") or "").strip() or None
    currency = next((row.currency for row in rows), None)
    if number and currency:
        # Some banks write the currency behind the number.
        number = re.sub(rf"(?<=\d)\s*{currency}$", "", number)
    return Statement(
        format="mt940",
        account=Account(number=number, currency=currency),
        rows=tuple(rows),
        problems=tuple(problems),
    )


def _row(data: dict[str, Any], line: int) -> StatementRow:
    amount: Any = data["amount"]
    value, currency = Decimal(amount.amount), str(amount.currency or data.get("currency") or "")
    if data.get("status") == "RC":
        value = -abs(value)  # A credit that is taken back; the library knows D alone as money out.
    if re.fullmatch(r"[A-Z]{3}", currency) is None:
        raise ValueError("its currency is not named")
    date: Any = data.get("entry_date") or data["date"]
    texts = [str(data[name]) for name in _FIELDS if data.get(name)]
    if not texts:
        texts = [str(data.get("transaction_details") or ""), str(data.get("extra_details") or "")]
    return StatementRow(
        line=line,
        posted=datetime.date(date.year, date.month, date.day),
        amount=to_minor(value, currency),
        currency=currency,
        description=join_texts(*texts) or shorten(str(data.get("customer_reference") or "")),
    )
