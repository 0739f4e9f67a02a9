"""Sync with the linked banks; the tool is there only if one is linked."""

from __future__ import annotations

from typing import Any

from trunkline.demos.finance.bank.sync import bank_variables, sync_banks
from trunkline.demos.finance.ledger.database import Ledger
from trunkline.demos.finance.today import now
from trunkline.tools import ToolContext, ToolError, ToolRegistry

__all__ = ["register_bank"]


def register_bank(registry: ToolRegistry, ledger: Ledger) -> None:
    """Add the sync."""

    @registry.register(kind="fetch", title="Sync with the bank")
    async def sync_transactions(*, ctx: ToolContext) -> dict[str, Any]:
        """Fetch new, changed and removed transactions from every linked bank.

        Safe to call again: what was fetched is not fetched twice.
        """
        synced = await sync_banks(ledger, at=now(), variables=bank_variables(), progress=ctx.progress)
        if synced.errors and len(synced.errors) == len(synced.items):
            raise ToolError("; ".join(synced.errors))
        return {
            "institutions": ", ".join(one.institution for one in synced.items),
            "added": sum(one.added for one in synced.items),
            "modified": sum(one.modified for one in synced.items),
            "removed": sum(one.removed for one in synced.items),
            "errors": list(synced.errors),
        }
