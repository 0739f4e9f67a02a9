"""The updates with which an agent replays a session, as many as are kept."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

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
