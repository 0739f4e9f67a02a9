"""Cancels a turn that no reader has followed for ``Settings.abandon_after`` seconds."""

from __future__ import annotations

import asyncio
from collections.abc import Callable


class FollowerWatch:
    """Cancels a session's turn once no reader has followed it for a while."""

    def __init__(self, limit: float | None, expire: Callable[[], bool]) -> None:
        """Watch a session; ``limit`` is in seconds (None: a turn may run without a reader).

        ``expire`` cancels the turn, or gives True if it shall be called again after the same time.
        """
        self._limit = limit
        self._expire = expire
        self._timer: asyncio.TimerHandle | None = None

    def followers_changed(self, followers: int, *, running: bool) -> None:
        """Take the number of readers as it is now, also when a turn begins or ends."""
        self.close()
        if running and not followers and self._limit is not None:
            self._timer = asyncio.get_running_loop().call_later(self._limit, self._on_timer)

    def close(self) -> None:
        """Stop the timer."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _on_timer(self) -> None:
        if self._expire():
            self.followers_changed(0, running=True)
