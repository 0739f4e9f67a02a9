"""Banks and ledgers for tests of the sync."""

import datetime
from typing import Any

from trunkline.demos.finance.bank.applying import ItemSynced
from trunkline.demos.finance.bank.fake_bank import CLIENT_ID, SECRET, FakeBank
from trunkline.demos.finance.bank.items import link_item
from trunkline.demos.finance.bank.plaid_client import PlaidClient
from trunkline.demos.finance.bank.sync import sync_item
from trunkline.demos.finance.ledger.database import MEMORY, Ledger

TOKEN = "access-test-1"
AT = datetime.datetime(2026, 11, 18, 9, 0, tzinfo=datetime.UTC)


def new_bank(page_size: int = 100) -> FakeBank:
    """Give a bank with one account."""
    bank = FakeBank(TOKEN, page_size=page_size)
    bank.add_account("acc", name="Checking", mask="3000")
    return bank


def new_ledger(url: str = MEMORY) -> Ledger:
    """Give a ledger with that bank linked."""
    ledger = Ledger(url)
    with ledger.writing() as db:
        link_item(db, "item", "Test Bank", TOKEN)
    return ledger


def transaction(
    number: int | str, amount: float = 4.5, day: int = 1, name: str = "Coffee", **more: Any
) -> dict[str, Any]:
    """Give a transaction of the wire."""
    return {
        "transaction_id": f"t{number}",
        "account_id": "acc",
        "amount": amount,
        "iso_currency_code": "EUR",
        "date": f"2026-03-{day:02d}",
        "name": name,
        "pending": False,
        **more,
    }


def client_of(bank: FakeBank, timeout: float = 10.0) -> PlaidClient:
    """Give a client of a bank."""
    return PlaidClient(bank.base_url, CLIENT_ID, SECRET, timeout=timeout)


def sync(ledger: Ledger, bank: FakeBank) -> ItemSynced:
    """Sync the bank into the ledger."""
    return sync_item(ledger, client_of(bank), "item", at=AT)


def held(ledger: Ledger) -> dict[str, tuple[str, int, str, int]]:
    """Give what the ledger has of the bank, by the bank's ids: (day, amount, description, pending)."""
    with ledger.reading() as db:
        rows = db.execute(
            "SELECT identity, posted, amount, description, pending FROM transactions"
        ).fetchall()
    return {row[0].removeprefix("plaid:"): row[1:] for row in rows}


def wanted(bank: FakeBank) -> dict[str, tuple[str, int, str, int]]:
    """Give what a ledger must have of the bank."""
    return {
        one: (state["date"], -round(state["amount"] * 100), state["name"], int(state["pending"]))
        for one, state in bank.transactions().items()
    }
