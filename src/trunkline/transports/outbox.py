"""Outboxes: whole messages on their way to readers that may be slow, or that come and go.

Above is a JSON-RPC connection, which writes lines; below is whatever carries one message at a time: the
frames of a WebSocket, the events of an HTTP stream. What waits in all outboxes of a transport is counted
together. From the high-water mark on the producer should wait. Beyond the limit, or when nothing is
taken for too long meanwhile, the readers are given up, and nothing is kept for them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from itertools import islice


class Outbox:
    """Messages that wait for one reader at a time."""

    def __init__(self, transport: OutboxTransport) -> None:
        self._transport = transport
        self._reader: object | None = None
        self._waiting: list[bytes] = []
        self._news = asyncio.Event()

    @property
    def empty(self) -> bool:
        """Whether nothing waits."""
        return not self._waiting

    @property
    def read(self) -> bool:
        """Whether a reader is attached."""
        return self._reader is not None

    def attach(self) -> object:
        """Read from now on, in the place of any earlier reader; the ticket is for ``take`` and ``detach``."""
        self._reader = ticket = object()
        self.wake()
        return ticket

    def detach(self, ticket: object) -> bool:
        """Read no more; False if another reader does meanwhile."""
        if self._reader is not ticket:
            return False
        self._reader = None
        return True

    def put(self, message: bytes) -> None:
        """Let a message wait."""
        self._waiting.append(message)
        self._transport.weigh(len(message))
        self._news.set()

    async def take(self, ticket: object = None, *, most: int | None = None) -> list[bytes]:
        """Give what waits, in order and at least one message.

        None are given once the transport is closed and everything was read, or to a reader whose place
        was taken.
        """
        while self._reader is ticket and not self._waiting and not self._transport.closed:
            self._news.clear()
            await self._news.wait()
        if self._reader is not ticket:
            return []
        taken = list(islice(self._waiting, most))
        del self._waiting[: len(taken)]
        self._transport.weigh(-sum(map(len, taken)))
        return taken

    def clear(self) -> None:
        """Forget what waits."""
        self._transport.weigh(-sum(map(len, self._waiting)))
        self._waiting.clear()

    def wake(self) -> None:
        """Let the reader see that something changed."""
        self._news.set()


class OutboxTransport:
    """Puts messages into outboxes; ``give_up`` is called once when their readers are hopeless."""

    def __init__(
        self,
        give_up: Callable[[str], None],
        *,
        high_water: int = 1 << 20,
        limit: int = 16 << 20,
        patience: float = 300.0,
    ) -> None:
        self._give_up = give_up
        self._high_water = high_water
        self._limit = limit
        self._patience = patience
        self._outboxes: dict[str | None, Outbox] = {}
        self._weight = 0
        self._free = asyncio.Event()
        self._free.set()
        self._timer: asyncio.TimerHandle | None = None
        self.closed = False

    def outbox(self, name: str | None = None) -> Outbox:
        """The outbox of a name, made if need be; the one without a name is the main one."""
        found = self._outboxes.get(name)
        if found is None:
            found = self._outboxes[name] = Outbox(self)
        return found

    def find(self, name: str | None) -> Outbox | None:
        """The outbox of a name, if there is one."""
        return self._outboxes.get(name)

    def discard(self, name: str | None) -> None:
        """Discard an outbox without a reader that holds nothing."""
        found = self._outboxes.get(name)
        if found is not None and found.empty and not found.read:
            del self._outboxes[name]

    def address(self, message: bytes) -> str | None:
        """The outbox that a message belongs into."""
        return None

    def write(self, data: bytes) -> None:
        """Take whole lines, each a message; what has no reader any more is dropped."""
        for message in data.split(b"\n")[:-1]:
            if self.closed:
                return
            # One message alone may be above the limit: that is not the reader's fault.
            if self._weight > self._limit:
                self._fail(f"{self._limit} bytes wait to be read")
                return
            self.outbox(self.address(message)).put(message)

    @property
    def congested(self) -> bool:
        """Whether so much waits that producers should."""
        return not self._free.is_set()

    async def drained(self) -> None:
        """Wait until the readers have caught up, or are given up."""
        await self._free.wait()

    def weigh(self, change: int) -> None:
        """Take a change of what waits."""
        self._weight += change
        if self._weight < self._high_water // 2 or self.closed:
            self._free.set()
        elif self._weight >= self._high_water:
            self._free.clear()
        if change < 0:
            self._stop_clock()
        if self._timer is None and self.congested:
            why = f"nothing was read for {self._patience:g} seconds"
            self._timer = asyncio.get_running_loop().call_later(self._patience, self._fail, why)

    def _stop_clock(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _fail(self, why: str) -> None:
        self.close()
        for outbox in self._outboxes.values():
            outbox.clear()
        self._give_up(f"the client reads too slowly: {why}")

    def close(self) -> None:
        """Take nothing more; what waits can still be read. Idempotent."""
        self.closed = True
        self._free.set()
        self._stop_clock()
        for outbox in self._outboxes.values():
            outbox.wake()
