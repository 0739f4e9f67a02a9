"""How long programs take to start, against a Python that only imports asyncio.

An ACP agent has started when it has answered ``initialize``, which is what an editor waits for.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from bench.machine import ROOT, peer_python
from bench.report import Result, Row, median, spread

TIMEOUT = 60
BASE, GREETED, FINANCE = "import asyncio", "acp demo, greeted", "acp finance, greeted"
BUDGET = 2.5
INITIALIZE = b'{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}\n'


class Case(NamedTuple):
    """A program and what it is told; one that is new here finds no cache of ours."""

    command: tuple[str, ...]
    stdin: bytes = b""
    new: bool = False


def cases() -> dict[str, Case]:
    """The programs to start."""
    ours, echo = sys.executable, str(ROOT / "bench/programs/sdk_echo.py")
    app, peers = str(ROOT / "bench/programs/langchain_app.py"), peer_python("bench-langchain")
    serve_app = (ours, "-m", "trunkline", "acp", f"{app}:agent")
    return {
        BASE: Case((ours, "-c", "import asyncio")),
        "trunkline --version": Case((ours, "-m", "trunkline", "--version")),
        "import trunkline.session.session": Case((ours, "-c", "import trunkline.session.session")),
        "exec demo, first event": Case(
            (ours, "-m", "trunkline", "exec", "demo", "hello", "--format", "events")
        ),
        GREETED: Case((ours, "-m", "trunkline", "acp", "demo"), INITIALIZE),
        FINANCE: Case((ours, "-m", "trunkline", "acp", "finance"), INITIALIZE),
        "SDK 0.12.1, greeted": Case((peer_python("acp-sdk-0.12"), echo), INITIALIZE),
        "import langchain.agents": Case((ours, "-c", "import langchain.agents")),
        "and our adapter": Case((ours, "-c", "import langchain.agents, trunkline.agents.langchain.agent")),
        "acp LangChain agent, greeted": Case(serve_app, INITIALIZE),
        "the same for the first time": Case(serve_app, INITIALIZE, new=True),
        "deepagents-acp, greeted": Case((peers, app, "deepagents-acp"), INITIALIZE),
        "langchain-acp, greeted": Case((peers, app, "langchain-acp"), INITIALIZE),
    }


class Start(NamedTuple):
    """One start: seconds to the first line of output (or to the end), and processor time to the end."""

    wall: float
    cpu: float


def start(case: Case, folder: Path) -> Start | None:
    """Start a program and time it; None when it fails."""
    cache = tempfile.mkdtemp(dir=folder) if case.new else str(folder / "cache")
    own = {"TRUNKLINE_JOURNAL": f"sqlite:{folder / 'bench.db'}", "XDG_CACHE_HOME": cache}
    used = _children()
    began = time.perf_counter()
    with subprocess.Popen(
        case.command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**os.environ, **own},
    ) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        child.stdin.write(case.stdin)
        child.stdin.flush()
        child.stdout.readline()
        wall = time.perf_counter() - began
        child.stdin.close()
        child.stdout.read()
        code = child.wait(TIMEOUT)
    return Start(wall, _children() - used) if code == 0 else None


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def run(quick: bool = False) -> Result:
    """Start every case in turn, round after round."""
    rounds = 0 if quick else 15
    samples: dict[str, list[Start]] = {}
    verdicts: list[str] = []
    programs = cases()
    with tempfile.TemporaryDirectory() as own:
        folder = Path(own)
        for name, case in programs.items():  # Warms up: compiled modules, and who is there at all.
            first = start(case, folder)
            if first is None:
                verdicts.append(f"{name}: it does not run here, so it was left out")
            else:
                samples[name] = [first] if quick else []
        for _ in range(rounds):
            for name, taken in samples.items():
                one = start(programs[name], folder)
                if one is not None:
                    taken.append(one)
    rows: list[Row] = []
    base = samples[BASE]
    for name, taken in samples.items():
        walls = [one.wall for one in taken]
        rows.append(
            {
                "case": name,
                "wall ms": median(walls) * 1e3,
                "min..max": spread(walls, 1e3, 0),
                "cpu ms": median(one.cpu for one in taken) * 1e3,
                "x of base (wall)": min(walls) / min(one.wall for one in base),
                "x of base (cpu)": min(one.cpu for one in taken) / min(one.cpu for one in base),
            }
        )
    for name in (GREETED, FINANCE):
        reached = next((row["x of base (wall)"] for row in rows if row["case"] == name), None)
        if isinstance(reached, float):
            kept = "kept" if reached <= BUDGET else "MISSED"
            verdicts.append(f"budget {kept}: {name} takes {reached:.2f}x of {BASE} (at most {BUDGET}x)")
    return Result(
        name="start",
        about="spawn to the first line of output, or to the end of a program that says nothing",
        rows=rows,
        samples={name: [one._asdict() for one in taken] for name, taken in samples.items()},
        verdicts=verdicts,
        quick=quick,
    )
