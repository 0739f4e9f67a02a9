"""Updates per second over stdio, from ``yield "x"`` to a reader on the pipe, with the SQLite journal on.

Three programs say the same to the same reader, in turn: one that does nothing but ``orjson.dumps`` and
``os.write``, ``trunkline acp`` with an agent that yields, and an agent on the official Python SDK. Time
counts from the prompt to its answer, so ours includes the end of the turn on disk. Afterwards every byte
is checked, at the reader and in the journal.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from bench.machine import peer_python
from bench.report import Result, Row, median, spread
from trunkline.folding import fold
from trunkline.journal import SessionKey, open_journal

PROGRAMS = Path(__file__).parent / "programs"
RAW, OURS, SDK = "raw pipe", "trunkline acp", "SDK 0.12.1"
BUDGET = 0.8
CHUNK = 1 << 18


class Turn(NamedTuple):
    """One turn: how many updates came, and seconds on the wall and on the agent's processors.

    A reader that falls behind is given more text in fewer updates, so they are counted, not assumed.
    """

    updates: int
    wall: float
    cpu: float


class Program:
    """An agent's process, spoken to as plainly as possible."""

    def __init__(self, command: Sequence[str], environment: dict[str, str]) -> None:
        self._child = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment
        )

    def request(self, method: str, params: dict[str, Any]) -> bytes:
        """Ask, and give everything up to the answer, which is the last line."""
        assert self._child.stdin is not None
        assert self._child.stdout is not None
        line = orjson.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
        self._child.stdin.write(line + b"\n")
        self._child.stdin.flush()
        out = self._child.stdout.fileno()
        pieces: list[bytes] = []
        tail = b""
        while not (tail.endswith(b"\n") and b'"result"' in tail):
            piece = os.read(out, CHUNK)
            pieces.append(piece)
            tail = (tail + piece[-512:])[-512:]
            if not piece or b'"error"' in tail:
                raise RuntimeError(f"{method} failed: {tail!r}")
        return b"".join(pieces)

    def cpu(self) -> float:
        """Seconds of processor time of all threads so far."""
        threads = Path(f"/proc/{self._child.pid}/task").glob("*/schedstat")
        return sum(int(thread.read_text(encoding="ascii").split()[0]) for thread in threads) / 1e9

    def end(self) -> None:
        """Close its input and wait."""
        self._child.communicate(timeout=30)


def play(command: Sequence[str], count: int, journal: str, cache: str) -> Turn:
    """Start a program, ask it for ``count`` updates, and check what came and what was kept."""
    program = Program(command, {**os.environ, "TRUNKLINE_JOURNAL": journal, "XDG_CACHE_HOME": cache})
    try:
        program.request("initialize", {"protocolVersion": 1, "clientCapabilities": {}})
        opened = program.request("session/new", {"cwd": "/", "mcpServers": []})
        session_id: str = orjson.loads(opened)["result"]["sessionId"]
        prompt = [{"type": "text", "text": str(count)}]
        cpu, began = program.cpu(), time.perf_counter()
        output = program.request("session/prompt", {"sessionId": session_id, "prompt": prompt})
        wall, cpu = time.perf_counter() - began, program.cpu() - cpu
    finally:
        program.end()
    lines = [orjson.loads(line)["params"]["update"] for line in output.splitlines()[:-1]]
    # A session is also told its title.
    updates = [update for update in lines if "content" in update]
    heard = "".join(update["content"]["text"] for update in updates)
    assert heard == "x" * count, "the reader lost something"
    if "trunkline" in command:
        assert asyncio.run(kept(journal, session_id)) == heard, "the journal lost something"
    return Turn(len(updates), wall, cpu)


async def kept(url: str, session_id: str) -> str:
    """What the journal holds of the agent's answer."""
    journal = await open_journal(url)
    try:
        records = await journal.read(SessionKey("local", session_id), limit=1_000_000)
    finally:
        await journal.close()
    return fold(record.event for record in records if record.event is not None).messages[-1].text


def run(quick: bool = False) -> Result:
    """Let the programs speak in turn, round after round."""
    count, slow_count, rounds = (2_000, 500, 1) if quick else (200_000, 20_000, 7)
    cases: dict[str, tuple[list[str], int]] = {
        RAW: ([sys.executable, str(PROGRAMS / "raw_pipe.py")], count),
        OURS: ([sys.executable, "-m", "trunkline", "acp", f"{PROGRAMS / 'yields.py'}:yields"], count),
        SDK: ([peer_python("acp-sdk-0.12"), str(PROGRAMS / "sdk_echo.py")], slow_count),
    }
    samples: dict[str, list[Turn]] = {name: [] for name in cases}
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(rounds):
            for name, (command, updates) in cases.items():
                turn = play(command, updates, f"sqlite:{folder}/bench.db", f"{folder}/cache")
                samples[name].append(turn)
    floor = [turn.updates / turn.wall for turn in samples[RAW]]
    rows: list[Row] = []
    for name, turns in samples.items():
        speeds = [turn.updates / turn.wall for turn in turns]
        rows.append(
            {
                "program": name,
                "updates/s": round(median(speeds)),
                "min..max k/s": spread(speeds, 1e-3, 0),
                "agent cpu us": median(turn.cpu / turn.updates * 1e6 for turn in turns),
                "x of raw": median(speed / base for speed, base in zip(speeds, floor, strict=True)),
            }
        )
    reached = next(row["x of raw"] for row in rows if row["program"] == OURS)
    assert isinstance(reached, float)
    verdict = "kept" if reached >= BUDGET else "MISSED"
    return Result(
        name="acp",
        about=f'{count:,} times yield "x" through trunkline acp and the SQLite journal to a pipe',
        rows=rows,
        samples={name: [turn._asdict() for turn in turns] for name, turns in samples.items()},
        verdicts=[f"budget {verdict}: {reached:.2f}x of a raw pipe (at least {BUDGET}x)"],
        quick=quick,
    )
