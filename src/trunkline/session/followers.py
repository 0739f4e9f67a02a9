"""Cancels a turn that no reader follows any more."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

__all__ = ["FollowerWatch"]


class FollowerWatch:
    """Cancels a session's turn once no reader has followed it for a while."""

    def __init__(
        self,
        limit: float | None,
        *,
        is_running: Callable[[], bool],
        is_suspended: Callable[[], bool],
        cancel: Callable[[str], None],
    ) -> None:
        """Watch a session; ``limit`` is in seconds (None: a turn may run without a reader)."""
        self._limit = limit
        self._is_running = is_running
        self._is_suspended = is_suspended
        self._cancel = cancel
        self._timer: asyncio.TimerHandle | None = None

    def followers_changed(self, followers: int) -> None:
        """Take the number of readers as it is now, also when a turn begins or ends."""
        self.close()
        if not followers and self._limit is not None and self._is_running():
            self._timer = asyncio.get_running_loop().call_later(self._limit, self._expire)

    def close(self) -> None:
        """Stop the timer."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _expire(self) -> None:
        if self._is_suspended():
            # It waits for a person, for as long as its questions stay open.
            self.followers_changed(0)
        elif self._is_running():
            self._cancel("no reader followed the turn any more")
