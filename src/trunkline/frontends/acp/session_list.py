"""Sessions as a client lists them, page by page."""

from __future__ import annotations

import base64
from datetime import UTC, datetime
from typing import Any

import msgspec
import orjson

from trunkline.errors import InvalidCommand
from trunkline.journal import SessionInfo
from trunkline.session.hub import Hub

_PAGE = 50


async def list_sessions(hub: Hub, principal: str, cwd: str | None, cursor: str | None) -> dict[str, Any]:
    """Give a page of the sessions that have a prompt, newest first."""
    before = read_cursor(cursor)
    shown: list[dict[str, Any]] = []
    while len(shown) < _PAGE:
        page = await hub.list(principal=principal, cwd=cwd, limit=_PAGE, before=before, begun=True)
        for info in page:
            before = (info.updated_at, info.session_id)
            if hub.may_run(info):
                shown.append(session_to_wire(info))
            if len(shown) == _PAGE:
                return {"sessions": shown, "nextCursor": write_cursor(before)}
        if len(page) < _PAGE:
            break
    return {"sessions": shown}


def session_to_wire(info: SessionInfo) -> dict[str, Any]:
    """Give a session as an entry of the list."""
    shown: dict[str, Any] = {
        "sessionId": info.session_id,
        "cwd": info.cwd or "/",
        "updatedAt": datetime.fromtimestamp(info.updated_at, UTC).isoformat(),
    }
    if info.roots:
        shown["additionalDirectories"] = list(info.roots)
    if info.title is not None:
        shown["title"] = info.title
    return shown


def write_cursor(before: tuple[float, str]) -> str:
    """Write the cursor after a session, with which the client asks for the next page."""
    return base64.urlsafe_b64encode(orjson.dumps(before)).decode()


def read_cursor(cursor: str | None) -> tuple[float, str] | None:
    """Read such a cursor.

    "Agents SHOULD return an error if the cursor is invalid"
    (https://agentclientprotocol.com/protocol/v1/session-list).
    """
    if cursor is None:
        return None
    try:
        return msgspec.convert(orjson.loads(base64.urlsafe_b64decode(cursor)), tuple[float, str])
    except ValueError:
        raise InvalidCommand("that is not a cursor of ours: begin again without one") from None
