"""More than a hundred runs killed with SIGKILL: what was seen a moment before is there, and life goes on."""

import asyncio
import random
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec
import pytest

from tests.faults.children.talker import SETTINGS, Handed, Kept, Printed
from tests.faults.processes import child
from tests.hubs import WAIT, collect, echo, hub_for, make, only, until
from trunkline import events as ev
from trunkline.cursor import Cursor, cut, piece_of
from trunkline.folding import fold
from trunkline.grammar import Grammar
from trunkline.journal import Journal, Record, SessionKey, open_journal

CHAINS = 2
KILLS = 26
LONGEST = 0.5
"""The journal gets what is said within a twentieth of a second; a busy machine may take ten times that."""

Line = Printed | Handed | Kept
read_line: Callable[[bytes], Line] = msgspec.json.Decoder(Line).decode


class Death(NamedTuple):
    """What a child printed, and when it was killed."""

    lines: list[Line]
    at: float

    @property
    def printed(self) -> list[Printed]:
        """The events that were seen, in order."""
        return [line for line in self.lines if isinstance(line, Printed)]

    def last(self, kind: type[Handed | Kept]) -> int:
        """The last record that the journal was given, or said it has."""
        return max((line.last_seq for line in self.lines if isinstance(line, kind)), default=0)


async def run_and_kill(path: Path, session_id: str, seed: str) -> Death:
    """Start a talker and kill it: after some events, some bytes, or some time."""
    rng = random.Random(seed)
    events, size, delay = 10**9, 10**9, WAIT
    match rng.choice(("events", "bytes", "time")):
        case "events":
            events = rng.randint(1, 300)
        case "bytes":
            size = rng.randint(1, 40_000)
        case _:
            delay = rng.random() * 0.15
    lines: list[Line] = []
    async with child("talker", path, session_id, seed) as talking:

        async def read() -> Line:
            line = await talking.read()
            assert line is not None, "the child ended by itself"
            lines.append(read_line(line))
            return lines[-1]

        while not isinstance(await read(), Printed):
            pass
        try:
            async with asyncio.timeout(delay):
                while events > 0 and size > 0:
                    if isinstance(line := await read(), Printed):
                        events -= 1
                        size -= len(msgspec.json.encode(line))
        except TimeoutError:
            pass
        killed_at = time.time()
        lines += map(read_line, await talking.kill())
    return Death(lines, killed_at)


def check_survival(death: Death, records: Sequence[Record]) -> int:
    """Compare what was seen with what is in the journal, entry by entry and as a whole; count what was."""
    handed, kept_seq = death.last(Handed), death.last(Kept)
    places = [(Cursor.parse(line.cursor), line) for line in death.printed]
    for place, line in places:
        age = death.at - line.at
        assert place.record <= handed or age < LONGEST, f"{line} was never written in {age:.3f} s"
    seen = [line for place, line in places if place.record <= kept_seq]
    if not seen:
        return 0
    by_seq = {record.seq: record for record in records}
    for line in seen:
        place = Cursor.parse(line.cursor)
        assert place.record in by_seq, f"{line} is lost"
        record = by_seq[place.record]
        assert record.fence == place.fence
        piece = piece_of(line.event)
        if piece is None:
            assert record.event == line.event
        else:
            written = piece_of(record.event) or ""
            assert written[place.offset - len(piece) : place.offset] == piece, f"{line} is lost"
    first, last = Cursor.parse(seen[0].cursor), Cursor.parse(seen[-1].cursor)
    kept = [
        cut(record.event, last.offset)[0] if record.seq == last.record and last.offset else record.event
        for record in records
        if first.record <= record.seq <= last.record and record.event is not None
    ]
    assert fold(event for event in kept if event is not None) == fold(line.event for line in seen)
    return len(seen)


async def read_all(journal: Journal, key: SessionKey) -> list[Record]:
    """Read every record, and check that none is missing, torn or unknown."""
    records: list[Record] = []
    while page := await journal.read(key, after=len(records)):
        records += page
    assert [record.seq for record in records] == list(range(1, len(records) + 1))
    assert not any(isinstance(record.event, ev.Raw) for record in records)
    return records


def check_settled(records: Sequence[Record]) -> list[ev.TurnFinished | ev.TurnFailed]:
    """Check that every turn has one terminal and nothing is open; give the terminals."""
    events = [record.event for record in records if record.event is not None]
    grammar = Grammar("talker")
    assert [legal for event in events for legal in grammar.feed(event)] == events
    folded = fold(events)
    assert {call.status for call in folded.calls.values()} <= ev.FINAL_STATUSES
    assert all(question.answered for question in folded.questions.values())
    assert folded.queued == []
    terminals = [event for event in events if isinstance(event, ev.TurnFinished | ev.TurnFailed)]
    assert [event.turn_id for event in terminals] == [turn.turn_id for turn in folded.turns]
    return terminals


@pytest.mark.slow
@pytest.mark.timeout(180)
@pytest.mark.parametrize("chain", range(CHAINS))
async def test_a_killed_process_loses_at_most_the_last_moment_and_the_next_one_goes_on(
    chain: int, tmp_path: Path
) -> None:
    path = tmp_path / "journal.db"
    journal = await open_journal(f"sqlite:{path}")
    async with hub_for(make(echo, name="talker"), journal=journal, settings=SETTINGS) as hub:
        session = await hub.create()
        await session.close()
        compared = 0
        for kill in range(KILLS):
            death = await run_and_kill(path, session.session_id, f"{chain}-{kill}")
            compared += check_survival(death, await read_all(journal, session.key))
        assert compared > 10 * KILLS, "most of them were killed late enough to have been heard"
        last = await hub.session(session.session_id)
        events = await collect(last, "the last one")
        assert isinstance(events[-1], ev.TurnFinished)
        # A prompt that the last one killed had posted runs as well.
        await until(lambda: not last.busy)
        await last.close()
        terminals = check_settled(await read_all(journal, session.key))
        failed = only(terminals, ev.TurnFailed)
        assert {event.code for event in failed} == {"interrupted"}
        assert KILLS // 2 < len(failed) <= KILLS
    await journal.close()
