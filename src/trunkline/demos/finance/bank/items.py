"""The banks that are linked. An access token is a secret: it is stored, and never shown."""

from __future__ import annotations

import sqlite3

import msgspec

from trunkline.demos.finance.bank.plaid_client import BankError

FAKE_TOKEN = "access-fake-bank"
"""The token of the bank on this machine, which is started for each sync."""
FAKE_NAME = "Fake Bank"


class BankItem(msgspec.Struct, frozen=True, kw_only=True):
    """A bank that is linked, without its token."""

    id: str
    institution: str
    fake: bool
    synced: bool
    """Whether it was synced at least once."""


def linked(db: sqlite3.Connection) -> bool:
    """Whether any bank is linked: without one there is no tool to sync."""
    return db.execute("SELECT 1 FROM bank_items LIMIT 1").fetchone() is not None


def list_items(db: sqlite3.Connection) -> list[BankItem]:
    """Give the banks that are linked."""
    rows = db.execute("SELECT id, institution, access_token, cursor FROM bank_items ORDER BY id")
    return [
        BankItem(id=row[0], institution=row[1], fake=row[2] == FAKE_TOKEN, synced=row[3] != "")
        for row in rows
    ]


def link_item(db: sqlite3.Connection, item_id: str, institution: str, access_token: str) -> None:
    """Link a bank. One that is linked gets the new token and goes on from its cursor."""
    if not access_token.strip() or not item_id.strip():
        raise BankError("a bank is linked by its id and an access token: one of them is empty")
    db.execute(
        "INSERT INTO bank_items (id, institution, access_token) VALUES (?, ?, ?) ON CONFLICT (id) DO UPDATE "
        "SET institution = excluded.institution, access_token = excluded.access_token",
        (item_id.strip(), institution, access_token.strip()),
    )


def link_fake_bank(db: sqlite3.Connection) -> None:
    """Link the bank on this machine, for trying it out."""
    link_item(db, "fake", FAKE_NAME, FAKE_TOKEN)


def unlink_item(db: sqlite3.Connection, item_id: str) -> None:
    """Forget a bank and its token; its transactions stay."""
    if not db.execute("DELETE FROM bank_items WHERE id = ?", (item_id,)).rowcount:
        known = ", ".join(item.id for item in list_items(db)) or "none"
        raise BankError(f"no bank {item_id!r} is linked; linked are: {known}")
