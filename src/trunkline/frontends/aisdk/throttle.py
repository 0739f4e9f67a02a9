"""Holds back parts that are sent whole each time they change: printed output, terminals, subagents."""

from __future__ import annotations

from collections.abc import Callable

from trunkline.protocols.aisdk.wire import Chunk, encode

__all__ = ["Throttle"]

Out = list[Chunk]

_MOST = 262_144.0
"""Bytes that may be sent at once."""
_PER_SECOND = 262_144.0
"""Bytes that may be sent in the long run."""


class Throttle:
    """Sends what fits, and keeps the newest of the rest for later; time is that of the records."""

    def __init__(self) -> None:
        self._left = _MOST
        self._at = 0.0
        self._waiting: dict[str, Callable[[], Out]] = {}

    @property
    def is_waiting(self) -> bool:
        """Whether something was held back."""
        return bool(self._waiting)

    def offer(self, key: str, render: Callable[[], Out], at: float) -> Out:
        """Give a part now, or keep it until there is room: then its newest form is made."""
        self._waiting.pop(key, None)
        self._advance(at)
        if self._left > 0:
            return self._spend(render())
        self._waiting[key] = render
        return []

    def now(self, key: str, out: Out) -> Out:
        """Give a part at once, in place of what waits of it; it counts all the same."""
        self._waiting.pop(key, None)
        return self._spend(out)

    def due(self, at: float) -> Out:
        """Give what waits, as far as there is room by now."""
        self._advance(at)
        out: Out = []
        while self._waiting and self._left > 0:
            out += self._spend(self._waiting.pop(next(iter(self._waiting)))())
        return out

    def flush(self) -> Out:
        """Give everything that waits."""
        waiting, self._waiting = self._waiting, {}
        return [chunk for render in waiting.values() for chunk in render()]

    def _spend(self, out: Out) -> Out:
        self._left -= len(encode(out))
        return out

    def _advance(self, at: float) -> None:
        if at > self._at:
            self._left = min(_MOST, self._left + (at - self._at) * _PER_SECOND)
            self._at = at
