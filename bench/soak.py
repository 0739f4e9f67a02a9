"""A long run under load: ``python -m bench.soak [--minutes N]``.

Sessions are opened, prompted, cancelled, asked, closed and deleted, and readers come, fall behind and
are killed, lap after lap. At the end of each lap everything is quiet; what is still held then (memory,
open files, tasks, readers, sessions) must not grow from lap to lap.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import random
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from bench import report
from bench.machine import memory, open_files
from trunkline.agents.function import agent
from trunkline.commands import Answer, Prompt
from trunkline.events import Asked, TurnFailed, TurnFinished, TurnSuspended
from trunkline.journal import open_journal
from trunkline.session.context import TurnContext
from trunkline.session.hub import Hub
from trunkline.session.session import Session

SESSIONS = 40
PATIENCE = 30.0
"""How long one person may take with one session before the soak counts it as hanging."""
FEW_LAPS = 6
SLACK = 4 * 2**20
"""Resident memory may move by this much without anything being held."""


class Lap(NamedTuple):
    """What was held at the end of a lap."""

    memory: int
    files: int
    tasks: int
    sessions: int
    seconds: float


# -- the agent and its people ----------------------------------------------------------------------


@agent(name="soak")
async def speaker(prompt: Prompt, ctx: TurnContext) -> AsyncIterator[str]:
    """Do what the prompt says."""
    if "ask" in prompt.text and not await ctx.permission("May I?", tool="write", input={"path": "a.txt"}):
        yield "Then not."
        return
    async with ctx.tool("search", input={"query": "x"}) as call:
        call.output("found\n" * 10)
    for number in range(400):
        yield f"word {number} "
        if number % 50 == 0:
            await asyncio.sleep(0.001)
    if "wait" in prompt.text:
        await asyncio.Event().wait()


async def read_all(session: Session) -> None:
    """Prompt and read to the end."""
    async for _ in session.stream("talk"):
        pass


async def cancel(session: Session) -> None:
    """Stop a turn that would go on for ever."""
    async with session.follow() as reader:
        await session.prompt("talk and wait")
        await reader.next()
        await session.cancel(by="soak")


async def answer(session: Session) -> None:
    """Allow or refuse what the agent asks for."""
    async for event in session.stream("ask"):
        if isinstance(event, Asked):
            option = random.choice(["allow_once", "reject_once"])
            await session.answer(Answer(question_id=event.question_id, option_id=option))


async def leave_the_question(session: Session) -> None:
    """Go away while a question is open; the session is closed with it."""
    async for event in session.stream("ask"):
        if isinstance(event, TurnSuspended):
            return


async def kill_the_reader(session: Session) -> None:
    """Cancel a task in the middle of its reading, and take up the turn from its cursor."""
    reader = session.follow()

    async def follow() -> None:
        async with reader:
            while True:
                await reader.next()

    reading = asyncio.create_task(follow())
    await session.prompt("talk")
    await asyncio.sleep(random.random() * 0.005)
    reading.cancel()
    await asyncio.gather(reading, return_exceptions=True)
    again = await session.subscribe(reader.cursor)
    if isinstance(again, tuple):
        raise AssertionError(f"the cursor of a killed reader leads nowhere: {again}")
    async with again:
        while not isinstance((await again.next())[-1].event, TurnFinished | TurnFailed):
            pass


async def fall_behind(session: Session) -> None:
    """Read nothing until the turn is over, and then all of it."""
    async with session.follow() as reader:
        await session.prompt("talk")
        await session.wait_until_idle()
        while not isinstance((await reader.next())[-1].event, TurnFinished | TurnFailed):
            pass


PEOPLE: tuple[Callable[[Session], Coroutine[Any, Any, None]], ...] = (
    read_all, cancel, answer, leave_the_question, kill_the_reader, fall_behind,
)  # fmt: skip


async def visit(hub: Hub, number: int) -> None:
    """Open a session, let two people at it one after the other, close and delete it."""
    session = await hub.create()
    async with asyncio.timeout(PATIENCE):
        await PEOPLE[number % len(PEOPLE)](session)
        if not session.busy:
            await random.choice(PEOPLE)(session)
        if number % 2:
            await session.close()
            session = await hub.session(session.session_id)
            await session.history()
        await hub.delete(session.session_id)


# -- laps ------------------------------------------------------------------------------------------


async def soak(seconds: float, sessions: int = SESSIONS) -> list[Lap]:
    """Go round until the time is over, at least a few times."""
    laps: list[Lap] = []
    deadline = time.monotonic() + seconds
    with tempfile.TemporaryDirectory() as folder:
        journal = await open_journal(f"sqlite:{Path(folder) / 'soak.db'}")
        # The journal opens its few reading connections when they are needed: here, all at once.
        await asyncio.gather(*(journal.list(None) for _ in range(100)))
        async with Hub(speaker, journal) as hub:
            while len(laps) < FEW_LAPS or time.monotonic() < deadline:
                began = time.monotonic()
                await asyncio.gather(*(visit(hub, number) for number in range(sessions)))
                await asyncio.sleep(0.05)  # What was cancelled last may take its leave.
                gc.collect()
                held = len(asyncio.all_tasks())
                known = len(await hub.list(principal=None))
                laps.append(Lap(memory(), open_files(), held, known, time.monotonic() - began))
        await journal.close()
    return laps


def judge(laps: Sequence[Lap]) -> list[str]:
    """Say what grew: the last third of the laps against the first third after warming up."""
    settled = laps[len(laps) // 5 :]
    third = max(1, len(settled) // 3)
    early, late = settled[:third], settled[-third:]
    found: list[str] = []
    before, after = (report.median(lap.memory for lap in part) for part in (early, late))
    if after > before * 1.05 + SLACK:
        found.append(f"memory grew from {before / 2**20:.1f} to {after / 2**20:.1f} MB")
    for field in ("files", "tasks", "sessions"):
        most = [max(getattr(lap, field) for lap in part) for part in (early, late)]
        if most[1] > most[0]:
            found.append(f"{field} grew from {most[0]} to {most[1]}")
    return found


def run(quick: bool = False, minutes: float = 2.0) -> report.Result:
    """Soak, and tell what was held and what grew."""
    laps = asyncio.run(soak(0.0 if quick else minutes * 60, 6 if quick else SESSIONS))
    rows: list[report.Row] = [
        {
            "lap": str(number + 1),
            "memory MB": laps[number].memory / 2**20,
            "files": laps[number].files,
            "tasks": laps[number].tasks,
            "sessions": laps[number].sessions,
            "seconds": laps[number].seconds,
        }
        for number in sorted({*range(0, len(laps), max(1, len(laps) // 10)), len(laps) - 1})
    ]
    grown = judge(laps)
    return report.Result(
        name="soak",
        about=f"{len(laps)} laps of {6 if quick else SESSIONS} sessions each",
        rows=rows,
        samples={"laps": [lap._asdict() for lap in laps]},
        verdicts=[f"GROWTH: {what}" for what in grown] or ["nothing grew"],
        quick=quick,
    )


def main(args: Sequence[str] | None = None) -> int:
    """Soak for some minutes; 1 when something grew."""
    parser = argparse.ArgumentParser(prog="python -m bench.soak", description="A long run under load.")
    parser.add_argument("--minutes", type=float, default=2.0)
    parser.add_argument("--quick", action="store_true", help="a few laps, to see that it runs")
    chosen = parser.parse_args(args)
    result = run(chosen.quick, chosen.minutes)
    print(report.show(result))
    return 1 if result.verdicts != ["nothing grew"] else 0


if __name__ == "__main__":
    sys.exit(main())
