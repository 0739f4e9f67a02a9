"""Ownership: how a session becomes this process's to run, stays so, and stops being so.

An owner trusts its lease only until its own deadline. After that it asks the journal before it carries
out a command or shows anything. If somebody else has taken the session meanwhile, it becomes a follower
of that owner, or, when it was in the middle of a turn, ends here with the reason.
"""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING

from trunkline.errors import Fenced, SessionNotFound
from trunkline.journal import Held, Lease
from trunkline.journal.lease_clock import lease_clock
from trunkline.session.adopt import why_over
from trunkline.session.owners import is_gone

if TYPE_CHECKING:
    from trunkline.session.session import Session

__all__ = ["Ownership"]


class Ownership:
    """Claims a session's lease and gives it up."""

    def __init__(self, session: Session) -> None:
        """Serve one session; nothing is claimed yet."""
        self._session = session
        self._claiming = asyncio.Lock()
        session.event_stream.on_doubt = self._in_doubt

    @property
    def is_claiming(self) -> bool:
        """Whether a claim is on its way."""
        return self._claiming.locked()

    async def claim(self) -> bool:
        """Become the owner if nobody else is; True when this process owns the session."""
        stream = self._session.event_stream
        if stream.lease_is_current:
            return True
        async with self._claiming:
            if stream.lease is not None and not stream.lease_is_current:
                await self._session.hub.renew_leases()
            if stream.lease is not None:
                return True
            self._session.check_open()
            return await self._claim()

    async def _claim(self) -> bool:
        session = self._session
        hub = session.hub
        if not hub.may_run(session.info):
            return False
        ttl, asked_at = session.settings.lease_ttl, lease_clock()
        claimed = await hub.journal.claim(session.key, hub.owner, ttl)
        if isinstance(claimed, Held) and is_gone(claimed.owner):
            # Its lease would run out anyway; it only keeps the living waiting.
            await hub.journal.release(Lease(session.key, claimed.owner, claimed.fence, 0))
            asked_at = lease_clock()
            claimed = await hub.journal.claim(session.key, hub.owner, ttl)
        if isinstance(claimed, Held):
            return False
        await session.event_stream.catch_up()
        # Asked before anything is carried out here: meanwhile nobody takes the session for free.
        why = await why_over(session)
        session.event_stream.take(claimed, asked_at + ttl)
        await session.recover(why)
        return True

    async def lose(self) -> None:
        """Stop being the owner: somebody else has taken the session."""
        session, stream = self._session, self._session.event_stream
        if (turn := session.turn) is not None and not turn.live and not stream.in_doubt:
            # It has ended, and is being written: either that is done soon, or it fails soon.
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(session.settings.finish_grace):
                    await turn.settled.wait()
        if not session.closed and session.turn is None and not stream.unwritten:
            await self._follow()
            return
        error = Fenced(
            "another process took this session over while this one did not answer; "
            "open it again to see what is stored"
        )
        stream.fail(error)  # Also while it is being closed: somebody may wait for the lease.
        session.fail(error)

    async def _follow(self) -> None:
        session, stream = self._session, self._session.event_stream
        stream.step_down()
        try:
            await stream.catch_up()
        except SessionNotFound as error:
            session.fail(error)

    def _in_doubt(self) -> None:
        """Ask at once whether the lease is still ours: something waits to be shown and written."""
        self._session.hub.renew_soon()
