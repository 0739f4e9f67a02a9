"""More than a hundred runs killed with SIGKILL: what was seen a moment before is there, and life goes on."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec
import pytest

from tests.faults.children.talker import SETTINGS, Printed
from tests.faults.processes import child
from tests.worlds import WAIT, collect, echo, make, only, world
from trunkline import events as ev
from trunkline.cursor import Cursor, cut, piece_of
from trunkline.folding import fold
from trunkline.grammar import Grammar
from trunkline.journal import Journal, Record, SessionKey, open_journal

CHAINS = 4
KILLS = 26
LOSS = 0.05
"""Text younger than this may be lost."""

read_line = msgspec.json.Decoder(Printed).decode


class Death(NamedTuple):
    """What a child printed, and when it was killed."""

    printed: list[Printed]
    at: float


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
    printed: list[Printed] = []
    async with child("talker", path, session_id, seed) as talking:
        first = await talking.read()
        assert first is not None, "the child ended by itself"
        printed.append(read_line(first))
        try:
            async with asyncio.timeout(delay):
                while len(printed) < events and size > 0:
                    line = await talking.read()
                    assert line is not None, "the child ended by itself"
                    size -= len(line)
                    printed.append(read_line(line))
        except TimeoutError:
            pass
        killed_at = time.time()
        printed += map(read_line, await talking.kill())
    return Death(printed, killed_at)


def check_survival(death: Death, records: Sequence[Record]) -> None:
    """Compare what was seen in time with what is in the journal, entry by entry and as a whole."""
    seen = [line for line in death.printed if line.at < death.at - LOSS]
    if not seen:
        return
    by_seq = {record.seq: record for record in records}
    for line in seen:
        place = Cursor.parse(line.cursor)
        age = f"{death.at - line.at:.3f} s old when the process was killed"
        assert place.record in by_seq, f"{line} is lost; it was {age}"
        record = by_seq[place.record]
        assert record.fence == place.fence
        piece = piece_of(line.event)
        if piece is None:
            assert record.event == line.event
        else:
            written = piece_of(record.event) or ""
            assert written[place.offset - len(piece) : place.offset] == piece, f"{line} is lost; it was {age}"
    first, last = Cursor.parse(seen[0].cursor), Cursor.parse(seen[-1].cursor)
    kept = [
        cut(record.event, last.offset)[0] if record.seq == last.record and last.offset else record.event
        for record in records
        if first.record <= record.seq <= last.record and record.event is not None
    ]
    assert fold(event for event in kept if event is not None) == fold(line.event for line in seen)


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
    told = fold(events)
    assert {call.status for call in told.calls.values()} <= ev.FINAL_STATUSES
    assert all(question.answered for question in told.questions.values())
    assert told.queued == []
    terminals = [event for event in events if isinstance(event, ev.TurnFinished | ev.TurnFailed)]
    assert [event.turn_id for event in terminals] == [turn.turn_id for turn in told.turns]
    return terminals


@pytest.mark.slow
@pytest.mark.timeout(180)
@pytest.mark.parametrize("chain", range(CHAINS))
async def test_a_killed_process_loses_at_most_the_last_moment_and_the_next_one_goes_on(
    chain: int, tmp_path: Path
) -> None:
    path = tmp_path / "journal.db"
    journal = await open_journal(f"sqlite:{path}")
    async with world(make(echo, name="talker"), journal=journal, settings=SETTINGS) as hub:
        session = await hub.create()
        await session.close()
        for kill in range(KILLS):
            death = await run_and_kill(path, session.session_id, f"{chain}-{kill}")
            check_survival(death, await read_all(journal, session.key))
        last = await hub.session(session.session_id)
        told = await collect(last, "the last one")
        assert isinstance(told[-1], ev.TurnFinished)
        terminals = check_settled(await read_all(journal, session.key))
        failed = only(terminals, ev.TurnFailed)
        assert {event.code for event in failed} == {"interrupted"}
        assert KILLS // 2 < len(failed) <= KILLS
    await journal.close()
