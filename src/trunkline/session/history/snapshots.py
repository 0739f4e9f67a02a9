"""Snapshots of a session: kept beside its records, so that no process has to read a long history to go on.

There are two parts. ``open`` is what opening the session learns. ``outline`` is the ids of its turns, in
pages that follow each other, so that what is written does not grow with the session. The owner writes both
at the end of a turn when enough came since, beside whatever goes on, from the records alone: what is kept is
what reading them would give. Without snapshots, or with some that do not fit, the records are read.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Any

import msgspec

from trunkline.cursor import Entry, piece_of
from trunkline.errors import TrunklineError
from trunkline.grammar import Phase
from trunkline.journal import Record, Snapshot
from trunkline.outline import Outline, OutlineReader, Step, TurnOutline
from trunkline.session.history.open_state import VERSION, OpenSnapshot, OpenState, read_snapshot
from trunkline.session.stream.event_stream import EventStream

log = logging.getLogger("trunkline.session")

OPEN, OUTLINE = "open", "outline"

_PAGE = 200
"""How many records are read at once: few, since a snapshot is written beside the next turn."""

_pages = msgspec.json.Decoder(list[Step])


class Snapshots:
    """Reads and writes the snapshots of one session."""

    def __init__(
        self, stream: EventStream, open_state: OpenState, keep: Callable[[asyncio.Task[Any]], None]
    ) -> None:
        """Serve the session of this stream; ``keep`` holds a task until it ends."""
        self._stream = stream
        self._open_state = open_state
        self._keep = keep
        self._seq = 0
        self._writing: asyncio.Task[None] | None = None

    async def load(self) -> None:
        """Begin with the newest snapshot that fits, if the session has read nothing yet."""
        stream = self._stream
        if stream.committed_seq or stream.lease is not None:
            return
        kept, seq = await self._newest()
        if kept is not None and not stream.committed_seq and stream.lease is None:
            self._open_state.restore(kept)
            self._seq, stream.committed_seq, stream.last = seq, seq, kept.last

    async def _newest(self) -> tuple[OpenSnapshot | None, int]:
        stream = self._stream
        found = await stream.journal.get_snapshots(stream.key, OPEN)
        if not found or found[-1].version != VERSION:
            return None, 0
        info = await stream.journal.get(stream.key)
        if info is None or not info.first_seq <= found[-1].seq <= info.last_seq:
            return None, 0
        return read_snapshot(found[-1].payload), found[-1].seq

    @property
    def writing(self) -> bool:
        """Whether snapshots are being written."""
        return self._writing is not None and not self._writing.done()

    async def _first_seq(self) -> int | None:
        info = await self._stream.journal.get(self._stream.key)
        return info and info.first_seq

    def turn_finished(self) -> None:
        """Write snapshots if enough records came since the last ones."""
        self._write_beyond(self._stream.settings.snapshot_after)

    async def written(self) -> None:
        """Wait until nothing is being written; what is not kept by then is not worth waiting for."""
        if self._writing is not None:
            await asyncio.wait({self._writing}, timeout=self._stream.settings.command_timeout)

    async def close(self) -> None:
        """Write what is worth keeping for the next process that opens the session."""
        self._write_beyond(self._stream.settings.snapshot_after // 5)
        if self._writing is not None:
            await asyncio.wait({self._writing}, timeout=self._stream.settings.finish_grace)

    def _write_beyond(self, records: int) -> None:
        stream = self._stream
        seq = stream.committed_seq
        if seq - self._seq < max(1, records) or self.writing:
            return
        if stream.lease is not None and stream.grammar.phase is Phase.IDLE:
            self._writing = asyncio.create_task(self._write(seq), name="trunkline snapshot")
            self._keep(self._writing)

    async def _write(self, upto: int) -> None:
        """Read the records since the last snapshots, and write the next ones."""
        key, journal, lease = self._stream.key, self._stream.journal, self._stream.lease
        first = await self._first_seq()
        kept, after = await self._newest()
        if kept is None:
            after = 0
        read, ids, steps = OpenState.alone(), OutlineReader(), list[Step]()
        if kept is not None:
            read.restore(kept)
        seq = after
        while seq < upto:
            records = await journal.read(key, after=seq, limit=min(_PAGE, upto - seq))
            if not records:
                return
            await asyncio.to_thread(_learn, records, read, ids, steps)
            seq = records[-1].seq
        payload = read.take()
        if payload is None or lease is None or seq <= after or await self._first_seq() != first:
            return
        page = msgspec.json.encode([*steps, *ids.close()])
        try:
            # The outline first: where the other part ends, it is complete.
            await journal.put_snapshot(lease, OUTLINE, Snapshot(seq, after, VERSION, page))
            await journal.put_snapshot(lease, OPEN, Snapshot(seq, 0, VERSION, payload))
        except TrunklineError as error:
            log.debug("no snapshot of session %s was kept: %s", key.session_id, error)
        else:
            self._seq = seq


def _learn(records: list[Record], read: OpenState, ids: OutlineReader, steps: list[Step]) -> None:
    for record in records:
        event = record.event
        if event is not None:
            offset = len(piece_of(event) or "")
            read.feed(Entry(record.seq, offset, record.fence, record.at, event))
            steps += ids.feed(event)


def read_outline(pages: list[Snapshot], last_turn: str | None, start: int) -> tuple[Outline, int]:
    """Give the outline of the turns before the last one, which begins at ``start``, as far as the pages go.

    The number is that of the newest record that it counts.
    """
    steps: list[Step] = []
    seq = 0
    for page in pages:
        if page.version != VERSION or page.after != seq:
            break
        try:
            steps += _pages.decode(page.payload)
        except (msgspec.DecodeError, UnicodeDecodeError):
            break
        seq = page.seq
    if seq >= start:
        seq = start - 1
        number = len(steps)
        while number:
            number -= 1
            step = steps[number]
            if isinstance(step, TurnOutline) and step.turn_id == last_turn:
                del steps[number:]
                break
    outline = Outline()
    outline.extend(steps)
    return outline, seq
