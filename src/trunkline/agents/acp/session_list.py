"""The sessions that exist at an agent: those of other programs too, which can be imported."""

from __future__ import annotations

from typing import Any, cast

from trunkline.agents.acp.connection import AgentConnection
from trunkline.agents.acp.initialize import capability
from trunkline.agents.interface import OwnSession
from trunkline.errors import AgentError

MAX_PAGES = 1000


async def list_sessions(
    connection: AgentConnection, name: str, cwd: str | None, within: float
) -> list[OwnSession]:
    """List all sessions of an agent, page by page; one that cannot list them raises AgentError."""
    if not capability(connection.initialize, "sessionCapabilities", "list"):
        raise AgentError(f"{name} does not offer a list of its sessions (session/list)")
    found: dict[str, OwnSession] = {}
    cursor: str | None = None
    for _ in range(MAX_PAGES):
        params = {"cwd": cwd, "cursor": cursor}
        sent = {key: value for key, value in params.items() if value is not None}
        page: Any = await connection.request("session/list", sent, within)
        fields = cast("dict[str, Any]", page) if isinstance(page, dict) else {}
        listed = fields.get("sessions")
        before = len(found)
        for item in cast("list[Any]", listed) if isinstance(listed, list) else ():
            if isinstance(item, dict) and isinstance(cast("dict[str, Any]", item).get("sessionId"), str):
                one = _read(cast("dict[str, Any]", item))
                found.setdefault(one.session_id, one)
        after = fields.get("nextCursor")
        # A cursor that leads nowhere new would lead there for ever.
        if not isinstance(after, str) or after == cursor or len(found) == before:
            break
        cursor = after
    return list(found.values())


def _read(item: dict[str, Any]) -> OwnSession:
    def text(name: str) -> str | None:
        value = item.get(name)
        return value if isinstance(value, str) and value else None

    return OwnSession(
        session_id=item["sessionId"], cwd=text("cwd"), title=text("title"), updated_at=text("updatedAt")
    )
