"""What the programs that stream tokens share: the meter, our session, and the loop that answers lines."""

from __future__ import annotations

import asyncio
import gc
import json
import sys
import time
from collections.abc import Callable, Coroutine, Mapping
from typing import Any

PIECE = "token "


class Meter:
    """Times one turn; what came out of it must be whole."""

    def __init__(self) -> None:
        gc.collect()
        self._cpu = time.process_time()

    def read(self, pieces: int, heard: int) -> float:
        """Give the seconds of processor time so far."""
        cpu = time.process_time() - self._cpu
        assert heard == pieces, f"{heard} of {pieces} tokens came"
        return cpu


async def stream_session(agent: Any, pieces: int) -> float:
    """Run an agent in a session with a journal in memory, to one reader of neutral events."""
    from trunkline.agents.adapt import adapt
    from trunkline.events import Text, TurnFinished
    from trunkline.journal import open_journal
    from trunkline.session.hub import Hub

    journal = await open_journal("memory:")
    async with Hub(adapt(agent), journal) as hub:
        session = await hub.create()
        heard, ended = 0, False
        meter = Meter()
        async with session.follow() as reader:
            await session.prompt(str(pieces))
            while not ended:
                for entry in await reader.next():
                    if type(entry.event) is Text:
                        heard += entry.event.delta.count(PIECE)
                    elif isinstance(entry.event, TurnFinished):
                        ended = True
        cpu = meter.read(pieces, heard)
    await journal.close()
    return cpu


def measure(ways: Mapping[str, Callable[[int], Coroutine[Any, Any, float]]]) -> None:
    """Measure what is asked for, for as long as somebody asks: each line names a way and how many tokens."""
    for line in sys.stdin:
        way, pieces = line.split()
        print(json.dumps(asyncio.run(ways[way](int(pieces)))), flush=True)
