"""What the splice costs an editor and its agent: updates per second and round trips, with and without it.

One program is the agent, first started by the reader itself, then behind ``trunkline acp "acp:..."`` with the
SQLite journal on. The reader only splits lines and looks for the answer. Afterwards the journal must have
every letter.
"""

from __future__ import annotations

import asyncio
import os
import shlex
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import orjson

from bench.report import Result, Row, median, spread
from trunkline.folding import fold
from trunkline.journal import SessionKey, open_journal

AGENT = (sys.executable, str(Path(__file__).parent / "programs" / "raw_pipe.py"))
DIRECT, SPLICED = "direct", "spliced"
SESSION = "sess_0123456789abcdef0"
CHUNK = 1 << 18


class Editor:
    """A reader that does nothing but wait for its answers."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        """Talk to a process."""
        assert process.stdin is not None
        assert process.stdout is not None
        self._to, self._from = process.stdin.fileno(), process.stdout.fileno()
        self._number = 0

    def ask(self, method: str, params: dict[str, Any]) -> tuple[float, int]:
        """Ask, and give the seconds until the answer and how many lines came before it."""
        self._number += 1
        request = {"jsonrpc": "2.0", "id": self._number, "method": method, "params": params}
        began = time.perf_counter()
        os.write(self._to, orjson.dumps(request) + b"\n")
        waiting, lines = b"", 0
        while True:
            *whole, waiting = (waiting + os.read(self._from, CHUNK)).split(b"\n")
            lines += len(whole)
            if whole and b'"result"' in whole[-1]:
                return time.perf_counter() - began, lines - 1


def measure(words: list[str], count: int, trips: int) -> tuple[float, list[float]]:
    """Give the updates per second of one prompt, and the seconds of round trips."""
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        editor = Editor(process)
        editor.ask("initialize", {"protocolVersion": 1})
        editor.ask("session/new", {"cwd": "/", "mcpServers": []})
        seconds = [editor.ask("initialize", {"protocolVersion": 1})[0] for _ in range(trips)]
        prompt = [{"type": "text", "text": str(count)}]
        wall, lines = editor.ask("session/prompt", {"sessionId": SESSION, "prompt": prompt})
        assert lines == count, "the editor lost something"
        assert process.stdin is not None
        process.stdin.close()
        assert process.wait(60) == 0
    return count / wall, seconds


async def _stored(address: str) -> int:
    journal = await open_journal(address)
    try:
        events: list[Any] = []
        after = 0
        while page := await journal.read(SessionKey("local", SESSION), after=after):
            after = page[-1].seq
            events += [record.event for record in page if record.event is not None]
    finally:
        await journal.close()
    return len(fold(events).messages[-1].text)


def run(quick: bool = False) -> Result:
    """Measure both ways in turn, round after round."""
    count, trips, rounds = (2_000, 50, 1) if quick else (200_000, 2_000, 5)
    speeds: dict[str, list[float]] = {DIRECT: [], SPLICED: []}
    seconds: dict[str, list[float]] = {DIRECT: [], SPLICED: []}
    for _ in range(rounds):
        with tempfile.TemporaryDirectory() as folder:
            address = f"sqlite:{folder}/bench.db"
            ours = [
                sys.executable,
                "-m",
                "trunkline",
                "acp",
                f"acp:{shlex.join(AGENT)}",
                "--journal",
                address,
            ]
            for way, words in ((DIRECT, list(AGENT)), (SPLICED, ours)):
                speed, took = measure(words, count, trips)
                speeds[way].append(speed)
                seconds[way].append(median(took))
            assert asyncio.run(_stored(address)) == count, "the journal lost something"
    rows: list[Row] = [
        {
            "way": way,
            "updates/s": round(median(speeds[way])),
            "min..max k/s": spread(speeds[way], 1e-3, 0),
            "x of direct": median(one / base for one, base in zip(speeds[way], speeds[DIRECT], strict=True)),
            "round trip us": round(median(seconds[way]) * 1e6),
        }
        for way in speeds
    ]
    return Result(
        name="splice",
        about=f"{count:,} updates and {trips:,} round trips between an editor and an agent",
        rows=rows,
        samples={**{f"{way} updates/s": found for way, found in speeds.items()}, **seconds},
        quick=quick,
    )
