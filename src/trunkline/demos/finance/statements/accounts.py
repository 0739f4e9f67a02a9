"""Which account of the ledger a statement belongs to: an existing one, or a new one."""

from __future__ import annotations

import hashlib
import itertools
import re
import sqlite3
from collections.abc import Sequence

import msgspec

from trunkline.demos.finance.ledger.masking import mask_number, mask_text
from trunkline.demos.finance.statements.statement import Account, AccountKind, StatementError, shorten

_FEWEST_DIGITS = 4
"""How many digits of a number banks show at least in place of all."""
_COLUMNS = "id, name, kind, currency, number, institution, source"


class LedgerAccount(msgspec.Struct, frozen=True, kw_only=True):
    """An account of the ledger, or one that an import will make."""

    id: str
    name: str
    kind: AccountKind
    currency: str
    number: str = ""
    institution: str = ""
    source: str = "file"
    is_new: bool = False


def list_accounts(db: sqlite3.Connection) -> list[LedgerAccount]:
    """Give the accounts that count, by name: the made-up ones only while there is nothing else."""
    rows = db.execute(f"SELECT {_COLUMNS} FROM visible_accounts ORDER BY name, id").fetchall()
    return [_account(row) for row in rows]


def own_accounts(db: sqlite3.Connection) -> list[LedgerAccount]:
    """Give the accounts that are not made up."""
    rows = db.execute(f"SELECT {_COLUMNS} FROM accounts WHERE source <> 'demo' ORDER BY name, id").fetchall()
    return [_account(row) for row in rows]


def find_account(accounts: Sequence[LedgerAccount], words: str) -> LedgerAccount | None:
    """Give the account with this id, name or number; StatementError if two have the name."""
    plain = words.strip().casefold()
    for account in accounts:
        if account.id == words or (account.number and plain_number(account.number) == plain_number(words)):
            return account
    named = [account for account in accounts if account.name.casefold() == plain]
    if len(named) > 1:
        ids = ", ".join(account.id for account in named)
        raise StatementError(f"{len(named)} accounts are called {words!r}: name one by its id: {ids}")
    return named[0] if named else None


def find_by_end(
    accounts: Sequence[LedgerAccount], number: str, currency: str, kind: AccountKind | None
) -> LedgerAccount | None:
    """Give the account whose number this one is the end of, or has as its end.

    Cards are called by their last digits, and a German IBAN ends with what MT940 calls the account.
    """
    fitting = [
        account
        for account in accounts
        if account.currency == currency
        and account.kind == (kind or "checking")
        and _end_alike(account.number, plain_number(number))
    ]
    return fitting[0] if len(fitting) == 1 else None


def _end_alike(one: str, other: str) -> bool:
    short, long = sorted((re.split(r"\D", one)[-1], re.split(r"\D", other)[-1]), key=len)
    return len(short) >= _FEWEST_DIGITS and long.endswith(short)


def new_account(
    hint: Account, name: str | None, currency: str, kind: AccountKind | None = None
) -> LedgerAccount:
    """Give the account that an import makes; the same statement always gives the same id.

    ``kind`` counts where the file itself does not say; without one it is a checking account.
    """
    found = hint.kind or kind or "checking"
    is_number = name is not None and mask_text(name) == mask_number(name)
    number = plain_number(hint.number or (name if name is not None and is_number else ""))
    key = number or (name or "").casefold()
    kinds = {"checking": "Account", "savings": "Savings", "card": "Card", "cash": "Cash"}
    given = (
        (None if is_number else name)
        or hint.name
        or " ".join(filter(None, (hint.institution or kinds[found], number[-4:])))
    )
    return LedgerAccount(
        id=f"file-{hashlib.sha256(key.encode()).hexdigest()[:12]}",
        # Answers and models read the name, and never a whole number.
        name=shorten(mask_text(given), 80),
        kind=found,
        currency=currency,
        number=number,
        institution=shorten(hint.institution or "", 80),
        is_new=True,
    )


def with_own_name(account: LedgerAccount, others: Sequence[LedgerAccount]) -> LedgerAccount:
    """Give a new account a name that no other has: figures are asked for by the name of an account."""
    taken = {one.name.casefold() for one in others if one.id != account.id}
    if not account.is_new or account.name.casefold() not in taken:
        return account
    names = (f"{account.name} ({number})" for number in itertools.count(2))
    return msgspec.structs.replace(account, name=next(one for one in names if one.casefold() not in taken))


def insert_account(db: sqlite3.Connection, account: LedgerAccount) -> None:
    """Make an account, unless it is there."""
    db.execute(
        f"INSERT OR IGNORE INTO accounts ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?)",
        (
            account.id,
            account.name,
            account.kind,
            account.currency,
            account.number,
            account.institution,
            account.source,
        ),
    )


def plain_number(number: str) -> str:
    """Give an account number without the blanks and signs that people write into it."""
    return re.sub(r"[\s\-./]", "", number).upper()


def _account(row: tuple[str, str, AccountKind, str, str, str, str]) -> LedgerAccount:
    identifier, name, kind, currency, number, institution, source = row
    return LedgerAccount(
        id=identifier,
        name=name,
        kind=kind,
        currency=currency,
        number=number,
        institution=institution,
        source=source,
    )
