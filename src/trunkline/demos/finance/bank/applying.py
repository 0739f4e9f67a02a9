"""Applies the changes of one bank to the ledger, inside of a transaction of the caller's."""

from __future__ import annotations

import datetime
import hashlib
import sqlite3
from collections.abc import Mapping

import msgspec

from trunkline.demos.finance.bank.changes import Changes
from trunkline.demos.finance.bank.plaid_client import BankError
from trunkline.demos.finance.bank.plaid_wire import PlaidAccount, PlaidTransaction
from trunkline.demos.finance.ledger.classification import classify
from trunkline.demos.finance.ledger.masking import mask_text
from trunkline.demos.finance.statements.accounts import (
    LedgerAccount,
    insert_account,
    own_accounts,
    with_own_name,
)
from trunkline.demos.finance.statements.amounts import to_minor
from trunkline.demos.finance.statements.identity import Candidate, match_other_sources
from trunkline.demos.finance.statements.importing import (
    PlannedRow,
    begin_import,
    insert_transaction,
    known_identities,
    known_transactions,
    record_sighting,
)
from trunkline.demos.finance.statements.statement import AccountKind, StatementRow, join_texts, shorten
from trunkline.demos.finance.statements.undo import BANK


class ItemSynced(msgspec.Struct, frozen=True, kw_only=True):
    """What the sync of one bank did."""

    item_id: str
    institution: str
    added: int = 0
    modified: int = 0
    removed: int = 0
    known: int = 0
    """Transactions that a file had brought before."""
    pages: int = 0
    restarts: int = 0
    """How often reading began again, because the bank's data changed meanwhile."""
    error: str | None = None
    """Why it failed; nothing was changed then."""


class Applying:
    """One bank, one transaction. ``source`` is that of new accounts."""

    def __init__(
        self, db: sqlite3.Connection, item_id: str, institution: str, source: str, at: datetime.datetime
    ) -> None:
        self._db = db
        self._item_id = item_id
        self._institution = institution
        self._source = source
        self._at = at
        self._import_id: int | None = None

    def apply(self, changes: Changes) -> ItemSynced:
        """Add, change and remove; give the counts."""
        added = modified = removed = known = 0
        by_account: dict[str, list[PlaidTransaction]] = {}
        for transaction in (*changes.added, *changes.modified):
            by_account.setdefault(transaction.account_id, []).append(transaction)
        places = {one: self._account(one, changes.accounts.get(one)) for one in by_account}
        for plaid_id, transactions in by_account.items():
            account = places[plaid_id]
            identities = known_identities(self._db, account.id)
            unknown: dict[str, PlannedRow] = {}
            names: dict[str, str] = {}
            # The last state of a transaction counts, also when two pages have it.
            for transaction in {one.transaction_id: one for one in transactions}.values():
                row = self._row(transaction, account)
                identity = _identity(transaction.transaction_id)
                old = identities.get(identity) or self._pending(identities, transaction)
                planned = PlannedRow(account_id=account.id, identity=identity, row=row)
                names[identity] = shorten(transaction.merchant_name or "", 200)
                if old is None:
                    unknown[identity] = planned
                else:
                    self._change(old, planned, names[identity], transaction)
                    modified += 1
            matches = self._from_files(account.id, unknown) if account.source != "demo" else {}
            for identity, planned in unknown.items():
                if identity in matches:
                    record_sighting(self._db, self._record(), account.id, identity, matches[identity])
                    known += 1
                else:
                    new = insert_transaction(self._db, self._record(), planned)
                    self._db.execute(
                        "UPDATE transactions SET merchant = ? WHERE id = ?", (names[identity], new)
                    )
                    added += 1
        for gone in {one.transaction_id for one in changes.removed}:
            removed += self._remove(_identity(gone))
        if self._import_id is not None:
            self._db.execute("UPDATE imports SET added = ? WHERE id = ?", (added, self._import_id))
        if added or modified or removed or known:
            classify(self._db)
        return ItemSynced(
            item_id=self._item_id,
            institution=self._institution,
            added=added,
            modified=modified,
            removed=removed,
            known=known,
            pages=changes.pages,
            restarts=changes.restarts,
        )

    def _record(self) -> int:
        """Give the record of this sync, made with the first transaction."""
        if self._import_id is None:
            self._import_id = begin_import(self._db, self._at, BANK, self._institution, "")
        return self._import_id

    def _account(self, plaid_id: str, plaid_account: PlaidAccount | None) -> LedgerAccount:
        """Give the ledger's account: the one of the last sync, the same one from a file, or a new one."""
        fact = f"bank account {self._item_id} {plaid_id}"
        row = self._db.execute("SELECT value FROM facts WHERE name = ?", (fact,)).fetchone()
        accounts = {one.id: one for one in own_accounts(self._db)}
        plaid_account = plaid_account or PlaidAccount(account_id=plaid_id)
        identifier = row[0] if row else f"bank-{hashlib.sha256(fact.encode()).hexdigest()[:12]}"
        currency = (
            plaid_account.balances.iso_currency_code
            or plaid_account.balances.unofficial_currency_code
            or "EUR"
        )
        account = LedgerAccount(
            id=identifier,
            name=shorten(
                mask_text(plaid_account.name or plaid_account.official_name or self._institution), 80
            ),
            kind=_kind(plaid_account),
            currency=currency[:3].upper(),
            number=plaid_account.mask or "",
            institution=self._institution,
            source=self._source,
            is_new=identifier not in accounts,
        )
        if row is None and self._source != "demo":
            same = [
                one
                for one in accounts.values()
                if one.source == "file"
                and plaid_account.mask
                and one.number.endswith(plaid_account.mask)
                and (one.kind, one.currency) == (account.kind, account.currency)
            ]
            account = same[0] if len(same) == 1 else account
        account = with_own_name(account, list(accounts.values()))
        insert_account(self._db, account)
        self._db.execute("INSERT OR REPLACE INTO facts (name, value) VALUES (?, ?)", (fact, account.id))
        return accounts.get(account.id, account)

    def _row(self, transaction: PlaidTransaction, account: LedgerAccount) -> StatementRow:
        currency = transaction.iso_currency_code or transaction.unofficial_currency_code or account.currency
        try:
            # Plaid: "positive values when money moves out of the account".
            amount = -to_minor(transaction.amount, currency)
        except ValueError as error:
            raise BankError(f"transaction {transaction.transaction_id} cannot be stored: {error}") from None
        return StatementRow(
            line=0,
            posted=transaction.date,
            amount=amount,
            currency=currency[:3].upper(),
            description=join_texts(
                transaction.original_description or transaction.name, transaction.merchant_name
            ),
            pending=transaction.pending,
        )

    def _pending(self, identities: Mapping[str, int], transaction: PlaidTransaction) -> int | None:
        """Give the pending transaction that a posted one replaces: it keeps its tags and its category."""
        if transaction.pending_transaction_id is None:
            return None
        return identities.get(_identity(transaction.pending_transaction_id))

    def _change(self, old: int, planned: PlannedRow, merchant: str, transaction: PlaidTransaction) -> None:
        row = planned.row
        if transaction.pending_transaction_id is not None:
            # The pending one is taken over: when its removal comes, there is nothing left of it.
            self._discard(planned.account_id, _identity(transaction.pending_transaction_id))
        others = self._db.execute(
            "SELECT 1 FROM sightings WHERE transaction_id = ? AND identity NOT LIKE 'plaid:%'", (old,)
        ).fetchone()
        if others is None:
            self._db.execute(
                "UPDATE transactions SET posted = ?, amount = ?, currency = ?, description = ?, "
                "merchant = ?, identity = ?, pending = ? WHERE id = ?",
                (
                    row.posted.isoformat(),
                    row.amount,
                    row.currency,
                    row.description,
                    merchant,
                    planned.identity,
                    int(row.pending),
                    old,
                ),
            )
        record_sighting(self._db, self._record(), planned.account_id, planned.identity, old)

    def _from_files(self, account_id: str, unknown: Mapping[str, PlannedRow]) -> dict[str, int]:
        """Give for new transactions those that a file brought before, by amount and day."""
        order = list(unknown)
        candidates = [
            Candidate(index, unknown[one].row.posted, unknown[one].row.amount, unknown[one].row.currency, one)
            for index, one in enumerate(order)
        ]
        ledger = known_transactions(self._db, account_id, known_identities(self._db, account_id))
        found = match_other_sources(candidates, ledger)
        return {order[index]: match.transaction_id for index, match in found.items()}

    def _remove(self, identity: str) -> int:
        """Remove a transaction, unless a file shows it too; give how many went."""
        rows = self._db.execute(
            "SELECT id, account_id FROM transactions WHERE identity = ?1 UNION "
            "SELECT transaction_id, account_id FROM sightings WHERE identity = ?1",
            (identity,),
        ).fetchall()
        gone = 0
        for transaction_id, account_id in rows:
            self._discard(account_id, identity)
            other = self._db.execute(
                "SELECT identity, import_id FROM sightings JOIN imports ON imports.id = import_id "
                "WHERE transaction_id = ? AND undone_at IS NULL AND identity NOT LIKE 'plaid:%' LIMIT 1",
                (transaction_id,),
            ).fetchone()
            if other is None:
                gone += self._db.execute("DELETE FROM transactions WHERE id = ?", (transaction_id,)).rowcount
            else:
                self._db.execute(
                    "UPDATE transactions SET identity = ?, import_id = ? WHERE id = ?",
                    (*other, transaction_id),
                )
        return gone

    def _discard(self, account_id: str, identity: str) -> None:
        self._db.execute(
            "DELETE FROM sightings WHERE account_id = ? AND identity = ?", (account_id, identity)
        )


def _identity(transaction_id: str) -> str:
    return f"plaid:{shorten(transaction_id, 200)}"


def _kind(account: PlaidAccount) -> AccountKind:
    if account.type == "credit":
        return "card"
    return "savings" if account.subtype in ("savings", "money market", "cd") else "checking"
