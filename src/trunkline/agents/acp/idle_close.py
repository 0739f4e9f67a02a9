"""Ends the process of a session that nobody uses; the next prompt starts one and loads the session again."""

from __future__ import annotations

import asyncio
from collections.abc import Callable


class IdleClose:
    """Ends a session's process once nobody has used it for a while."""

    def __init__(self, limit: float | None, is_used: Callable[[], bool], end: Callable[[], None]) -> None:
        """Watch a session; ``limit`` is in seconds (None: its process may stay unused)."""
        self._limit = limit
        self._is_used = is_used
        self._end = end
        self._timer: asyncio.TimerHandle | None = None

    def schedule(self) -> None:
        """Count the time anew."""
        self.cancel()
        if self._limit is not None:
            self._timer = asyncio.get_running_loop().call_later(self._limit, self._on_timer)

    def cancel(self) -> None:
        """Leave the process alone, however long it takes."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _on_timer(self) -> None:
        if self._is_used():
            self.schedule()
        else:
            self._end()
