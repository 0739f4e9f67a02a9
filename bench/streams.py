"""Many turns at once on one hub: nobody starves, and all together are fast.

``eager`` agents never wait: the hub has to share the loop out. ``paced`` agents say a word every
20 ms, as models do: how late each word comes is what a person would notice.
"""

from __future__ import annotations

import asyncio
import tempfile
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import NamedTuple

from bench.machine import Clock
from bench.report import Result, Row, median
from trunkline.agents.function import agent
from trunkline.events import Text, TurnFinished
from trunkline.journal import open_journal
from trunkline.session.hub import Hub
from trunkline.session.session import Session

PACE = 0.02


class Stream(NamedTuple):
    """What one reader saw of its turn, in seconds after the common start."""

    first: float
    silence: float
    """The longest time between two words."""
    finished: float


async def follow(session: Session, began: float) -> Stream:
    """Prompt and read to the end."""
    first = last = silence = 0.0
    async with session.follow() as reader:
        await session.prompt("go")
        while True:
            for entry in await reader.next():
                if isinstance(entry.event, TurnFinished):
                    return Stream(first, silence, time.perf_counter() - began)
                if isinstance(entry.event, Text):
                    now = time.perf_counter() - began
                    if first:
                        silence = max(silence, now - last)
                    first, last = first or now, now


async def measure(streams: int, words: int, pace: float | None) -> tuple[list[Stream], float, float]:
    """Run all turns at once; give what each reader saw, and the wall and processor time of all."""

    async def speaker() -> AsyncIterator[str]:
        for _ in range(words):
            yield "token "
            if pace is not None:
                await asyncio.sleep(pace)

    with tempfile.TemporaryDirectory() as folder:
        journal = await open_journal(f"sqlite:{Path(folder) / 'bench.db'}")
        async with Hub(agent(speaker), journal) as hub:
            sessions = [await hub.create() for _ in range(streams)]
            for session in sessions:
                await session.own()
            clock, began = Clock(), time.perf_counter()
            seen = await asyncio.gather(*(follow(session, began) for session in sessions))
            spent = clock.spent()
        await journal.close()
    return list(seen), spent.wall, spent.cpu


def run(quick: bool = False) -> Result:
    """Measure both kinds of agents."""
    streams, repetitions = (20, 1) if quick else (1_000, 3)
    kinds = {"eager": (50 if quick else 500, None), "paced": (5 if quick else 50, PACE)}
    rows: list[Row] = []
    samples: dict[str, list[dict[str, object]]] = {kind: [] for kind in kinds}
    verdicts: list[str] = []
    for _ in range(repetitions):
        for kind, (words, pace) in kinds.items():
            seen, wall, cpu = asyncio.run(measure(streams, words, pace))
            samples[kind].append({"wall": wall, "cpu": cpu, "streams": [one._asdict() for one in seen]})
            finished = sorted(one.finished for one in seen)
            rows.append(
                {
                    "agents": kind,
                    "events/s": round(streams * words / wall),
                    "cpu us/event": cpu / (streams * words) * 1e6,
                    "first word, last stream s": max(one.first for one in seen),
                    "longest silence s": max(one.silence for one in seen),
                    "fastest s": finished[0],
                    "median s": median(finished),
                    "slowest s": finished[-1],
                    "slowest/fastest": finished[-1] / finished[0],
                }
            )
            verdicts.append(f"{kind}: {sum(one.first > 0 for one in seen)} of {streams} streams were heard")
    rows.sort(key=lambda row: str(row["agents"]))
    return Result(
        name="streams",
        about=f"{streams:,} turns at once on one hub and one SQLite file, a reader each",
        rows=rows,
        samples=dict(samples),
        verdicts=sorted(set(verdicts)),
        quick=quick,
    )
