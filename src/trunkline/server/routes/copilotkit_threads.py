"""The list of threads that CopilotKit's ``useThreads`` asks for.

``GET /copilotkit/threads?agentId=...`` gives the threads of one agent, newest first. They cannot be renamed
or deleted there: ``/sessions`` does that for a token that may.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

from trunkline.errors import PeerError
from trunkline.journal import SessionInfo
from trunkline.server.agents import ServedAgents

THREAD_ENDPOINTS = {"list": True, "inspect": False, "mutations": False}
"""What a page is told of these routes before it asks."""
_PAGE = 50
_MOST = 200


async def list_threads(agents: ServedAgents, principal: str, query: Mapping[str, str]) -> dict[str, Any]:
    """A page of the threads of an agent; ``nextCursor`` is where the following page begins."""
    name = query.get("agentId")
    agent = agents.resolve_name(name)
    limit = _limit(query.get("limit"))
    before = _place(query.get("cursor"))
    journal = await agents.open()
    threads: list[SessionInfo] = []
    while len(threads) < limit:
        found = await journal.list(principal, limit=limit, before=before, begun=True)
        for info in found:
            before = (info.updated_at, info.session_id)
            if agents.agent_of(info) == agent:
                threads.append(info)
            if len(threads) == limit:
                break
        if len(found) < limit:
            before = None
            break
    return {
        "threads": [_thread(info, name or agent) for info in threads],
        "nextCursor": None if before is None else f"{before[0]!r}~{before[1]}",
    }


def _thread(info: SessionInfo, agent: str) -> dict[str, Any]:
    updated = _moment(info.updated_at)
    return {
        "id": info.session_id,
        "agentId": agent,
        "name": info.title,
        "archived": False,
        "createdAt": _moment(info.created_at),
        "updatedAt": updated,
        "lastRunAt": updated,
    }


def _moment(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).isoformat().replace("+00:00", "Z")


def _limit(text: str | None) -> int:
    if text is None:
        return _PAGE
    if not (text.isascii() and text.isdecimal() and 0 < len(text) < 10 and int(text)):
        raise PeerError(f"limit is {text[:40]!r}: give a whole number of at least 1")
    return min(int(text), _MOST)


def _place(cursor: str | None) -> tuple[float, str] | None:
    if cursor is None:
        return None
    at, mark, session_id = cursor.partition("~")
    with suppress(ValueError):
        if mark:
            return float(at), session_id
    raise PeerError("cursor does not name a page: send the `nextCursor` of the page before")
