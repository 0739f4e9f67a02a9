"""Says very much while one reader sleeps; prints how much memory that took, and what the reader got."""

import asyncio
import os
import re
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import msgspec

from trunkline import events as ev
from trunkline.agents.function import agent
from trunkline.commands import Prompt
from trunkline.folding import fold
from trunkline.journal import open_journal
from trunkline.session.hub import Hub
from trunkline.session.settings import Settings
from trunkline.session.stream.reader import Reader

PIECE = "0123456789" * 20


@agent(name="chatterbox")
async def chatterbox(prompt: Prompt) -> AsyncIterator[str]:
    for number in range(int(prompt.text)):
        yield f"{number} {PIECE}"


def peak_memory() -> int:
    """The most memory this process ever had, in bytes; what getrusage tells, its parent may have had."""
    found = re.search(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text(encoding="ascii"))
    assert found is not None
    return int(found[1]) * 1024


async def read_turn(reader: Reader) -> list[ev.AnyEvent]:
    output: list[ev.AnyEvent] = []
    async for entry in reader:
        output.append(entry.event)
        if isinstance(entry.event, ev.TurnFinished | ev.TurnFailed):
            break
    return output


async def main(path: str, count: str) -> None:
    journal = await open_journal(f"sqlite:{path}")
    # What waits for a slow disk is bounded, and little here: it would look like the sleeper's.
    async with Hub(chatterbox, journal, settings=Settings(lag_limit=2_000)) as hub:
        session = await hub.create()
        # These rounds take what a turn takes when nobody sleeps, the second one with a snapshot of the first
        # beside it: what then grows, the sleeper holds.
        for _ in range(2):
            async for _ in session.stream(count):
                pass
        await session.snapshots.written()
        async with session.follow() as sleeping, session.follow() as awake:
            before, receipt = peak_memory(), await session.prompt(count)
            async for entry in awake:
                if isinstance(entry.event, ev.TurnFinished):
                    break
            grown = peak_memory() - before
            output = await read_turn(sleeping)
        kept = [entry.event async for entry in session.replay() if entry.event.turn_id == receipt.turn_id]
        line = {
            "grown": grown,
            "size": sum(len(event.delta) for event in output if isinstance(event, ev.Text)),
            "equal": fold(output) == fold(kept),
            "last": fold(output).messages[-1].text[-len(PIECE) - 6 :],
        }
        os.write(1, msgspec.json.encode(line) + b"\n")
    await journal.close()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
