"""The journal of a command: open it, list its sessions, find one by its id, its beginning or its name.

A person may give a session a name of its own (``--session work``). It is kept with the session in the
journal, and names one session of each TARGET.
"""

from __future__ import annotations

import asyncio
import difflib
import os
import re
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TypeVar

from trunkline.errors import ConfigurationError, InvalidCommand, SessionNotFound
from trunkline.journal import Journal, SessionInfo, SessionKey, open_journal
from trunkline.journal.address import DEFAULT_TEXT, parse_address

T = TypeVar("T")

NAME_KEY = "trunkline.name"
"""Under which a session's name is kept with it."""
PREFIX = "sess_"
"""The beginning of the ids that we make."""
_SHORTEST_PREFIX = 8
_SHORTEST_DIGITS = 4
SHORT = len(PREFIX) + 6
"""How much of an id is shown where it is enough to find the session."""
_WHOLE = 20
"""How long an id that is not ours may be to be shown whole."""
_PAGE = 500
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_LIKE_AN_ID = re.compile(rf"{PREFIX}.*|[0-9a-f]{{4,}}")


@asynccontextmanager
async def opened_journal(address: str | None) -> AsyncGenerator[Journal]:
    """Open the journal that was chosen, or the default one."""
    journal = await open_journal(address)
    try:
        yield journal
    finally:
        await journal.close()


def use_journal(address: str | None, work: Callable[[Journal], Awaitable[T]]) -> T:
    """Do something with the journal that was chosen; one that is named has to be there."""
    chosen = parse_address(address)
    if address is not None and chosen.scheme == "sqlite" and not os.path.exists(chosen.path):
        raise ConfigurationError(
            f"there is no journal {chosen}: `trunkline exec` makes one; the default is {DEFAULT_TEXT}"
        )

    async def run() -> T:
        async with opened_journal(address) as journal:
            return await work(journal)

    return asyncio.run(run())


async def all_sessions(
    journal: Journal, limit: int | None = None, *, begun: bool = False, cwd: str | None = None
) -> AsyncIterator[SessionInfo]:
    """Give the sessions of all principals, newest first; with ``begun`` only those with a prompt."""
    before: tuple[float, str] | None = None
    left = limit
    while left is None or left > 0:
        size = _PAGE if left is None else min(left, _PAGE)
        page = await journal.list(None, limit=size, before=before, begun=begun, cwd=cwd)
        for info in page:
            yield info
        if len(page) < size:
            return
        left = None if left is None else left - len(page)
        before = (page[-1].updated_at, page[-1].session_id)


# -- names and short ids ---------------------------------------------------------------------------


def name_of(info: SessionInfo) -> str | None:
    """Give the name that a person gave to a session."""
    name = (info.kept or {}).get(NAME_KEY)
    return name if isinstance(name, str) else None


def is_name(text: str) -> bool:
    """Whether a text can be the name of a session: one that cannot be taken for an id."""
    return _NAME.fullmatch(text) is not None and _LIKE_AN_ID.fullmatch(text) is None


def short_ids(infos: list[SessionInfo]) -> dict[str, str]:
    """Give each session's id as short as it can be typed: at least six digits, and no other begins so."""
    ordered = sorted({info.session_id for info in infos})
    short: dict[str, str] = {}
    for index, one in enumerate(ordered):
        beside = ordered[max(0, index - 1) : index] + ordered[index + 1 : index + 2]
        shared = max((_shared(one, other) for other in beside), default=0)
        size = max(SHORT, shared + 1)
        short[one] = one[:size] if one.startswith(PREFIX) or len(one) > _WHOLE else one
    return short


def _shared(one: str, other: str) -> int:
    """How many characters two ids begin with alike."""
    size = min(len(one), len(other))
    return next((index for index in range(size) if one[index] != other[index]), size)


def _begins(info: SessionInfo, text: str) -> bool:
    """Whether a text is the beginning of an id, with or without the ``sess_`` before it.

    Of an id that is not ours a few digits are enough as well. Other words might be meant as a new name, so
    they have to be longer.
    """
    is_digits = not text.startswith(PREFIX) and _LIKE_AN_ID.fullmatch(text) is not None
    shortest = _SHORTEST_DIGITS if is_digits else _SHORTEST_PREFIX
    if len(text) >= shortest and info.session_id.startswith(text):
        return True
    return len(text) >= _SHORTEST_DIGITS and info.session_id.startswith(PREFIX + text)


# -- finding one -----------------------------------------------------------------------------------


async def find_session(journal: Journal, wanted: str, target: str | None = None) -> SessionInfo:
    """Give the session with this id, name or unique beginning; the error names similar ids.

    A name is looked for among the sessions of ``target``, if that is given.
    """
    found = await look_for_session(journal, wanted, target)
    if found is not None:
        return found
    ids = [info.session_id async for info in all_sessions(journal)]
    begun = [i for i in ids if wanted and i.startswith((wanted, PREFIX + wanted))][:3]
    near = begun or difflib.get_close_matches(wanted, ids, n=3)
    words = "write more of its id, at least four digits" if begun else "near to it"
    hint = f"; {words}: {', '.join(near)}" if near else ""
    raise SessionNotFound(
        f"there is no session {wanted!r} in {journal.url}{hint}; `trunkline sessions list` shows all"
    )


async def look_for_session(journal: Journal, wanted: str, target: str | None = None) -> SessionInfo | None:
    """Give the session with this id, name or unique beginning, or None; refuses what means several."""
    known = await journal.get(SessionKey("local", wanted))
    if known is not None:
        return known
    infos = [info async for info in all_sessions(journal)]
    found = [info for info in infos if info.session_id == wanted]
    found = found or [
        info for info in infos if name_of(info) == wanted and (target is None or info.target == target)
    ]
    found = found or [info for info in infos if _begins(info, wanted)]
    if len(found) > 1:
        listed = ", ".join(info.session_id for info in found[:5])
        named = any(name_of(info) == wanted for info in found)
        what = "the name" if named else "the beginning"
        raise InvalidCommand(f"{wanted!r} is {what} of {len(found)} sessions: {listed}; say which by its id")
    return found[0] if found else None


async def last_session(journal: Journal, target: str, cwd: str) -> SessionInfo:
    """Give the newest session of a folder and TARGET in which something was said."""
    async for info in all_sessions(journal, begun=True, cwd=cwd):
        if info.target == target and info.principal == "local":
            return info
    raise SessionNotFound(
        f"there is no session of this agent in {cwd} to continue: leave --continue out to begin one, or see "
        "`trunkline sessions list`"
    )
