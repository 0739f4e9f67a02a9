"""Polls the journal: sessions follow what other processes wrote, and carry out what they posted.

It looks often only while a turn runs or somebody follows (``Settings.poll_busy``, else ``poll_idle``).
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable

from trunkline.errors import Corrupt, SessionNotFound, TrunklineError
from trunkline.journal import Journal, SessionKey
from trunkline.session.session import Session
from trunkline.session.settings import Settings

log = logging.getLogger("trunkline.hub")


class JournalPolling:
    """Watches one journal for the sessions of a hub."""

    def __init__(
        self,
        journal: Journal,
        owner: str,
        settings: Settings,
        sessions: dict[SessionKey, Session],
        open_session: Callable[[SessionKey], Awaitable[Session]],
    ) -> None:
        """Watch for the open ``sessions``; another one that ``owner`` holds is opened for its commands."""
        self._journal = journal
        self._owner = owner
        self._settings = settings
        self._sessions = sessions
        self._open_session = open_session
        self._change = asyncio.Event()
        self._activity = asyncio.Event()

    async def run(self) -> None:
        """Follow what other processes write and carry out what they post."""
        version = 0
        while True:
            try:
                version = await self._next_version(version)
                self._change.set()
                self._change = asyncio.Event()
                await self._follow_journal()
            except TrunklineError as error:
                log.warning("the journal could not be watched: %s", error)
                version = 0  # What was not attended to is looked at again, even if nothing follows.
                await asyncio.sleep(self._settings.poll_idle)

    async def changed(self, timeout: float) -> None:
        """Wait until the journal changed, at most ``timeout`` seconds."""
        change = self._change
        try:
            async with asyncio.timeout(timeout):
                await change.wait()
        except TimeoutError:
            return

    def notice_activity(self) -> None:
        """Notice at once that something began to run or to be followed."""
        self._activity.set()

    async def _next_version(self, version: int) -> int:
        """Wait for a change; look often only while something runs or is followed."""
        self._activity.clear()
        # Most changes are in a session that was asked for lately.
        lively = any(s.busy or s.event_stream.readers for s in reversed(self._sessions.values()))
        poll = self._settings.poll_busy if lively else self._settings.poll_idle
        looking = asyncio.ensure_future(self._journal.changes(version, poll=poll))
        activity = asyncio.ensure_future(self._activity.wait())
        try:
            await asyncio.wait({looking, activity}, return_when=asyncio.FIRST_COMPLETED)
            return looking.result() if looking.done() else version
        finally:
            looking.cancel()
            activity.cancel()

    async def _follow_journal(self) -> None:
        for session in list(self._sessions.values()):
            if session.event_stream.lease is None and not session.closed:
                try:
                    await session.event_stream.catch_up()
                except (SessionNotFound, Corrupt) as error:
                    session.fail(error)
        failure: TrunklineError | None = None
        for key in await self._journal.inbox(self._owner):
            try:
                # A session whose journal failed was closed here, but this process still owns it.
                session = self._sessions.get(key) or await self._open_session(key)
            except TrunklineError as error:
                failure = error  # The others have commands too.
                continue
            if not session.closed:
                session.remote.carry_out_soon()
        if failure is not None:
            raise failure
