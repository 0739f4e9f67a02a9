"""The journal of a command: open it, list its sessions, find one by its id or the beginning of it."""

from __future__ import annotations

import difflib
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager

from trunkline.errors import InvalidCommand, SessionNotFound
from trunkline.journal import Journal, SessionInfo, SessionKey, open_journal

_SHORTEST_PREFIX = 8
_PAGE = 500


@asynccontextmanager
async def opened_journal(address: str | None) -> AsyncGenerator[Journal]:
    """Open the journal that was chosen, or the default one."""
    journal = await open_journal(address)
    try:
        yield journal
    finally:
        await journal.close()


async def all_sessions(
    journal: Journal, limit: int | None = None, *, begun: bool = False
) -> AsyncIterator[SessionInfo]:
    """Give the sessions of all principals, newest first; with ``begun`` only those with a prompt."""
    before: tuple[float, str] | None = None
    left = limit
    while left is None or left > 0:
        size = _PAGE if left is None else min(left, _PAGE)
        page = await journal.list(None, limit=size, before=before, begun=begun)
        for info in page:
            yield info
        if len(page) < size:
            return
        left = None if left is None else left - len(page)
        before = (page[-1].updated_at, page[-1].session_id)


async def find_session(journal: Journal, session_id: str) -> SessionInfo:
    """Give the session with this id or unique prefix; the error names similar ids."""
    known = await journal.get(SessionKey("local", session_id))
    if known is not None:
        return known
    all_infos = [info async for info in all_sessions(journal)]
    found = [info for info in all_infos if info.session_id == session_id]
    if not found and len(session_id) >= _SHORTEST_PREFIX:
        found = [info for info in all_infos if info.session_id.startswith(session_id)]
    if len(found) == 1:
        return found[0]
    if found:
        listed = ", ".join(info.session_id for info in found[:5])
        raise InvalidCommand(f"{session_id!r} is the beginning of {len(found)} sessions: {listed}; add more")
    ids = [info.session_id for info in all_infos]
    near = [i for i in ids if i.startswith(session_id)][:3]
    near = near or difflib.get_close_matches(session_id, ids, n=3)
    hint = f"; near to it: {', '.join(near)}" if near else ""
    raise SessionNotFound(
        f"there is no session {session_id!r} in {journal.url}{hint}; `trunkline sessions list` shows all"
    )
