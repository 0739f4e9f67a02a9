"""Wakes those who wait for a change of the journal.

How often to look is their choice (``session.journal_polling``). However many wait, one timer looks for what
other processes changed; our own changes are told at once.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from trunkline.errors import JournalError


class ChangeWaiters:
    """Turns a mark that differs after every change into a version that only grows.

    ``look`` gives the mark (two marks can only be compared for being equal), or None when it
    cannot be told just now. Everything here runs on the event loop's thread.
    """

    def __init__(self, look: Callable[[], int | None]) -> None:
        self._look = look
        self._mark = look()
        self._version = 1
        self._waiters: dict[asyncio.Future[int], float | None] = {}
        self._timer: asyncio.TimerHandle | None = None

    def refresh(self) -> None:
        """Look now, and wake every waiter if something changed."""
        mark = self._look()
        if mark is None or mark == self._mark:
            return
        self._mark = mark
        self._version += 1
        for waiter in self._waiters:
            if not waiter.done():
                waiter.set_result(self._version)

    async def wait(self, since: int, poll: float | None) -> int:
        """Wait for a version other than ``since``; ``poll`` None waits to be told by refresh()."""
        self.refresh()
        if self._version != since:
            return self._version
        waiter: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self._waiters[waiter] = poll
        self._schedule()
        try:
            return await waiter
        finally:
            del self._waiters[waiter]
            if not self._waiters:
                self._stop()

    def close(self, error: Callable[[], JournalError]) -> None:
        """Send every waiter home."""
        self._stop()
        for waiter in self._waiters:
            if not waiter.done():
                waiter.set_exception(error())

    def _schedule(self) -> None:
        polls = [poll for poll in self._waiters.values() if poll is not None]
        if not polls:
            return
        loop = asyncio.get_running_loop()
        due = loop.time() + min(polls)
        if self._timer is None or self._timer.when() > due:
            self._stop()
            self._timer = loop.call_at(due, self._tick)

    def _tick(self) -> None:
        self._timer = None
        self.refresh()
        self._schedule()

    def _stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
