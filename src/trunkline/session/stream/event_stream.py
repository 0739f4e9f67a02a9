"""The event stream of a session: makes events legal, numbers them, shows them to readers and writes them.

Above is the session, which emits the events; below are the grammar, the coalescer and the journal.
Readers see an event in the tick in which it is emitted; the journal gets it right after, joined with its
neighbours. Questions, answers and the ends of turns are the exception: readers see them, and what was
emitted after them, only when they are durable. No reader sees an end that is not stored.

What is emitted but not yet written is the *tail*, which is kept in memory and is bounded: an agent that
runs ahead of the disk waits (``ready``). A stream whose lease may have expired shows and writes nothing
until the lease is confirmed.
"""

from __future__ import annotations

import asyncio
import time
from bisect import bisect_right
from collections.abc import AsyncGenerator, Callable, Iterable
from operator import attrgetter
from typing import cast

import msgspec

from trunkline.commands import Command
from trunkline.cursor import Cursor, Entry, Gap, piece_of
from trunkline.errors import Fenced, JournalError, TrunklineError
from trunkline.events import (
    Answered,
    AnyEvent,
    Asked,
    Event,
    TerminalOutput,
    Text,
    Thought,
    ToolInput,
    TurnFailed,
    TurnFinished,
    TurnStarted,
    TurnSuspended,
)
from trunkline.grammar import Grammar
from trunkline.journal import Journal, Lease, Record, SessionKey
from trunkline.session.settings import Settings
from trunkline.session.stream import unstored
from trunkline.session.stream.coalesce import Coalescer
from trunkline.session.stream.held_lease import HeldLease
from trunkline.session.stream.reader import WHOLE, Reader

_SLICE = 200
"""How many records are taken over before others may run again."""

_DELTAS = (Text, Thought, ToolInput, TerminalOutput)

_STORED_FIRST: frozenset[type[Event]] = frozenset({Asked, Answered, TurnSuspended, TurnFinished, TurnFailed})
"""Readers see these only when they are durable."""


class EventStream:
    """One session's events: emitted in the process that owns it, or followed from the journal."""

    def __init__(self, journal: Journal, key: SessionKey, grammar: Grammar, settings: Settings) -> None:
        """Begin at the first record; ``become_owner`` or ``apply`` bring it up to date."""
        # Every session has a stream; CPython shares the attribute names of objects that have 29 at most.
        self.journal = journal
        self.key = key
        self.grammar = grammar
        self.settings = settings
        self.committed_seq = 0
        self.last: Entry | None = None
        self.tail: list[Entry] = []
        """What readers have seen and the journal does not have yet."""
        self.on_applied: Callable[[Entry], None] | None = None
        self.on_turn_started: Callable[[str, int], None] | None = None
        """Called with the first record of each turn that begins here."""
        self.on_failed: Callable[[JournalError], None] | None = None
        self.on_followers_changed: Callable[[int], None] | None = None
        self.fence = 0
        self.held_lease = HeldLease()
        self._held_from = 0  # The newest record that readers must not see before it is durable.
        self._given_seq = 0  # The newest record that the journal was given.
        self._closed: TrunklineError | None = None
        self._coalescer = Coalescer(limit=settings.coalesce_limit)
        self._outbox: list[Entry] = []
        self._readers: list[Reader] = []
        self._ticking = False
        self._timer: asyncio.TimerHandle | None = None
        self._last_write: asyncio.Future[None] | None = None
        self._perishable = False  # Something written would not survive a power cut yet.
        self._moved: asyncio.Event | None = None  # Only there while a task waits for the next move.
        self._error: JournalError | None = None
        self._now = 0.0

    # -- ownership ---------------------------------------------------------------------------------

    @property
    def lease(self) -> Lease | None:
        """The right to write, if this process has it."""
        return self.held_lease.lease

    @property
    def unwritten(self) -> bool:
        """Whether something was emitted that is not in the journal yet."""
        waiting = self._outbox or self._coalescer.waiting or self._coalescer.ready
        return bool(waiting) or self._given_seq > self.committed_seq

    def become_owner(self, lease: Lease, deadline: float) -> None:
        """Become the owner, right after everything that is in the journal.

        From ``deadline`` (see ``lease_clock``) on, another process may take the lease.
        """
        self.held_lease.take(lease, deadline)
        self.fence = lease.fence
        self._error = None
        self._given_seq = self._held_from = lease.last_seq
        self._coalescer = Coalescer(lease.last_seq, limit=self.settings.coalesce_limit)

    def extend_lease(self, deadline: float) -> None:
        """Go on as the owner until ``deadline``: the lease is confirmed."""
        if self.held_lease.extend(deadline):
            self.flush()
            self._wake()

    def become_follower(self) -> None:
        """Become a follower; only for a stream that has written everything."""
        self.held_lease.drop()
        self._wake()

    # -- speaking ----------------------------------------------------------------------------------

    def emit(self, event: Event) -> None:
        """Emit an event: legal form now, readers within this tick, journal right after."""
        if not self._ticking:
            self._schedule()
        coalescer = self._coalescer
        if isinstance(event, _DELTAS) and (offset := coalescer.extend(event)):
            # More of the last delta: as legal as that was.
            self._outbox.append(Entry(coalescer.last_seq, offset, self.fence, self._now, event))
            return
        self._check_owner()
        for legal in self.grammar.feed(event):
            seq, offset = coalescer.add(legal)
            if type(legal) in _STORED_FIRST:
                self._held_from = seq
            elif type(legal) is TurnStarted and self.on_turn_started is not None:
                self.on_turn_started(legal.turn_id or "", seq)
            self._outbox.append(Entry(seq, offset, self.fence, self._now, cast("AnyEvent", legal)))

    def emit_text(self, turn_id: str, message_id: str, text: str) -> None:
        """Emit plain text of a message: nearly every event is one, so it has a shorter way."""
        event = Text(turn_id=turn_id, message_id=message_id, delta=text)
        coalescer = self._coalescer
        offset = coalescer.extend_text(message_id, text)
        if not offset:
            self.emit(event)
            return
        if not self._ticking:
            self._schedule()
        self._outbox.append(Entry(coalescer.last_seq, offset, self.fence, self._now, event))

    def add_command(self, command: Command) -> None:
        """Write an accepted command into the journal; readers do not see it."""
        self._check_owner()
        self._coalescer.add_command(command)
        if not self._ticking:
            self._schedule()

    def _check_owner(self) -> None:
        """Refuse what would not be stored: the lease may be lost since the command began."""
        if self.held_lease.lease is None and self._closed is None:
            raise Fenced("another process took this session over before this was carried out; send it again")

    def flush(self) -> None:
        """Show and write everything so far, also a delta that is still open."""
        self._coalescer.seal()
        self._show()
        self._write()

    async def durable(self) -> None:
        """Wait until everything so far would survive a power cut."""
        self._coalescer.seal()
        self._show()
        self._write(durable=True)
        if self.held_lease.in_doubt:
            await self._write_confirmed()
        if self._last_write is not None:
            await asyncio.shield(self._last_write)
        if self._error is not None:
            raise self._error

    async def _write_confirmed(self) -> None:
        """Write once the lease is confirmed; raises when the journal does not confirm it in time."""
        try:
            async with asyncio.timeout(self.settings.command_timeout):
                while self.held_lease.in_doubt and self._error is None:
                    await self._wait_for_move()
                    self._write(durable=True)  # If the lease has run out again by now, we wait again.
        except TimeoutError:
            raise JournalError("the journal does not confirm that this session is ours: try again") from None

    @property
    def lagging(self) -> bool:
        """Whether the journal is so far behind that the agent must wait."""
        return self._is_behind or self.journal.crowded(self.key)

    @property
    def _is_behind(self) -> bool:
        return len(self.tail) + len(self._outbox) > self.settings.lag_limit

    async def ready(self) -> None:
        """Wait until the journal has caught up enough."""
        while self.lagging and self._error is None:
            if self._is_behind:
                await self._wait_for_move()
            else:
                await self.journal.room(self.key)
        if self._error is not None:
            raise self._error

    async def _wait_for_move(self) -> None:
        """Wait until the journal, the lease or the end of the stream moves something."""
        if self._moved is None:
            self._moved = asyncio.Event()
        await self._moved.wait()

    def _wake(self) -> None:
        if self._moved is not None:
            self._moved.set()
            self._moved = None

    # -- following ---------------------------------------------------------------------------------

    def apply(self, records: Iterable[Record]) -> None:
        """Take over what another process wrote."""
        entries: list[Entry] = []
        for record in records:
            self.committed_seq = record.seq
            event = record.event
            if event is None:
                continue
            self.grammar.feed(event)
            entry = Entry(record.seq, len(piece_of(event) or ""), record.fence, record.at, event)
            entries.append(entry)
            if self.on_applied is not None:
                self.on_applied(entry)
        if entries:
            self.last = entries[-1]
            for reader in self._readers:
                reader.push(entries)

    async def catch_up(self) -> None:
        """Read everything the journal has that this stream has not seen; an owner has seen it all."""
        while self.held_lease.lease is None:
            records = await self.journal.read(self.key, after=self.committed_seq, limit=_SLICE)
            if not records or self.held_lease.lease is not None:
                return
            # Another call may have been faster: what it took over is known already.
            self.apply(record for record in records if record.seq > self.committed_seq)
            await asyncio.sleep(0)

    # -- reading -----------------------------------------------------------------------------------

    async def subscribe(self, after: Cursor | None = None) -> Reader | Gap:
        """Open a reader from a cursor on (None: from now on)."""
        if after is None:
            return self.follow()
        gap = await self.find_gap(after)
        return gap or self._attach(after, live=False)

    def follow(self) -> Reader:
        """Open a reader of everything from now on."""
        return self._attach(self.position)

    def subscribe_from(self, seq: int) -> Reader:
        """Open a reader that begins with record ``seq``."""
        return self._attach(Cursor(self.fence, seq - 1, WHOLE), live=False)

    async def replay(self, from_seq: int = 1) -> AsyncGenerator[Entry]:
        """Give every entry so far, from record ``from_seq`` on."""
        end = self.position
        if end.record < from_seq:
            return
        after = Cursor(self.fence, from_seq - 1, WHOLE)
        async with self._attach(after, live=False, follows=False) as reader:
            async for entry in reader:
                yield entry
                if (entry.seq, entry.offset) >= (end.record, end.offset):
                    return

    @property
    def position(self) -> Cursor:
        """The cursor after every event so far."""
        last = self._outbox[-1] if self._outbox else self.last
        return Cursor(self.fence, self.committed_seq, WHOLE) if last is None else last.cursor

    def detach(self, reader: Reader) -> None:
        """Stop pushing to a reader."""
        if reader in self._readers:
            self._readers.remove(reader)
            self._notice(reader)

    @property
    def readers(self) -> int:
        """How many readers there are, with those that only read what is there already."""
        return len(self._readers)

    @property
    def followers(self) -> int:
        """How many of the readers stay: who reads the past for a moment keeps no abandoned turn alive."""
        return sum(reader.follows for reader in self._readers)

    def close(self, error: TrunklineError, *, failed_turn: str | None = None) -> None:
        """Show what may be shown, fail every reader with ``error``; nothing can be emitted any more.

        ``failed_turn``, and a turn whose end could not be stored, end for the readers with the reason; an
        answer that could not be stored counts for none. What they may see only once stored, they never see.
        """
        self.held_lease.drop()
        self._closed = error
        self._show()
        self._held_from = 0
        self._outbox = [
            msgspec.structs.replace(entry, event=unstored.shown_instead(entry.event, error))
            for entry in self._outbox
            if not isinstance(entry.event, Asked | TurnSuspended)
        ]
        if failed_turn is not None:
            self.emit(unstored.failed_turn(failed_turn, error))
            self._held_from = 0
        self._show()
        if self._timer is not None:
            self._timer.cancel()
        self._error = self._error or JournalError(str(error))
        for reader in list(self._readers):
            reader.fail(error)
        self._wake()

    def check_open(self) -> None:
        """Raise what closed the stream, if it is closed."""
        if self._closed is not None:
            raise self._closed

    def _attach(self, after: Cursor, *, live: bool = True, follows: bool = True) -> Reader:
        reader = Reader(self, after, backlog=self.settings.reader_backlog, live=live, follows=follows)
        if self._closed is not None:
            # It gives what is stored, and then the reason why nothing follows.
            reader.fail(self._closed)
            return reader
        self._readers.append(reader)
        self._notice(reader)
        return reader

    def _notice(self, changed: Reader) -> None:
        if changed.follows and self.on_followers_changed is not None:
            self.on_followers_changed(self.followers)

    async def find_gap(self, cursor: Cursor) -> Gap | None:
        """Give the gap if the position that a cursor names is not part of this journal."""
        if cursor.record == 0:
            info = await self.journal.get(self.key)
            trimmed = info is not None and info.first_seq > 1
            return Gap(info.first_seq, info.last_seq) if info is not None and trimmed else None
        self.flush()
        if cursor.fence == self.fence and any(
            entry.seq == cursor.record and entry.offset >= cursor.offset for entry in self.tail
        ):
            return None
        # Not before the tail: what leaves it while we read is in the journal, but not in what was read.
        found = await self.journal.read(self.key, after=cursor.record - 1, limit=1)
        if found and (found[0].seq, found[0].fence) == (cursor.record, cursor.fence):
            length = len(piece_of(found[0].event) or "")
            if cursor.offset <= length:
                return None
        info = await self.journal.get(self.key)
        return Gap(info.first_seq if info else 1, self.committed_seq)

    # -- showing and writing -----------------------------------------------------------------------

    def _schedule(self) -> None:
        self._ticking = True
        self._now = time.time()
        asyncio.get_running_loop().call_soon(self._tick)

    def _tick(self) -> None:
        self._show()
        if self._coalescer.due:
            self._write()
        if self._coalescer.waiting and self._timer is None and self.held_lease.lease is not None:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(self.settings.coalesce_window, self._on_timer)

    def _show(self) -> None:
        self._ticking = False
        batch = self._outbox
        if not batch or self.held_lease.doubts():
            return
        if self._held_from > self.committed_seq:
            batch = self._until_held()
            if not batch:
                return
        else:
            self._outbox = []
        self.last = batch[-1]
        if batch[-1].seq > self.committed_seq:
            self.tail += batch
        for reader in self._readers:
            reader.push(batch)

    def _until_held(self) -> list[Entry]:
        """Take what was emitted before the first event that must be durable before it is seen."""
        held = next(
            number
            for number, entry in enumerate(self._outbox)
            if entry.seq > self.committed_seq and type(entry.event) in _STORED_FIRST
        )
        batch, self._outbox = self._outbox[:held], self._outbox[held:]
        return batch

    def _write(self, *, durable: bool = False) -> None:
        lease = self.held_lease.lease
        if lease is None or self._error is not None or self.held_lease.doubts():
            return
        durable = durable or self._held_from > self._given_seq
        records = [
            Record(seq=seq, at=self._now, fence=lease.fence, event=content)
            if isinstance(content, Event)
            else Record(seq=seq, at=self._now, fence=lease.fence, command=content)
            for seq, content in self._coalescer.take()
        ]
        if not records and not (durable and self._perishable):
            return
        self._perishable = not durable
        written = self.journal.append(lease, records, durable=durable)
        last_seq = records[-1].seq if records else self._given_seq
        self._given_seq = last_seq
        self._last_write = written
        if written.done():
            self._on_written(written, last_seq)
        else:
            written.add_done_callback(lambda done: self._on_written(done, last_seq))

    def _on_timer(self) -> None:
        self._timer = None
        self.flush()

    def _on_written(self, written: asyncio.Future[None], last_seq: int) -> None:
        error = None if written.cancelled() else written.exception()
        if error is not None:
            self.fail(error)
            return
        self.committed_seq = max(self.committed_seq, last_seq)
        del self.tail[: bisect_right(self.tail, self.committed_seq, key=attrgetter("seq"))]
        self._wake()
        if self._outbox:
            self._show()

    def fail(self, error: BaseException) -> None:
        """Write nothing any more: the journal refused a write, or would."""
        if self._error is not None:
            return
        known = isinstance(error, JournalError)
        self._error = error if known else JournalError(f"the journal failed: {error}")
        self._wake()
        if self.on_failed is not None:
            self.on_failed(self._error)
