"""Brings the changes of every linked bank into the ledger.

All pages of a bank are read first; then one transaction applies them and stores the cursor. Whatever breaks
off before that leaves the ledger and the cursor as they were, and the next sync begins at the same place:
nothing is lost, and nothing comes twice.
"""

from __future__ import annotations

import asyncio
import datetime
import os
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path

import msgspec

from trunkline.demos.finance.bank.applying import Applying, ItemSynced
from trunkline.demos.finance.bank.changes import read_changes
from trunkline.demos.finance.bank.fake_bank import CLIENT_ID, SECRET
from trunkline.demos.finance.bank.fake_days import demo_bank
from trunkline.demos.finance.bank.items import FAKE_TOKEN
from trunkline.demos.finance.bank.plaid_client import BankError, PlaidClient, is_local
from trunkline.demos.finance.ledger.database import Ledger
from trunkline.demos.finance.ledger.environment import environment
from trunkline.demos.finance.statements.undo import BANK

Progress = Callable[[str], object]


class Synced(msgspec.Struct, frozen=True, kw_only=True):
    """What a sync did, bank by bank."""

    items: tuple[ItemSynced, ...]

    @property
    def added(self) -> int:
        """New transactions of all banks."""
        return sum(item.added for item in self.items)

    @property
    def errors(self) -> tuple[str, ...]:
        """What failed, with the bank's name."""
        return tuple(f"{item.institution}: {item.error}" for item in self.items if item.error is not None)


def bank_variables(folder: Path | None = None) -> dict[str, str]:
    """Give the variables of the process and of ``.env`` in a folder.

    A file in some folder may not name another server: that would get the access tokens.
    """
    variables = environment(folder)
    address = variables.get("PLAID_BASE_URL")
    if address and "PLAID_BASE_URL" not in os.environ and not is_local(address):
        raise BankError(
            ".env names a bank server (PLAID_BASE_URL): set that variable in the environment instead"
        )
    return variables


async def sync_banks(
    ledger: Ledger,
    *,
    at: datetime.datetime,
    variables: Mapping[str, str],
    progress: Progress | None = None,
) -> Synced:
    """Sync every linked bank in a thread; ``progress`` is called in the thread of the loop."""
    loop = asyncio.get_running_loop()

    def tell(text: str) -> None:
        if progress is not None:
            loop.call_soon_threadsafe(progress, text)

    return await asyncio.to_thread(sync_all, ledger, at=at, variables=variables, progress=tell)


def sync_all(
    ledger: Ledger,
    *,
    at: datetime.datetime,
    variables: Mapping[str, str],
    progress: Progress | None = None,
) -> Synced:
    """Sync every linked bank; the failure of one is in its result and does not stop the others."""
    with ledger.reading() as db:
        items = db.execute("SELECT id, institution, access_token FROM bank_items ORDER BY id").fetchall()
    done: list[ItemSynced] = []
    for item_id, institution, token in items:
        try:
            with ExitStack() as stack:
                client = _client(token, at.date(), variables, stack)
                done.append(sync_item(ledger, client, item_id, at=at, progress=progress))
        except BankError as error:
            done.append(ItemSynced(item_id=item_id, institution=institution, error=str(error)))
    return Synced(items=tuple(done))


def sync_item(
    ledger: Ledger,
    client: PlaidClient,
    item_id: str,
    *,
    at: datetime.datetime,
    progress: Progress | None = None,
) -> ItemSynced:
    """Sync one bank: read all pages, then apply them and the cursor in one transaction."""
    with ledger.reading() as db:
        row = db.execute(
            "SELECT institution, access_token, cursor FROM bank_items WHERE id = ?", (item_id,)
        ).fetchone()
    if row is None:
        raise BankError(f"no bank {item_id!r} is linked")
    institution, token, cursor = row
    changes = read_changes(
        client, token, cursor, lambda text: progress and progress(f"{institution}: {text}")
    )
    with ledger.writing() as db:
        moved = db.execute(
            "UPDATE bank_items SET cursor = ? WHERE id = ? AND cursor = ?", (changes.cursor, item_id, cursor)
        ).rowcount
        if not moved:
            raise BankError("another sync of this bank was quicker, and has its changes; nothing is missing")
        source = "demo" if token == FAKE_TOKEN else BANK
        return Applying(db, item_id, institution, source, at).apply(changes)


def _client(token: str, today: datetime.date, variables: Mapping[str, str], stack: ExitStack) -> PlaidClient:
    """Give the client for a bank; the fake one is started for this sync."""
    if token != FAKE_TOKEN:
        return PlaidClient.from_environment(variables)
    bank = stack.enter_context(demo_bank(today))
    return PlaidClient(bank.base_url, CLIENT_ID, SECRET)
