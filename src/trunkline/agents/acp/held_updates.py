"""Keeps an agent's updates, within limits: a replay, or what waits until a message is decided.

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
REPLAY_LIMIT = 100_000
REPLAY_CHARACTERS = 256 * 1024 * 1024
"""How many updates of a replay are kept, and how long they may be together."""


class KeptUpdates:
    """Updates in the order in which they came, as many as there is room for."""

    def __init__(self, number: int | None = None, characters: int | None = None) -> None:
        """Keep at most so many, and so many characters of JSON; by default what a replay may have."""
        self.updates: list[Mapping[str, Any]] = []
        self.is_full = False
        """Whether an update had no room, or none after this one has."""
        self._number = REPLAY_LIMIT if number is None else number
        self._left = REPLAY_CHARACTERS if characters is None else characters

    def add(self, update: Mapping[str, Any]) -> None:
        """Keep an update, unless there is no room for it or for one before it."""
        self._left -= len(json.dumps(update))
        self.is_full = self.is_full or self._left < 0 or len(self.updates) >= self._number
        if not self.is_full:
            self.updates.append(update)


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
