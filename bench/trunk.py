"""Events per second through the whole trunk, against a bare ``async for`` over the same generator.

The agent never waits, so this is the cost of the trunk and nothing else: agent, grammar, session,
SQLite journal and fan-out to readers that do nothing. A run ends when every reader has seen the
terminal and the journal has it on disk.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

from bench.machine import Clock, Spent
from bench.report import Result, Row, median, spread
from trunkline.agents.function import agent
from trunkline.events import TurnFinished
from trunkline.journal import open_journal
from trunkline.session.hub import Hub
from trunkline.session.stream.reader import Reader

READERS = (0, 1, 10)
PIECE = "token "


def make_tokens(count: int) -> Callable[[], AsyncIterator[str]]:
    """Make an agent's function that says ``count`` short texts."""

    async def tokens() -> AsyncIterator[str]:
        for _ in range(count):
            yield PIECE

    return tokens


async def bare(count: int) -> Spent:
    """Pull the same generator without a trunk."""
    tokens, seen = make_tokens(count), 0
    clock = Clock()
    async for _ in tokens():
        seen += 1
    assert seen == count
    return clock.spent()


async def trunk(count: int, readers: int, hub: Hub) -> Spent:
    """Run one turn and follow it with this many readers."""
    session = await hub.create()
    await session.own()
    following = [asyncio.create_task(follow(session.follow())) for _ in range(readers)]
    clock = Clock()
    await session.prompt("go")
    await session.wait_until_idle()
    await asyncio.gather(*following)
    spent = clock.spent()
    answer = (await session.history()).messages[-1].text
    assert answer == PIECE * count, "text was lost on its way to the journal"
    await session.close()
    return spent


async def follow(reader: Reader) -> int:
    """Read to the end of the turn; give how many entries there were."""
    seen = 0
    async with reader:
        while True:
            batch = await reader.next()
            seen += len(batch)
            if isinstance(batch[-1].event, TurnFinished):
                return seen


async def measure(count: int, repetitions: int) -> dict[str, list[Spent]]:
    """Interleave the cases, so that a busy neighbour disturbs all of them alike."""
    with tempfile.TemporaryDirectory() as folder:
        journal = await open_journal(f"sqlite:{Path(folder) / 'bench.db'}")
        async with Hub(agent(make_tokens(count)), journal) as hub:
            cases: dict[str, Callable[[], Awaitable[Spent]]] = {"bare async for": lambda: bare(count)}
            for readers in READERS:
                cases[f"trunk, {readers} readers"] = lambda n=readers: trunk(count, n, hub)
            samples: dict[str, list[Spent]] = {name: [] for name in cases}
            for repetition in range(repetitions + 1):
                for name, case in cases.items():
                    spent = await case()
                    if repetition:  # The first round warms up.
                        samples[name].append(spent)
        await journal.close()
    return samples


def run(quick: bool = False) -> Result:
    """Measure, and compare every case with the bare loop of its own repetition."""
    count, repetitions = (2_000, 2) if quick else (100_000, 9)
    samples = asyncio.run(measure(count, repetitions))
    base = samples["bare async for"]
    rows: list[Row] = []
    for name, spent in samples.items():
        walls, cpus = [one.wall / count * 1e6 for one in spent], [one.cpu / count * 1e6 for one in spent]
        rows.append(
            {
                "case": name,
                "events/s": round(1e6 / median(walls)),
                "wall us/event": median(walls),
                "min..max": spread(walls),
                "cpu us/event": median(cpus),
                "cpu min": min(cpus),
                "x of bare (cpu)": median(
                    one.cpu / other.cpu for one, other in zip(spent, base, strict=True)
                ),
            }
        )
    raw = {name: [one._asdict() for one in spent] for name, spent in samples.items()}
    return Result(
        name="trunk",
        about=f"{count:,} texts through agent, grammar, session, SQLite journal and readers",
        rows=rows,
        samples=raw,
        quick=quick,
    )
