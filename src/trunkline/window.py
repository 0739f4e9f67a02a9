"""Windows: a wire run (an ACP prompt, an AG-UI run, an AI SDK response) is a window on a turn.

A window's encoder is built fresh and primed: it is fed from the turn's first record, and what it
says is thrown away up to the cursor; from there on it is live. Resume, reload and Last-Event-ID
are this one mechanism, so nothing announced is announced twice and nothing is lost.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterable
from typing import Generic, TypeVar

import msgspec

from trunkline import events as ev
from trunkline.cursor import Cursor, Entry, cut, piece_of
from trunkline.session import Session
from trunkline.translate import Translator

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
    ) -> None:
        """Look at a turn; ``after`` is the place up to which the peer has seen it already."""
        self._session = session
        self._encoder = encoder
        self._turn_id = turn_id
        self._run_id = run_id
        self._front_end = front_end
        self._after = (after.record, after.offset) if after is not None else (0, 0)
        self._ends_on_suspend = ends_on_suspend

    async def __aiter__(self) -> AsyncGenerator[tuple[Cursor, list[Wire]]]:
        """Prime, then follow until the turn ends (or suspends, for a wire that ends there)."""
        session = self._session
        first = await session.start_of(self._turn_id)
        self._note(ev.RunOpened, from_seq=max(first, self._after[0] + 1))
        place = Cursor(0, first, 0)
        try:
            async with session.line.subscribe_from(first) as reader:
                over = False
                while not over:
                    said: list[Wire] = []
                    for entry in self._split(await reader.next()):
                        out = self._encoder.feed(entry)
                        place = entry.cursor
                        if (entry.seq, entry.offset) > self._after:
                            said += out
                            over = over or self._is_end(entry)
                    if over:
                        said += self._encoder.close()
                    if said:
                        yield place, said
        finally:
            self._note(ev.RunClosed, to_seq=place.record)

    def _split(self, entries: Iterable[Entry]) -> Iterable[Entry]:
        """Cut the entry that the cursor points into, and leave out other turns."""
        record, offset = self._after
        for entry in entries:
            if entry.event.turn_id is not None and entry.event.turn_id != self._turn_id:
                continue
            start = entry.offset - len(piece_of(entry.event) or "")
            if entry.seq == record and start < offset < entry.offset:
                head, tail = cut(entry.event, offset - start)
                if head is not None:
                    yield Entry(entry.seq, offset, entry.fence, entry.at, head)
                if tail is not None:
                    yield Entry(entry.seq, entry.offset, entry.fence, entry.at, tail)
            else:
                yield entry

    def _is_end(self, entry: Entry) -> bool:
        if isinstance(entry.event, ev.TurnFinished | ev.TurnFailed):
            return True
        return self._ends_on_suspend and isinstance(entry.event, ev.TurnSuspended)

    def _note(self, kind: type[ev.RunOpened] | type[ev.RunClosed], **seq: int) -> None:
        """Journal the window's edges; a process that only follows has nothing to write."""
        if self._session.line.lease is None or self._session.closed:
            return
        fields = {"turn_id": self._turn_id, "run_id": self._run_id, **seq}
        if kind is ev.RunOpened:
            fields["front_end"] = self._front_end
        self._session.line.say(msgspec.convert({"type": kind.__struct_config__.tag, **fields}, kind))
