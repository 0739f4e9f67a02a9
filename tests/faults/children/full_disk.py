"""Talks while its files may not grow any more, then gets its space back and goes on; prints what it saw."""

from __future__ import annotations

import asyncio
import os
import resource
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import msgspec

from trunkline import events as ev
from trunkline.agents.function import agent
from trunkline.commands import Prompt
from trunkline.errors import JournalError
from trunkline.journal import open_journal
from trunkline.session.hub import Hub

ROOM = 200_000


@agent(name="writer")
async def writer(prompt: Prompt) -> AsyncIterator[str]:
    while prompt.text == "much":
        yield "x" * 4096
        await asyncio.sleep(0.001)
    yield "little"


def limit_growth(path: Path) -> None:
    """Let no file of this process grow more than ROOM beyond this one."""
    limit_files(path.stat().st_size + ROOM)


def limit_files(size: int) -> None:
    """Let no file of this process grow beyond ``size`` bytes."""
    _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))


def tell(**fields: object) -> None:
    os.write(1, msgspec.json.encode(fields) + b"\n")


async def main(path: str) -> None:
    journal = await open_journal(f"sqlite:{path}")
    async with Hub(writer, journal) as hub:
        session = await hub.create()
        async with session.follow() as reader:
            await session.prompt("much")
            while session.stored_seq < 3:
                await asyncio.sleep(0.001)
            limit_growth(Path(f"{path}-wal"))
            try:
                async for entry in reader:
                    if isinstance(entry.event, ev.TurnFinished | ev.TurnFailed):
                        tell(terminal=entry.event)
            except JournalError as error:
                tell(ended=str(error))
        limit_files(resource.RLIM_INFINITY)
        again = await hub.session(session.session_id)
        said = [event async for event in again.stream("little")]
        tell(told=said, turns=(await again.history()).turns)
    await journal.close()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
