"""Follows a session from any place: primes an encoder up to there, then shows everything that comes."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import NamedTuple

from trunkline.cursor import Cursor, Entry, Gap, cut, piece_of
from trunkline.errors import TrunklineError
from trunkline.frontends.unified.encoder import UnifiedEncoder
from trunkline.frontends.unified.options import UnifiedOptions
from trunkline.protocols.unified.wire import UnifiedMessage
from trunkline.session.session import Session
from trunkline.session.stream.reader import WHOLE

__all__ = ["Place", "find_place", "follow", "replay"]


class Place(NamedTuple):
    """Where a client begins: after this position; ``gap`` is whether it lacks what was before."""

    record: int
    offset: int
    gap: bool = False

    @property
    def first(self) -> int:
        """The first record that is shown, at least in part."""
        return self.record + 1 if self.offset >= WHOLE else self.record


async def find_place(session: Session, *, from_seq: int | None = None, after: Cursor | None = None) -> Place:
    """Find where a client begins.

    ``from_seq`` is the first record to show, ``after`` the cursor of the last message that it has. Where
    nothing is stored any more, or not yet, there is a gap: all that is stored is shown.
    """
    if after is not None:
        gap = await session.find_gap(after)
        return Place(gap.first_seq - 1, WHOLE, gap=True) if isinstance(gap, Gap) else Place(*after[1:])
    if from_seq is not None:
        info = await session.hub.journal.get(session.key)
        oldest = 1 if info is None else max(1, info.first_seq)
        wanted = max(1, from_seq)
        lost = wanted < oldest or wanted > session.position.record + 1
        return Place((oldest if lost else wanted) - 1, WHOLE, gap=lost)
    running = session.running_turn_id
    start = None if running is None else session.turn_start(running)
    return Place((session.position.record if start is None else start - 1), WHOLE)


async def follow(
    session: Session, place: Place, options: UnifiedOptions | None = None
) -> AsyncGenerator[list[UnifiedMessage]]:
    """Show a session from a place on, batch by batch, until it is closed in this process."""
    encoder = UnifiedEncoder(session.session_id, options)
    async with session.subscribe_from(session.turn_start_before(place.first)) as reader:
        while True:
            try:
                entries = await reader.next()
            except TrunklineError:
                # Closed, deleted, or taken over by another process: nothing follows here.
                if end := encoder.close():
                    yield end
                return
            if out := [message for entry in entries for message in _shown(encoder, entry, place)]:
                yield out


async def replay(
    session: Session, from_seq: int = 1, options: UnifiedOptions | None = None
) -> AsyncGenerator[UnifiedMessage]:
    """Show what a session has so far, from a record on."""
    place = Place(max(1, from_seq) - 1, WHOLE)
    encoder = UnifiedEncoder(session.session_id, options)
    async for entry in session.replay(session.turn_start_before(place.first)):
        for message in _shown(encoder, entry, place):
            yield message


def _shown(encoder: UnifiedEncoder, entry: Entry, place: Place) -> list[UnifiedMessage]:
    """Encode an entry; what the client has of it is not shown."""
    after = (place.record, place.offset)
    if (entry.seq, entry.offset) <= after:
        encoder.feed(entry)
        return []
    start = entry.offset - len(piece_of(entry.event) or "")
    if entry.seq != place.record or start >= place.offset:
        return encoder.feed(entry)
    seen, rest = cut(entry.event, place.offset - start)
    if seen is not None:
        encoder.feed(Entry(entry.seq, place.offset, entry.fence, entry.at, seen))
    return [] if rest is None else encoder.feed(Entry(entry.seq, entry.offset, entry.fence, entry.at, rest))
