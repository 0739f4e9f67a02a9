"""The newest lines between us and an agent's process, both ways, for a person who looks for a fault.

They are kept in memory as they are: secrets too, so only an administrator may read them. While nobody
looks, a line costs one entry in a ring.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable

from trunkline.agents.interface import Direction, WireLine, WireLines

MOST_LINES = 2000
MOST_BYTES = 1024 * 1024
LONGEST = 64 * 1024
"""Bytes of a line that are kept; what it had more is only counted."""


class WireLog:
    """A ring of lines."""

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._kept: deque[tuple[float, Direction, bytes, int]] = deque()
        self._bytes = 0
        self._dropped = 0

    def add(self, direction: Direction, lines: Iterable[bytes]) -> None:
        """Keep lines, with the time; the oldest go when there are too many."""
        at, kept = self._clock(), self._kept
        for line in lines:
            data = line if len(line) <= LONGEST else line[:LONGEST]
            kept.append((at, direction, data, len(line)))
            self._bytes += len(data)
        while len(kept) > MOST_LINES or self._bytes > MOST_BYTES:
            self._bytes -= len(kept.popleft()[2])
            self._dropped += 1

    def read(self) -> WireLines:
        """Give the lines that are kept, oldest first, and how many were not."""
        lines = [
            WireLine(at=at, direction=direction, data=_text(data, size))
            for at, direction, data, size in self._kept
        ]
        return WireLines(lines=tuple(lines), dropped=self._dropped)


def _text(data: bytes, size: int) -> str:
    text = data.rstrip(b"\r\n").decode(errors="replace")
    return text if size <= LONGEST else f"{text}… ({size} bytes)"
