"""Reads all changes of a bank since a cursor, page by page; nothing is stored here."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from trunkline.demos.finance.bank.plaid_client import BankError, PaginationChanged, PlaidClient
from trunkline.demos.finance.bank.plaid_wire import PlaidAccount, PlaidRemoved, PlaidTransaction

_MOST_RESTARTS = 5
_MOST_CHANGES = 200_000
_MOST_PAGES = 5000


class Changes(NamedTuple):
    """All changes of one bank since a cursor."""

    added: list[PlaidTransaction]
    modified: list[PlaidTransaction]
    removed: list[PlaidRemoved]
    accounts: dict[str, PlaidAccount]
    cursor: str
    pages: int
    restarts: int


def read_changes(
    client: PlaidClient, token: str, cursor: str, progress: Callable[[str], object] | None = None
) -> Changes:
    """Read all pages after a cursor; begin again with that cursor when the data changes between two."""
    for restarts in range(_MOST_RESTARTS + 1):
        changes = Changes([], [], [], {}, cursor, 0, restarts)
        try:
            for number in range(1, _MOST_PAGES + 1):
                page = client.sync_page(token, changes.cursor)
                changes.added.extend(page.added)
                changes.modified.extend(page.modified)
                changes.removed.extend(page.removed)
                changes.accounts.update((account.account_id, account) for account in page.accounts)
                changes = changes._replace(cursor=page.next_cursor, pages=number)
                count = len(changes.added) + len(changes.modified) + len(changes.removed)
                if progress is not None:
                    progress(f"{count} changes in {number} page{'s' * (number > 1)}")
                if not page.has_more:
                    return changes
                if count > _MOST_CHANGES:
                    raise BankError(f"it has more than {_MOST_CHANGES} changes at once: this is not read")
            raise BankError("its pages do not end: nothing was changed")
        except PaginationChanged:
            continue
    raise BankError("its data changed again and again while it was read: try again later")
