"""A desk on a ledger in memory, for the tools."""

from typing import Any

from tests.demos.finance.conversations import TODAY

from trunkline.demos.finance.agent import Desk
from trunkline.demos.finance.ledger.database import MEMORY
from trunkline.tools.results import json_value


def desk() -> Desk:
    """The made-up household, always on the same day."""
    return Desk(MEMORY, lambda: TODAY)


async def read(of: Desk, name: str, **arguments: object) -> dict[str, Any]:
    """Call a tool outside of a session, and give what a model reads."""
    return json_value(await of.tools.call(name, arguments, on_no_session="allow"))
