"""Pruning: removes in slices what ``retention`` finds, one small commit after the other.

A session that goes, or begins later, does so in one quick step: from then on nobody reads the records that it
leaves behind. Those are removed in slices, between which everybody else has a turn. Whatever a crash leaves
is found the next time.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, Protocol, TypeVar

from trunkline.journal import retention
from trunkline.journal.fair_queue import Work
from trunkline.journal.lease_clock import Moment

T = TypeVar("T")


class _Run(Protocol):
    def __call__(self, work: Work[T], /) -> Awaitable[T]: ...


class Pruning:
    """Forgets things of one journal."""

    def __init__(self, read: _Run, write: _Run) -> None:
        self._read = read
        self._write = write

    async def discard_old(self, cutoff: float, now: Callable[[], Moment]) -> int:
        """Forget the sessions that nobody used since ``cutoff``; give the number of their records."""
        forgotten = 0
        for session in await self._read(lambda db: retention.find_idle(db, cutoff, now())):
            work: Work[int] = partial(retention.discard_old, session=session, cutoff=cutoff, now=now())
            forgotten += await self._write(work)
        return forgotten

    async def trim(self, max_bytes: int) -> int:
        """Forget the oldest turns of sessions above a size; give the number of their records."""
        forgotten = 0
        for session in await self._read(lambda db: retention.find_large(db, max_bytes)):
            find: Work[Any] = partial(retention.find_cut, session=session, max_bytes=max_bytes)
            if (cut := await self._read(find)) is not None:
                forgotten += await self._write(partial(retention.trim, cut=cut))
        return forgotten

    async def remove_leftovers(self, session: int | None = None) -> None:
        """Remove the records that sessions left behind, or that one of them did."""
        sessions = await self._read(retention.find_leftovers) if session is None else [session]
        for number in sessions:
            while await self._write(partial(retention.remove_leftovers, session=number)):
                pass

    async def sweep_blobs(self, cutoff: float) -> None:
        """Remove the blobs that nothing mentions and that are older than ``cutoff``."""
        if not await self._read(lambda db: retention.has_old_blobs(db, cutoff)):
            return
        known: retention.Mentions | None = await self._read(retention.find_mentions)
        while known is not None:
            known = await self._write(partial(retention.sweep, cutoff=cutoff, known=known))
