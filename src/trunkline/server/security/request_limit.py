"""How many requests, streams and sockets of one principal may be open at once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator
from contextlib import contextmanager

from trunkline.server.errors import HttpError


class RequestLimit:
    """Counts the open requests of each principal."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._open: Counter[str] = Counter()

    @contextmanager
    def hold(self, principal: str) -> Generator[None]:
        """Count a request of a principal while it is open; refuse too many."""
        if self._open[principal] >= self._most:
            raise HttpError(
                429,
                "too_many",
                f"{self._most} requests and streams of this principal are open already: close one first",
                {"retry-after": "5"},
            )
        self._open[principal] += 1
        try:
            yield
        finally:
            self._open[principal] -= 1
            if not self._open[principal]:
                del self._open[principal]
