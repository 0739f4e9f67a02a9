"""Renews the leases of the sessions that a process owns: in time, and at once when a session asks for it.

A lease that the journal does not confirm is lost: another process took the session over, or deleted it.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from typing import Protocol

from trunkline.errors import TrunklineError
from trunkline.journal import Journal
from trunkline.journal.lease_clock import lease_clock
from trunkline.session.stream.event_stream import EventStream

log = logging.getLogger("trunkline.hub")


class LeaseHolder(Protocol):
    """What holds the lease of one session, if this process has it."""

    stream: EventStream

    async def lose(self) -> None:
        """Stop being the owner: another process has taken the session."""


class LeaseRenewal:
    """Keeps the leases of one process."""

    def __init__(
        self, journal: Journal, owner: str, ttl: float, holders: Callable[[], Sequence[LeaseHolder]]
    ) -> None:
        """Renew under the name ``owner``; a lease stands for ``ttl`` seconds after it was renewed.

        ``holders`` gives one for every open session, also for those that other processes own.
        """
        self._journal = journal
        self._owner = owner
        self._ttl = ttl
        self._holders = holders
        self._renewing: asyncio.Task[None] | None = None

    async def run(self) -> None:
        """Renew the leases every third of their time."""
        while True:
            await asyncio.sleep(self._ttl / 3)
            await self._try_to_renew()

    async def close(self) -> None:
        """Give up what ``renew_soon`` began."""
        if self._renewing is not None:
            self._renewing.cancel()
            await asyncio.gather(self._renewing, return_exceptions=True)

    @property
    def is_renewing(self) -> bool:
        """Whether leases are being renewed because a session asked for it."""
        return self._renewing is not None and not self._renewing.done()

    def renew_soon(self) -> None:
        """Renew the leases now, beside what goes on."""
        if not self.is_renewing:
            self._renewing = asyncio.create_task(self._try_to_renew(), name="trunkline renew now")

    async def _try_to_renew(self) -> None:
        try:
            await self.renew()
        except TrunklineError as error:
            log.warning("the leases could not be renewed: %s", error)

    async def renew(self) -> None:
        """Extend every lease of this process; a session whose lease is gone stops serving."""
        ours = [(one, one.stream.lease) for one in self._holders() if one.stream.lease is not None]
        asked_at = lease_clock()
        held = await self._journal.renew(self._owner, self._ttl)
        for holder, lease in ours:
            stream = holder.stream
            if stream.lease is not lease:
                continue
            if held.get(stream.key) == lease.fence:
                stream.extend_lease(asked_at + self._ttl)
            else:
                log.warning("another process took session %s over", stream.key.session_id)
                await holder.lose()
