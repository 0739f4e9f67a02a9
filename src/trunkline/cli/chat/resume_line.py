"""The command that goes on with a session, told to a person who leaves."""

from __future__ import annotations

import os
import shlex
import shutil
import sys

from trunkline.cli.journals import all_sessions, last_session, name_of, short_ids
from trunkline.errors import SessionNotFound
from trunkline.journal import Journal
from trunkline.journal.address import parse_address
from trunkline.session.session import Session


class ResumeLine:
    """Makes the line for one TARGET and journal, as they were given."""

    def __init__(self, target: str, journal: str | None) -> None:
        self._target = target
        self._journal = journal
        self._is_kept = parse_address(journal).scheme != "memory"

    def at_once(self, session: Session) -> str | None:
        """Give the line without a look at the journal; None if there is nothing to go on with."""
        if not self._is_kept or session.last_turn_id is None:
            return None
        return self._line("--session", session.session_id)

    async def find(self, journal: Journal, session: Session) -> str | None:
        """Give the shortest line that means this session; None if there is nothing to go on with."""
        if not self._is_kept or session.last_turn_id is None:
            return None
        info = await journal.get(session.key) or session.info
        if (name := name_of(info)) is not None:
            return self._line("--session", name)
        try:
            last = await last_session(journal, info.target, os.getcwd())
        except SessionNotFound:
            last = None
        if last is not None and last.key == info.key:
            return self._line("--continue")
        infos = [one async for one in all_sessions(journal)]
        return self._line("--session", short_ids(infos).get(session.session_id, session.session_id))

    def _line(self, *words: str) -> str:
        where = [] if self._journal is None else ["--journal", self._journal]
        return f"resume: {shlex.join([_program(), 'chat', self._target, *words, *where])}"


def _program() -> str:
    """Name our program as a shell finds it: by its path, where it was started by one and is not on PATH."""
    started = sys.argv[0]
    if os.path.basename(started) != "trunkline" or shutil.which("trunkline") is not None:
        return "trunkline"
    return started
