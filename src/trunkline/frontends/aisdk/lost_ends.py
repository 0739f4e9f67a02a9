"""Counts the pages that lack the end of a chat's last turn: each may come back for it, once.

A page of the AI SDK that resumes says nothing of what it has (``reconnectToStream`` of 5.0.277, 6.0.326 and
7.0.169 sends the id of the chat alone), so the server keeps count of what it has shown.
"""

from __future__ import annotations

from collections import OrderedDict

__all__ = ["LostEnds"]

Key = tuple[str, str]
"""A principal and the id of a chat."""

_CHATS = 1024


class LostEnds:
    """How many responses to a chat ended before its last turn did, and were not asked for since."""

    def __init__(self) -> None:
        self._counts: OrderedDict[Key, tuple[str, int]] = OrderedDict()

    def count(self, key: Key, turn_id: str) -> int:
        """Give how many pages lack the end of a turn; an earlier turn than the last noted has none."""
        known, count = self._counts.get(key, ("", 0))
        return count if known == turn_id else 0

    def add(self, key: Key, turn_id: str) -> None:
        """Note a response that ended before its turn."""
        self._set(key, turn_id, self.count(key, turn_id) + 1)

    def expect(self, key: Key, turn_id: str) -> None:
        """Note that a page has loaded a turn that is not over: it may be one of those that left, reloaded."""
        self._set(key, turn_id, max(1, self.count(key, turn_id)))

    def take(self, key: Key, turn_id: str) -> bool:
        """Have one of these pages come back; False if there is none."""
        count = self.count(key, turn_id)
        if not count:
            return False
        self._set(key, turn_id, count - 1)
        return True

    def _set(self, key: Key, turn_id: str, count: int) -> None:
        self._counts.pop(key, None)
        if count:
            self._counts[key] = turn_id, count
        while len(self._counts) > _CHATS:
            self._counts.popitem(last=False)
