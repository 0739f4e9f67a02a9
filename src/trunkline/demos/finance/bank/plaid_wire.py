"""The messages of ``POST /transactions/sync`` (https://plaid.com/docs/api/products/transactions/#transactionssync).

Amounts are "positive when money moves out of the account; negative when money moves in", the opposite of the
ledger's. Only the fields that are used are named; others may come and go.
"""

from __future__ import annotations

import datetime
from decimal import Decimal

import msgspec

MUTATION = "TRANSACTIONS_SYNC_MUTATION_DURING_PAGINATION"
"""The error of a page whose data changed since the first page: begin again with the cursor of that one."""
LOGIN_REQUIRED = "ITEM_LOGIN_REQUIRED"
RATE_LIMIT = "RATE_LIMIT_EXCEEDED"
"""An error type; its codes name the limit."""


class PlaidBalances(msgspec.Struct, frozen=True, kw_only=True):
    """The balances of an account; only the currency is used."""

    iso_currency_code: str | None = None
    unofficial_currency_code: str | None = None


class PlaidAccount(msgspec.Struct, frozen=True, kw_only=True):
    """An account of an item."""

    account_id: str
    name: str = ""
    official_name: str | None = None
    mask: str | None = None
    """The last characters of its number."""
    type: str = "depository"
    subtype: str | None = None
    balances: PlaidBalances = PlaidBalances()


class PlaidTransaction(msgspec.Struct, frozen=True, kw_only=True):
    """A transaction; a posted one names the pending one that it replaces."""

    transaction_id: str
    account_id: str
    amount: Decimal
    date: datetime.date
    iso_currency_code: str | None = None
    unofficial_currency_code: str | None = None
    name: str | None = None
    original_description: str | None = None
    merchant_name: str | None = None
    pending: bool = False
    pending_transaction_id: str | None = None


class PlaidRemoved(msgspec.Struct, frozen=True, kw_only=True):
    """A transaction that is no more."""

    transaction_id: str
    account_id: str | None = None


class SyncPage(msgspec.Struct, frozen=True, kw_only=True):
    """One page of changes."""

    added: tuple[PlaidTransaction, ...]
    modified: tuple[PlaidTransaction, ...]
    removed: tuple[PlaidRemoved, ...]
    next_cursor: str
    has_more: bool
    accounts: tuple[PlaidAccount, ...] = ()


class PlaidFailure(msgspec.Struct, frozen=True, kw_only=True):
    """The body of an error."""

    error_type: str = ""
    error_code: str = ""
    error_message: str = ""
    display_message: str | None = None
