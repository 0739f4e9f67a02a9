"""Two ends in one process, as a transport: for tests, and for clients that need no process of their own."""

from __future__ import annotations

import asyncio
from collections.abc import Callable


class MemoryTransport:
    """Gives bytes to the listener at the other end, a tick later."""

    def __init__(self) -> None:
        """Begin without a listener; ``deliver_to`` names it."""
        self._receive: Callable[[bytes], None] | None = None

    def deliver_to(self, receive: Callable[[bytes], None]) -> None:
        """Give everything that is written from now on to ``receive``."""
        self._receive = receive

    def write(self, data: bytes) -> None:
        """Send bytes; without a listener they are dropped."""
        if self._receive is not None:
            asyncio.get_running_loop().call_soon(self._receive, data)

    @property
    def congested(self) -> bool:
        """The other end takes everything at once."""
        return False

    async def drained(self) -> None:
        """Nothing ever waits."""
        return
