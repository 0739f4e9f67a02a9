"""The turns of a session before the last one, as ids and, for callers that need them, as messages.

They are brought up to date when a caller asks, by the records since; a turn that is over does not change.
Callers share them and must not change them. They are discarded when no caller asks for a while.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable

from trunkline import events as ev
from trunkline.conversation import Conversation
from trunkline.cursor import Cursor, cut, piece_of
from trunkline.errors import InvalidCommand
from trunkline.folding import Folder
from trunkline.outline import Outline, OutlineReader, PresentOutline, Step
from trunkline.session.history.snapshots import OUTLINE, read_outline
from trunkline.session.receipts import Receipts
from trunkline.session.stream.event_stream import EventStream

_SMALL = 64 * 1024
"""Bytes that are read at once; for more, others may run meanwhile."""


class EarlierTurns:
    """Everything before the last turn of a session."""

    def __init__(self, stream: EventStream, receipts: Receipts) -> None:
        """Read one session's stream when a caller asks; ``receipts`` know where its turns begin."""
        self._stream = stream
        self._receipts = receipts
        self._lock = asyncio.Lock()
        self._timer: asyncio.TimerHandle | None = None
        self._seq = 0
        self._outline: Outline | None = None
        self._folded_seq = 0
        self._folder: Folder | None = None

    @property
    def start(self) -> int:
        """The first record of the last turn; 1 when there was none."""
        return self._receipts.turn_starts.get(self._stream.grammar.turn_id or "", 1)

    async def outline(self) -> tuple[Outline, int]:
        """The ids of the turns before the last one, and where that begins."""
        stream = self._stream
        async with self._lock:
            self._keep_for_a_while()
            if self._outline is None or self._seq >= self.start:
                pages = await stream.journal.get_snapshots(stream.key, OUTLINE)
                last, start = stream.grammar.turn_id, self.start
                if sum(len(page.payload) for page in pages) < _SMALL:
                    self._outline, self._seq = read_outline(pages, last, start)
                else:
                    self._outline, self._seq = await asyncio.to_thread(read_outline, pages, last, start)
            reader, start, outline = OutlineReader(), self.start, self._outline
            await self._read(self._seq, start, lambda event: outline.extend(reader.feed(event)))
            outline.extend(reader.close())
            self._seq = start - 1
            return outline, start

    async def conversation(self) -> tuple[Conversation, int]:
        """The conversation before the last turn, which must not be changed, and where that turn begins."""
        start = self.start
        return await self.before(start), start

    async def before(self, start: int) -> Conversation:
        """The conversation before a turn, which must not be changed; it is in memory for the last turns."""
        async with self._lock:
            self._keep_for_a_while()
            if self._folded_seq >= start:
                # Seldom: another caller looks at a later turn already.
                folder = Folder()
                await self._read(0, start, folder.feed)
                return folder.conversation
            folder = self._folder = self._folder or Folder()
            await self._read(self._folded_seq, start, folder.feed)
            self._folded_seq = start - 1
            return folder.conversation

    async def fold(self, before_turn: str | None = None, until: Cursor | None = None) -> Conversation:
        """Fold every event so far, or only those before a turn and up to a cursor."""
        if until not in (None, self._stream.position) and (gap := await self._stream.find_gap(until)):
            raise InvalidCommand(
                f"the cursor {until} names no position in this session, whose records are {gap.first_seq} to "
                f"{gap.last_seq}: give a cursor of one of its entries, or none for all of them"
            )
        if before_turn in (None, self._stream.grammar.turn_id) and (
            until is None or until.record >= self.start
        ):
            past, start = await self.conversation()
            folder = Folder(past)
        else:
            folder, start = Folder(), 1
        async with contextlib.aclosing(self._stream.replay(start)) as entries:
            async for entry in entries:
                event: ev.AnyEvent | None = entry.event
                if before_turn is not None and event.turn_id == before_turn:
                    break
                if until is not None and (entry.seq, entry.offset) > (until.record, until.offset):
                    start = entry.offset - len(piece_of(event) or "")
                    event = cut(event, until.offset - start)[0] if entry.seq == until.record else None
                    if event is not None:
                        folder.feed(event)
                    break
                folder.feed(event)
        return folder.conversation

    async def present(self) -> PresentOutline:
        """The ids of everything so far."""
        outline, start = await self.outline()
        reader, steps = OutlineReader(), list[Step]()
        async for entry in self._stream.replay(start):
            steps += reader.feed(entry.event)
        return PresentOutline(outline, [*steps, *reader.close()])

    async def _read(self, after: int, start: int, feed: Callable[[ev.Event], None]) -> None:
        """Feed the events after a record and before the last turn."""
        if after >= start - 1:
            return
        try:
            async with contextlib.aclosing(self._stream.replay(after + 1)) as entries:
                async for entry in entries:
                    if entry.seq >= start:
                        return
                    feed(entry.event)
        except BaseException:
            # Half of it is of no use to the next one who asks.
            self.discard()
            raise

    def discard(self) -> None:
        """Discard everything; it is read again when a caller asks."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._outline = self._folder = None
        self._seq = self._folded_seq = 0

    def _keep_for_a_while(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(self._stream.settings.idle_after, self._expire)

    def _expire(self) -> None:
        if self._lock.locked():
            self._keep_for_a_while()
        else:
            self.discard()
