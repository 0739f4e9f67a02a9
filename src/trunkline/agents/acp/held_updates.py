"""Holds an agent's updates until it is decided whether a message is part of the running turn.

An agent's answer to a message for its turn and what it says next may come in one piece. The message has to be
journalled before what is said because of it.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from typing import Any

HOLD_WITHIN = 1.0
"""Seconds after which updates are not held any longer, whatever the agent answers."""
HOLD_LIMIT = 1000
"""Updates that are held at most."""
HOLD_CHARACTERS = 4 * 1024 * 1024
"""How long they may be together."""


class HeldUpdates:
    """The updates of one session that wait."""

    def __init__(self, take: Callable[[Mapping[str, Any]], Any]) -> None:
        """Give updates to ``take`` when they are released."""
        self._take = take
        self._waiting: list[Mapping[str, Any]] | None = None
        self._size = 0
        self._timer: asyncio.TimerHandle | None = None
        self.released = asyncio.Event()
        """Set while nothing is held."""
        self.released.set()

    def hold(self) -> None:
        """Hold what comes from now on, for a while."""
        if self._waiting is None:
            self._waiting, self._size = [], 0
            self.released.clear()
            self._timer = asyncio.get_running_loop().call_later(HOLD_WITHIN, self.release)

    def keeps(self, update: Mapping[str, Any]) -> bool:
        """Whether an update waits; if not, it is to be taken now."""
        if self._waiting is None:
            return False
        self._waiting.append(update)
        self._size += len(json.dumps(update))
        if len(self._waiting) >= HOLD_LIMIT or self._size >= HOLD_CHARACTERS:
            self.release()
        return True

    def release(self) -> None:
        """Take what was held, in order; does nothing when nothing is."""
        waiting, self._waiting = self._waiting, None
        if self._timer is not None:
            self._timer.cancel()
        for update in waiting or ():
            self._take(update)
        self.released.set()
