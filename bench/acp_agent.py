"""Updates per second from an agent's process to whoever follows the session, with the SQLite journal on.

One program says the same to three readers, in turn: one that only splits lines and ``orjson.loads``
them, AcpAgent in a session with one follower, and a client on the official Python SDK. Time counts from the
prompt until the reader has everything. Afterwards every letter is checked, also in the journal.

Then so many agents are started and stopped, and what they leave behind is counted: processes, descriptors and
files in the temporary folder.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path

import orjson

from bench.machine import peer_python
from bench.report import Result, Row, median, spread
from trunkline import events as ev
from trunkline.agents.acp import AcpAgent
from trunkline.journal import open_journal
from trunkline.session.hub import Hub

PROGRAMS = Path(__file__).parent / "programs"
AGENT = (sys.executable, str(PROGRAMS / "raw_pipe.py"))
RAW, OURS, SDK = "raw pipe", "AcpAgent", "SDK 0.12.1"
CHUNK = 1 << 18


def read_raw(count: int, folder: str) -> float:
    """Read and parse every line, and nothing else."""
    with subprocess.Popen(AGENT, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as agent:
        assert agent.stdin is not None
        assert agent.stdout is not None
        began = 0.0
        letters = 0
        for method in ("initialize", "session/new", "session/prompt"):
            params = {"prompt": [{"type": "text", "text": str(count)}]}
            began = time.perf_counter()
            agent.stdin.write(orjson.dumps({"id": 1, "method": method, "params": params}) + b"\n")
            agent.stdin.flush()
            waiting, answered = b"", False
            while not answered:
                *lines, waiting = (waiting + os.read(agent.stdout.fileno(), CHUNK)).split(b"\n")
                for message in map(orjson.loads, lines):
                    if "result" in message:
                        answered = True
                    else:
                        letters += len(message["params"]["update"]["content"]["text"])
        wall = time.perf_counter() - began
        agent.stdin.close()
        assert letters == count, "the reader lost something"
    return wall


def follow(count: int, folder: str) -> float:
    """Follow a session whose agent it is."""
    return asyncio.run(_follow(count, f"sqlite:{folder}/bench.db"))


async def _follow(count: int, url: str) -> float:
    journal = await open_journal(url)
    try:
        async with Hub(AcpAgent(AGENT[0], AGENT[1:]), journal) as hub:
            session = await hub.create(cwd="/")
            await session.prepare()
            began = time.perf_counter()
            letters = 0
            async for event in session.stream(str(count)):
                if isinstance(event, ev.Text):
                    letters += len(event.delta)
            wall = time.perf_counter() - began
            assert letters == count, "the follower lost something"
            assert (await session.history()).messages[-1].text == "x" * count, "the journal lost something"
    finally:
        await journal.close()
    return wall


def sdk_client(count: int, folder: str) -> float:
    """Let a client on the SDK read."""
    command = [peer_python("acp-sdk-0.12"), str(PROGRAMS / "sdk_client.py"), str(count), *AGENT]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True, timeout=300)
    return json.loads(done.stdout)["wall"]


class Left:
    """What there is of processes below us, of our descriptors, and of files in the temporary folder."""

    def __init__(self, folder: str) -> None:
        """Count."""
        self.processes = _children(os.getpid())
        self.descriptors = len(os.listdir("/proc/self/fd"))
        self.files = sum(len(files) for _, _, files in os.walk(folder))

    def since(self, before: Left) -> dict[str, int]:
        """What is left now and was not there before."""
        return {
            "processes": len(self.processes - before.processes),
            "descriptors": self.descriptors - before.descriptors,
            "files": self.files - before.files,
        }


def _children(pid: int) -> set[int]:
    found: set[int] = set()
    for children in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in map(int, children.read_text(encoding="ascii").split()):
            found |= {child, *_children(child)}
    return found


@contextmanager
def _own_temporary_folder() -> Generator[str]:
    """Let this process, and those that it starts, use a temporary folder that no one else uses."""
    before = os.environ.get("TMPDIR")
    with tempfile.TemporaryDirectory() as folder:
        os.environ["TMPDIR"] = tempfile.tempdir = folder
        try:
            yield folder
        finally:
            tempfile.tempdir = None
            os.environ.pop("TMPDIR")
            if before is not None:
                os.environ["TMPDIR"] = before


def start_and_stop(agents: int) -> tuple[float, dict[str, int]]:
    """Start agents, each in a session of its own with one turn, stop them, and say what they left."""
    with _own_temporary_folder() as folder:
        return asyncio.run(_start_and_stop(agents, folder))


async def _start_and_stop(agents: int, folder: str) -> tuple[float, dict[str, int]]:

    async def live(hub: Hub) -> None:
        session = await hub.create(cwd="/")
        async for _ in session.stream("3"):
            pass

    async def all_of_them(many: int) -> None:
        journal = await open_journal("memory:")
        try:
            async with Hub(AcpAgent(AGENT[0], AGENT[1:]), journal) as hub:
                await asyncio.gather(*(live(hub) for _ in range(many)))
        finally:
            await journal.close()

    await all_of_them(1)  # What is made once and kept is no leak.
    before = Left(folder)
    began = time.perf_counter()
    await all_of_them(agents)
    wall = time.perf_counter() - began
    return wall, Left(folder).since(before)


def run(quick: bool = False) -> Result:
    """Let the readers read in turn, round after round; then start and stop agents."""
    count, slow_count, rounds, agents = (2_000, 500, 1, 5) if quick else (200_000, 20_000, 5, 50)
    cases: dict[str, tuple[Callable[[int, str], float], int]] = {
        RAW: (read_raw, count),
        OURS: (follow, count),
        SDK: (sdk_client, slow_count),
    }
    samples: dict[str, list[float]] = {name: [] for name in cases}
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(rounds):
            for name, (read, updates) in cases.items():
                samples[name].append(updates / read(updates, folder))
    wall, left = start_and_stop(agents)
    rows: list[Row] = [
        {
            "reader": name,
            "updates/s": round(median(speeds)),
            "min..max k/s": spread(speeds, 1e-3, 0),
            "x of raw": median(speed / base for speed, base in zip(speeds, samples[RAW], strict=True)),
            "x of SDK": median(speed / base for speed, base in zip(speeds, samples[SDK], strict=True)),
        }
        for name, speeds in samples.items()
    ]
    clean = not any(left.values())
    words = ", ".join(f"{number} {what}" for what, number in left.items())
    return Result(
        name="acp_agent",
        about=f"{count:,} updates of a process through AcpAgent and the SQLite journal to one follower",
        rows=rows,
        samples={**samples, "left": [left]},
        verdicts=[
            f"{agents} agents started, prompted and stopped in {wall:.1f} s leave {words}: "
            + ("nothing" if clean else "A LEAK")
        ],
        quick=quick,
    )
