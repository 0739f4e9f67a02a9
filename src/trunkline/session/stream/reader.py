"""Readers: each follows a stream at its own pace and never delays another one.

A reader is *live* while it keeps up: batches are pushed to it. One that falls behind
(``Settings.reader_backlog``) loses its queue and reads the journal from its own position until it has caught
up, so memory stays bounded and nothing is lost.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Protocol

from trunkline.cursor import Cursor, Entry, piece_of, remainder
from trunkline.journal import Journal, Lease, SessionKey

_PAGE = 500

WHOLE = 1 << 60
"""An offset beyond any text: the whole record was seen."""


class ReaderSource(Protocol):
    """What a reader needs of the stream that it reads."""

    journal: Journal
    key: SessionKey
    committed_seq: int
    tail: list[Entry]

    @property
    def lease(self) -> Lease | None:
        """The lease, if this process owns the session."""
        ...

    def detach(self, reader: Reader) -> None:
        """Stop pushing to a reader."""


class Reader:
    """A position in a stream that moves forward; use it as an async context manager and iterator."""

    def __init__(
        self, stream: ReaderSource, after: Cursor, *, backlog: int, live: bool = True, follows: bool = True
    ) -> None:
        """Begin after a position; ``backlog`` is how many entries may wait in memory.

        One that ``follows`` is a client that stays; else it only reads what is there already.
        """
        self.follows = follows
        self._stream = stream
        self._backlog = backlog
        self._seq = after.record
        self._offset = after.offset
        self._fence = after.fence
        self._live = live
        self._queue: list[Entry] = []
        self._waiter: asyncio.Future[None] | None = None
        self._error: BaseException | None = None

    @property
    def cursor(self) -> Cursor:
        """The position after the last entry that ``next`` gave."""
        return Cursor(self._fence, self._seq, self._offset)

    @property
    def live(self) -> bool:
        """Whether this reader keeps up; else it reads from the journal."""
        return self._live

    @property
    def waiting(self) -> int:
        """How many entries were pushed and not taken yet."""
        return len(self._queue)

    def push(self, batch: list[Entry]) -> None:
        """Take a batch, or fall back to the journal when too much waits."""
        if self._live:
            queue = self._queue
            if queue and len(queue) + len(batch) > self._backlog:
                self._live = False
                self._queue = []
            else:
                queue.extend(batch)
        self._wake()

    def fail(self, error: BaseException) -> None:
        """End the reader with an error, after what it already has."""
        self._error = self._error or error
        self._wake()

    async def next(self) -> list[Entry]:
        """Give the next entries, at least one; waits for them."""
        while True:
            if self._live:
                if self._queue:
                    batch, self._queue = self._queue, []
                    position = (self._seq, self._offset)
                    if (batch[0].seq, batch[0].offset) <= position:
                        # Read from the journal before it was pushed (a stream that follows another process).
                        batch = [entry for entry in batch if (entry.seq, entry.offset) > position]
                    if batch:
                        return self._advance(batch)
                    continue
                if self._error is not None:
                    raise self._error
                self._waiter = asyncio.get_running_loop().create_future()
                await self._waiter
            elif batch := await self._catch_up():
                return batch

    async def _catch_up(self) -> list[Entry]:
        stream = self._stream
        if stream.lease is not None and (self._seq, self._offset) >= (stream.committed_seq, WHOLE):
            # Nothing after our position is written yet: all of it is in memory, piece by piece.
            return self._go_live()
        committed = stream.committed_seq
        records = await stream.journal.read(stream.key, after=self._seq - 1, limit=_PAGE)
        batch: list[Entry] = []
        for record in records:
            event = record.event
            if event is not None and record.seq == self._seq:
                event = remainder(event, self._offset)
            if event is not None:
                length = len(piece_of(record.event) or "")
                batch.append(Entry(record.seq, length, record.fence, record.at, event))
        if len(records) == _PAGE:
            # A journal in memory never waits: a reader of a long history must let others run.
            await asyncio.sleep(0)
        if batch:
            return self._advance(batch)
        if records and records[-1].seq > self._seq:
            # Only commands, which readers do not see.
            self._seq, self._offset, self._fence = records[-1].seq, 0, records[-1].fence
            return []
        if stream.committed_seq != committed:
            # Something moved from the tail into the journal while we read: look again.
            return []
        return self._go_live()

    def _go_live(self) -> list[Entry]:
        self._live = True
        position = (self._seq, self._offset)
        tail = [entry for entry in self._stream.tail if (entry.seq, entry.offset) > position]
        return self._advance(tail)

    def _advance(self, batch: list[Entry]) -> list[Entry]:
        if batch:
            last = batch[-1]
            self._seq, self._offset, self._fence = last.seq, last.offset, last.fence
        return batch

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    def close(self) -> None:
        """Stop following; idempotent."""
        self._stream.detach(self)

    def __aiter__(self) -> AsyncIterator[Entry]:
        """Give entry after entry until the stream is closed."""
        return self._entries()

    async def _entries(self) -> AsyncIterator[Entry]:
        while True:
            for entry in await self.next():
                yield entry

    async def __aenter__(self) -> Reader:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.close()
