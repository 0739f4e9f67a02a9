"""Windows: a wire run (an ACP prompt, an AG-UI run, an AI SDK response) is a window on a turn.

A window's encoder is built fresh and primed: it is fed from the turn's first record, and what it
gives is discarded up to the cursor; from there on it is live. Resume, reload and Last-Event-ID
are this one mechanism, so nothing announced is announced twice and nothing is lost. A new wire run that
begins inside open parts announces them again first: its client has seen no start in this run.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from typing import Generic, TypeVar

import msgspec

from trunkline import events as ev
from trunkline.cursor import Cursor, Entry, cut, piece_of
from trunkline.session.session import Session
from trunkline.translate import Translator, batching

__all__ = ["Window"]

Wire = TypeVar("Wire")


class Window(Generic[Wire]):
    """Shows one turn through one encoder; iterate to get (cursor, what to send) pairs."""

    def __init__(
        self,
        session: Session,
        encoder: Translator[Entry, Wire],
        *,
        turn_id: str,
        run_id: str,
        front_end: str,
        after: Cursor | None = None,
        ends_on_suspend: bool = False,
        announce: Callable[[], list[Wire]] | None = None,
        holds: Callable[[ev.TurnSuspended], bool] | None = None,
    ) -> None:
        """Look at a turn; ``after`` is the cursor up to which the peer has seen it already.

        ``announce`` gives what is open at that cursor, from the encoder. A run that is new to its peer
        needs it; one that goes on after a lost connection does not. ``ends_on_suspend`` is for a
        wire that ends at a suspension: only one that still holds ends the window, past ones are passed over;
        ``holds`` may decide this in another way.
        """
        self._session = session
        self._encoder = encoder
        self._feed_all = batching(encoder)
        self._turn_id = turn_id
        self._run_id = run_id
        self._front_end = front_end
        self._from = after
        self._after = (after.record, after.offset) if after is not None else (0, 0)
        self._announce = announce
        self._holds = holds or (self._has_open_question if ends_on_suspend else None)
        ends: tuple[type[ev.Event], ...] = (ev.TurnFinished, ev.TurnFailed)
        self._ends = frozenset((*ends, ev.TurnSuspended) if ends_on_suspend else ends)
        self._cursor = Cursor(0, 0, 0)
        self._over = False
        self._awaited: list[tuple[tuple[int, int], asyncio.Future[None]]] = []

    def reached(self, record: int, offset: int) -> asyncio.Future[None] | None:
        """Give what is done once the consumer took everything up to this position; None if it has."""
        position = (record, offset)
        if self._over or (self._cursor.record, self._cursor.offset) >= position:
            return None
        reached: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._awaited.append((position, reached))
        return reached

    def _arrive(self, cursor: Cursor) -> None:
        self._cursor = cursor
        if self._awaited:
            here = (cursor.record, cursor.offset)
            awaited, self._awaited = self._awaited, []
            for wanted, reached in awaited:
                if not self._over and wanted > here:
                    self._awaited.append((wanted, reached))
                elif not reached.done():
                    reached.set_result(None)

    async def __aiter__(self) -> AsyncGenerator[tuple[Cursor, list[Wire]]]:
        """Prime, then follow until the turn ends (or suspends, for a wire that ends there)."""
        session = self._session
        first = await session.start_of(self._turn_id)
        self._note(ev.RunOpened, from_seq=max(first, self._after[0] + 1))
        cursor = self._from or Cursor(0, first, 0)
        try:
            async with session.event_stream.subscribe_from(first) as reader:
                over = False
                while not over:
                    entries = await reader.next()
                    last = entries[-1]
                    if (entries[0].seq, entries[0].offset) <= self._after:
                        entries = self._prime(entries)
                    out = self._announced() if (last.seq, last.offset) >= self._after else []
                    shown, over = self._show(entries)
                    out += shown
                    if over:
                        out += self._encoder.close()
                    if entries:
                        cursor = entries[-1].cursor
                    if out:
                        yield cursor, out
                    self._arrive(cursor)
        finally:
            self._over = True
            self._arrive(cursor)
            self._note(ev.RunClosed, to_seq=cursor.record)

    def _announced(self) -> list[Wire]:
        """Announce once what is open where the window begins."""
        announce, self._announce = self._announce, None
        return [] if announce is None else announce()

    def _show(self, entries: list[Entry], *, again: bool = False) -> tuple[list[Wire], bool]:
        """Encode what belongs to the turn, up to its end; True when that was reached.

        ``again`` is for what the peer has seen: there a run ended with each suspension.
        """
        mine: list[Entry] = []
        turn_id, ends, over = self._turn_id, self._ends, False
        holds = None if again else self._holds
        for entry in entries:
            event = entry.event
            if event.turn_id == turn_id or event.turn_id is None:
                if holds is not None and isinstance(event, ev.TurnSuspended):
                    rest = entries[entries.index(entry) + 1 :]
                    if any(isinstance(later.event, ev.TurnResumed) for later in rest):
                        continue
                    if not holds(event):
                        continue
                mine.append(entry)
                if type(event) in ends:
                    over = True
                    break
        return self._feed_all(mine), over

    def _has_open_question(self, event: ev.TurnSuspended) -> bool:
        """Whether the turn still waits for a question of this suspension."""
        session = self._session
        return session.is_suspended and any(key in session.open_questions for key in event.question_ids)

    def _prime(self, entries: list[Entry]) -> list[Entry]:
        """Feed what the peer has seen without showing it, and give the rest; one entry may have to be cut."""
        record, offset = self._after
        rest: list[Entry] = []
        for entry in entries:
            start = entry.offset - len(piece_of(entry.event) or "")
            if (entry.seq, entry.offset) <= self._after:
                self._show([entry], again=True)
            elif entry.seq == record and start < offset:
                head, tail = cut(entry.event, offset - start)
                if head is not None:
                    self._show([Entry(entry.seq, offset, entry.fence, entry.at, head)], again=True)
                if tail is not None:
                    rest.append(Entry(entry.seq, entry.offset, entry.fence, entry.at, tail))
            else:
                rest.append(entry)
        return rest

    def _note(self, kind: type[ev.RunOpened] | type[ev.RunClosed], **seq: int) -> None:
        """Journal the window's edges; a process that only follows has nothing to write."""
        if self._session.event_stream.lease is None or self._session.closed:
            return
        fields = {"turn_id": self._turn_id, "run_id": self._run_id, **seq}
        if kind is ev.RunOpened:
            fields["front_end"] = self._front_end
        self._session.event_stream.emit(msgspec.convert({"type": kind.__struct_config__.tag, **fields}, kind))
