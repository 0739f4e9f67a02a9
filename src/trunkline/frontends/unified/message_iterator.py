"""The messages of a connection one by one, for a program that may stop reading at any time."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Callable

from trunkline.frontends.unified.endpoint import UnifiedConnection
from trunkline.protocols.unified.wire import UnifiedMessage

__all__ = ["MessageIterator"]

_REST = 10_000
"""Messages that can still be read after the end; older ones come from a replay."""


class MessageIterator(AsyncIterator[UnifiedMessage]):
    """Gives the messages of a connection; a generator would be left open by a loop that is left early."""

    def __init__(
        self, connection: UnifiedConnection, wanted: Callable[[UnifiedMessage], bool] = lambda _: True
    ) -> None:
        """Give those messages that are wanted when they come."""
        self._connection = connection
        self._wanted = wanted
        self._batches: AsyncGenerator[list[UnifiedMessage]] | None = None
        self._next: asyncio.Future[list[UnifiedMessage]] | None = None
        self._ready: deque[UnifiedMessage] = deque()
        self._reading = asyncio.Lock()
        self._over = False

    async def __anext__(self) -> UnifiedMessage:
        """Wait for the next message; a wait that is cancelled loses nothing."""
        async with self._reading:
            while not self._ready:
                if self._over:
                    raise StopAsyncIteration
                await self._read()
            return self._ready.popleft()

    async def _read(self) -> None:
        if self._batches is None:
            self._batches = self._connection.messages()
        if self._next is None:
            self._next = asyncio.ensure_future(anext(self._batches))
        await asyncio.wait({self._next})
        done, self._next = self._next, None
        try:
            self._ready.extend(filter(self._wanted, done.result()))
        except StopAsyncIteration:
            self._over = True

    async def finish(self) -> None:
        """End: no message comes any more, but those that are there can still be read."""
        self._connection.close()
        async with self._reading:
            while self._batches is not None and not self._over and len(self._ready) <= _REST:
                await self._read()
            self._over = True
            if self._next is not None:
                await asyncio.wait({self._next})
            if self._batches is not None:
                await self._batches.aclose()
