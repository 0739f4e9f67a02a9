"""A desk on a ledger in memory, for the tools."""

from typing import Any

from tests.demos.finance.conversations import TODAY

from trunkline.demos.finance.agent import Desk
from trunkline.demos.finance.ledger.database import MEMORY
from trunkline.demos.finance.statements.importing import ImportPlan, apply_import, plan_import
from trunkline.demos.finance.today import now
from trunkline.tools.results import json_value


def desk() -> Desk:
    """The made-up household, always on the same day."""
    return Desk(MEMORY, lambda: TODAY)


async def read(of: Desk, name: str, **arguments: object) -> dict[str, Any]:
    """Call a tool outside of a session, and give what a model reads."""
    return json_value(await of.tools.call(name, arguments, on_no_session="allow"))


def import_rows(of: Desk, *rows: tuple[str, str, str], account: str) -> ImportPlan:
    """Import bookings of one account: their texts, amounts and currencies."""
    lines = [
        f"2026-10-{day:02},{text},{amount},{currency},{account}"
        for day, (text, amount, currency) in enumerate(rows, 1)
    ]
    data = "\n".join(["Date,Description,Amount,Currency,Account number", *lines]).encode()
    with of.ledger.writing() as db:
        planned = plan_import(db, "bank.csv", data)
        assert isinstance(planned, ImportPlan)
        apply_import(db, planned, at=now())
    return planned
