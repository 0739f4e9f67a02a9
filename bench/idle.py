"""Memory of sessions that are open and do nothing, in one hub on one SQLite file."""

from __future__ import annotations

import asyncio
import gc
import json
import sys
import tempfile
from pathlib import Path

from bench.machine import in_fresh_process, memory
from bench.report import Result, Row, median
from trunkline.agents.function import agent
from trunkline.journal import open_journal
from trunkline.session.hub import Hub
from trunkline.session.session import Session

BUDGET = 64 * 1024
WARM_UP = 20


async def _echo(prompt: object) -> str:
    return f"You said {prompt}. " * 20


async def _talk(session: Session) -> None:
    async for _ in session.stream("hello"):
        pass


async def measure(count: int) -> dict[str, float]:
    """Open sessions and weigh the process; runs in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        journal = await open_journal(f"sqlite:{Path(folder) / 'bench.db'}")
        async with Hub(agent(_echo), journal) as hub:
            for _ in range(WARM_UP):
                await _talk(await hub.create())
            empty = _weigh()
            sessions = [await hub.create() for _ in range(count)]
            opened = _weigh()
            for session in sessions:
                await session.own()
            owned = _weigh()
            for session in sessions:
                await _talk(session)
            talked = _weigh()
        await journal.close()
    return {
        "opened": (opened - empty) / count,
        "owned": (owned - empty) / count,
        "after one turn": (talked - empty) / count,
    }


def _weigh() -> int:
    gc.collect()
    return memory()


def run(quick: bool = False) -> Result:
    """Weigh sessions that were opened, claimed, and used once."""
    count, repetitions = (50, 1) if quick else (1_000, 3)
    runs = [in_fresh_process("bench.idle", str(count)) for _ in range(repetitions)]
    rows: list[Row] = []
    for case in runs[0]:
        kilobytes = [one[case] / 1024 for one in runs]
        rows.append({"session": case, "KB each": median(kilobytes), "most": max(kilobytes)})
    worst = max(float(row["most"] or 0) for row in rows)
    kept = "kept" if worst * 1024 <= BUDGET else "BROKEN"
    return Result(
        name="idle",
        about=f"resident memory of each of {count:,} idle sessions",
        rows=rows,
        samples={"bytes per session": runs},
        verdicts=[f"budget of {BUDGET // 1024} KB per idle session: {kept} ({worst:.1f} KB)"],
        quick=quick,
    )


if __name__ == "__main__":
    print(json.dumps(asyncio.run(measure(int(sys.argv[1])))))
