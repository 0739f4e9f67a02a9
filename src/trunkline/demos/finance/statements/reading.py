"""Reads a file of any format into statements with their accounts, or gives the one form that it needs."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from pathlib import PurePath
from typing import Any, NamedTuple

import msgspec

from trunkline.demos.finance.statements.account_kinds import (
    KINDS,
    kind_by_bookings,
    kind_by_words,
    read_kind,
)
from trunkline.demos.finance.statements.accounts import (
    LedgerAccount,
    find_account,
    find_by_end,
    new_account,
    own_accounts,
    plain_number,
    with_own_name,
)
from trunkline.demos.finance.statements.amounts import looks_like_amount
from trunkline.demos.finance.statements.csv_columns import draft_mapping
from trunkline.demos.finance.statements.csv_layout import Table, read_table
from trunkline.demos.finance.statements.csv_reader import CsvStatement, account_of, read_csv
from trunkline.demos.finance.statements.dates import looks_like_date, reads_as_date
from trunkline.demos.finance.statements.detection import detect_format
from trunkline.demos.finance.statements.mapping import (
    CsvMapping,
    Draft,
    answer_draft,
    finish_draft,
    first_rows,
    load_mapping,
    open_fields,
)
from trunkline.demos.finance.statements.mt940_reader import read_mt940
from trunkline.demos.finance.statements.ofx_reader import read_ofx
from trunkline.demos.finance.statements.statement import (
    Account,
    AccountKind,
    Format,
    Statement,
    StatementError,
)
from trunkline.demos.finance.statements.text_encoding import decode_text
from trunkline.questions import Form

FIELDS = (
    *("date_column", "date_order", "amount_column", "decimal", "sign", "currency"),
    *("account", "account_kind"),
)
"""What a form may ask for."""
_MOST_LOOKED_AT = 1000
_ENOUGH_TO_TELL = 5
_BALANCES_DIFFER = "the running balances of the file do not fit its amounts: look at the rows first"


class ImportQuestion(msgspec.Struct, frozen=True, kw_only=True):
    """All that a file does not tell, as one form: ``fields`` is a flat JSON schema.

    ``message`` says what is asked and shows the first rows as a Markdown table. The answer is an object with
    the fields; it is given to ``plan_import`` as ``answers``.
    """

    file: str
    message: str
    fields: dict[str, Any]

    @property
    def form(self) -> Form:
        """The question as a front end gets it."""
        return Form(message=self.message, fields=self.fields)


class ReadFile(NamedTuple):
    """The statements of a file, each with its account."""

    format: Format
    statements: list[tuple[LedgerAccount, Statement]]
    fingerprint: str | None
    mapping: CsvMapping | None


def read_file(
    db: sqlite3.Connection, file: str, data: bytes, account: str | None, answers: Mapping[str, Any]
) -> ReadFile | ImportQuestion:
    """Read a file; a question if it does not tell everything. The message of an error is about the file."""
    format = detect_format(data)
    if format == "csv":
        return _read_csv(db, file, data, account, answers)
    statements = read_ofx(data) if format == "ofx" else read_mt940(data)
    wanted = account or _answered_account(answers)
    kind = _kind_of(file, wanted, answers)
    found = _assign(db, statements, wanted, (), kind)
    if found is None:
        is_open = kind is None and any(one.account is None or one.account.kind is None for one in statements)
        return _question(db, file, {}, "", ask_account=True, ask_kind=is_open)
    return ReadFile(format, found, None, None)


def _read_csv(
    db: sqlite3.Connection, file: str, data: bytes, account: str | None, answers: Mapping[str, Any]
) -> ReadFile | ImportQuestion:
    table = read_table(decode_text(data)[0])
    kept = load_mapping(db, table.fingerprint)
    other_signs = kept is not None and _has_other_signs(db, table, kept)
    if other_signs or (kept is not None and _has_other_days(table, kept)):
        kept = None  # Another bank with the same header, it seems: what was kept is of the first one.
    if kept is not None:
        kept = _with_fees(db, table, kept)
    wanted = account or _answered_account(answers)
    above = " ".join(cell for record in table.preamble for cell in record.cells)
    kind = _kind_of(file, wanted, answers, above) or _kind_before(db, kept)
    before = _accounts_before(db, kept, kind_by_words(above))
    if kept is not None and not (set(answers) - {"account", "account_kind"}):
        read = read_csv(table, kept)
        if _still_fits(read):
            found = _assign(db, read.statements, wanted, before, kind)
            if found is None:
                rows = first_rows(table)
                return _question(db, file, {}, rows, ask_account=True, ask_kind=kind is None)
            return ReadFile("csv", found, table.fingerprint, kept)
    draft = draft_mapping(table)
    if other_signs:
        draft = msgspec.structs.replace(draft, sign=None)
    draft = answer_draft(table, draft, dict(answers))
    if draft.currency is None and draft.currency_column is None and not draft.amounts_name_currency:
        known = _known_account(db, table, wanted, before)
        draft = msgspec.structs.replace(draft, currency=known.currency if known else None)
    mapping = finish_draft(draft)
    if kind is None and draft.sign == "positive_is_out":
        kind = "card"  # Only those show what was paid without a minus.
    if kind is None and draft.account_column is not None and table.header is not None:
        kind = kind_by_words(table.header[draft.account_column])  # "Card No."
    if kind is None:
        kind = _kind_of_bookings(table, draft)
    ask_account = (
        wanted is None
        and draft.account_column is None
        and account_of(table) is None
        and _known_account(db, table, wanted, before) is None
    )
    ask_kind = kind is None
    if mapping is None or ask_account:
        fields, rows = open_fields(table, draft), first_rows(table)
        return _question(db, file, fields, rows, ask_account=ask_account, ask_kind=ask_kind)
    read = read_csv(table, mapping)
    statements = list(read.statements)
    if read.balance_agrees is False:
        first = statements[0]
        statements[0] = msgspec.structs.replace(first, notes=(*first.notes, _BALANCES_DIFFER))
    found = _assign(db, statements, wanted, before, kind)
    if found is None:
        return _question(db, file, {}, first_rows(table), ask_account=True, ask_kind=ask_kind)
    return ReadFile("csv", found, table.fingerprint, mapping)


def _with_fees(db: sqlite3.Connection, table: Table, kept: CsvMapping) -> CsvMapping:
    """Give a kept mapping with the column of fees, where this is the first file that proves them."""
    if kept.fee is not None or kept.balance is None:
        return kept
    draft = draft_mapping(table)
    if draft.fee is None or draft.amount != kept.amount:
        return kept
    with_fees = msgspec.structs.replace(kept, fee=draft.fee)
    # A booking that the ledger has without its fee would come a second time, with the fee.
    alone, less = (_bookings(table, mapping) for mapping in (kept, with_fees))
    ledger = "SELECT account_id, posted, amount, description FROM transactions"
    known = {tuple(row[1:]) for row in db.execute(ledger) if row[0] in kept.accounts}
    return kept if known & (alone - less) else with_fees


def _bookings(table: Table, mapping: CsvMapping) -> set[tuple[str, int, str]]:
    statements = read_csv(table, mapping).statements
    return {
        (row.posted.isoformat(), row.amount, row.description)
        for statement in statements
        for row in statement.rows
    }


def _still_fits(read: CsvStatement) -> bool:
    """Whether a kept mapping reads a new file: a bank may write otherwise under the same header."""
    rows = sum(len(statement.rows) for statement in read.statements)
    problems = sum(len(statement.problems) for statement in read.statements)
    return rows >= problems and rows > 0 and read.balance_agrees is not False


def _has_other_days(table: Table, kept: CsvMapping) -> bool:
    """Whether a file has days in another order than the last one with its header."""
    days = [cell for cell in table.column(kept.date)[:_MOST_LOOKED_AT] if looks_like_date(cell)]
    return not all(reads_as_date(cell, kept.date_order) for cell in days)


def _has_other_signs(db: sqlite3.Connection, table: Table, kept: CsvMapping) -> bool:
    """Whether a file has its payments without a minus where the last one had them with one, or otherwise."""
    if kept.amount is None or kept.balance is not None or account_of(table) is not None:
        return False  # Balances prove the sign, and a number says whose file it is.
    amounts = [cell for cell in table.column(kept.amount)[:_MOST_LOOKED_AT] if looks_like_amount(cell)]
    out = sum(cell.lstrip("\u2212").startswith(("-", "(")) or cell.endswith("-") for cell in amounts)
    if len(amounts) < _ENOUGH_TO_TELL:
        return False
    if kept.sign == "positive_is_out":
        return 2 * out > len(amounts)
    # Savings may have nothing but interest.
    saves = any(one.kind == "savings" for one in own_accounts(db) if one.id in kept.accounts)
    return kept.sign == "negative_is_out" and not saves and 5 * out < len(amounts)


def _answered_account(answers: Mapping[str, Any]) -> str | None:
    return str(answers["account"]).strip() or None if "account" in answers else None


def _kind_of(
    file: str, wanted: str | None, answers: Mapping[str, Any], above: str = ""
) -> AccountKind | None:
    """Give the kind that a new account of a file has; None if nothing tells it."""
    if "account_kind" in answers:
        return read_kind(answers["account_kind"])
    return kind_by_words(wanted or "", PurePath(file).stem, above)


def _kind_of_bookings(table: Table, draft: Draft) -> AccountKind | None:
    """Give the kind that the first bookings tell, as far as a draft can read them."""
    # Which currency it is does not matter for that.
    mapping = finish_draft(msgspec.structs.replace(draft, currency=draft.currency or "EUR"))
    if mapping is None:
        return None
    read = read_csv(table._replace(records=table.records[:_MOST_LOOKED_AT]), mapping)
    return _kind_of_statement(read.statements[0]) if len(read.statements) == 1 else None


def _kind_of_statement(statement: Statement) -> AccountKind | None:
    return kind_by_bookings((row.description, row.amount) for row in statement.rows)


def _accounts_before(
    db: sqlite3.Connection, kept: CsvMapping | None, kind: AccountKind | None
) -> tuple[str, ...]:
    """Give the accounts of earlier files with the same header, of the kind that the lines above tell.

    One bank writes "Girokonto" or "Tagesgeld" there, and nothing else tells its files apart.
    """
    kinds = {account.id: account.kind for account in own_accounts(db)}
    ids = kept.accounts if kept else ()
    return tuple(one for one in ids if kind is None or kinds.get(one) == kind)


def _kind_before(db: sqlite3.Connection, kept: CsvMapping | None) -> AccountKind | None:
    """Give the kind that all accounts of earlier files with the same header have."""
    ids = kept.accounts if kept else ()
    kinds: set[AccountKind] = {account.kind for account in own_accounts(db) if account.id in ids}
    return kinds.pop() if len(kinds) == 1 else None


def _known_account(
    db: sqlite3.Connection, table: Table, wanted: str | None, before: Sequence[str]
) -> LedgerAccount | None:
    accounts = own_accounts(db)
    hint = account_of(table)
    if wanted is not None:
        return find_account(accounts, wanted)
    if hint is not None and hint.number:
        return find_account(accounts, hint.number)
    return _only_one(accounts, before)


def _only_one(accounts: Sequence[LedgerAccount], before: Sequence[str]) -> LedgerAccount | None:
    """Give the account of all earlier files with the same header; None if there were several."""
    found = [account for account in accounts if account.id in before]
    return found[0] if len(found) == 1 else None


def _assign(
    db: sqlite3.Connection,
    statements: Sequence[Statement],
    wanted: str | None,
    before: Sequence[str],
    kind: AccountKind | None,
) -> list[tuple[LedgerAccount, Statement]] | None:
    """Give each statement its account; None if a file does not say which, and nobody did."""
    accounts = own_accounts(db)
    if wanted is not None and len(statements) > 1:
        numbers = ", ".join(
            filter(None, (one.account.number or one.account.name for one in statements if one.account))
        )
        raise StatementError(
            f"it has several accounts ({numbers}): leave the account out, and each gets its own"
        )
    # What a file calls by another number is another account, also if both end with the same digits.
    in_file = {plain_number(one.account.number or "") for one in statements if one.account}
    found: list[tuple[LedgerAccount, Statement]] = []
    for statement in statements:
        account = _one_account(accounts, statement, wanted, before, kind, in_file)
        if account is None:
            return None
        account = with_own_name(account, accounts)
        found.append((account, statement))
        accounts.append(account)
    return found


def _one_account(
    accounts: Sequence[LedgerAccount],
    statement: Statement,
    wanted: str | None,
    before: Sequence[str],
    kind: AccountKind | None,
    in_file: Collection[str],
) -> LedgerAccount | None:
    hint = statement.account or Account()
    counted = Counter(row.currency for row in statement.rows).most_common(1)
    currency = hint.currency or (counted[0][0] if counted else "EUR")
    if wanted is not None:
        known = find_account(accounts, wanted)
        if known is not None and hint.number and known.number not in ("", plain_number(hint.number)):
            raise StatementError(
                f"it is of account {hint.number}, and {known.name} has the number {known.number}: "
                "leave the account out, or name another one"
            )
        return known or new_account(hint, wanted, currency, kind)
    if hint.number:
        kind = hint.kind or kind or _kind_of_statement(statement)
        others = [one for one in accounts if plain_number(one.number) not in in_file]
        known = find_account(accounts, hint.number) or find_by_end(others, hint.number, currency, kind)
        return known or new_account(hint, hint.name, currency, kind)
    if hint.name:
        # Another bank's account may have the same name, and has a number then.
        known = find_account([one for one in accounts if not one.number], hint.name)
        kind = kind or kind_by_words(hint.name) or _kind_of_statement(statement)
        return known or new_account(hint, hint.name, currency, kind)
    return _only_one(accounts, before)


def _question(
    db: sqlite3.Connection,
    file: str,
    fields: dict[str, Any],
    rows: str,
    *,
    ask_account: bool,
    ask_kind: bool,
) -> ImportQuestion:
    if ask_account:
        names = ", ".join(account.name for account in own_accounts(db)[:10])
        fields["account"] = {
            "type": "string",
            "title": "Account: a name for a new one" + (f", or one of: {names}" if names else ""),
            "minLength": 1,
            "maxLength": 80,
        }
    required = list(fields)
    if ask_account and ask_kind:
        fields["account_kind"] = {
            "type": "string",
            "title": "What is it, if it is a new account?",
            "oneOf": [{"const": kind, "title": title} for kind, title in KINDS.items()],
        }
        if "sign" not in fields:
            # Else the answer about the sign tells it: a file without minuses is a card's.
            fields["account_kind"]["default"] = "checking"
    count = len(fields)
    intro = f"{file} does not tell {'one thing' if count == 1 else f'{count} things'}."
    shown = f" Its first rows:\n\n{rows}" if rows else ""
    return ImportQuestion(
        file=file,
        message=f"{intro}{shown}",
        fields={"type": "object", "properties": fields, "required": required},
    )
