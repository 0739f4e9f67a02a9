"""How long programs take to start, against a Python that only imports asyncio."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from bench.report import Result, Row, median, spread

TIMEOUT = 60
BASE = "import asyncio"
CASES: dict[str, tuple[str, ...]] = {
    BASE: ("-c", "import asyncio"),
    "trunkline --version": ("-m", "trunkline", "--version"),
    "import trunkline.session": ("-c", "import trunkline.session"),
    "exec demo, first event": ("-m", "trunkline", "exec", "demo", "hello", "--format", "events"),
}


class Start(NamedTuple):
    """One start: seconds to the first line of output (or to the end), and processor time to the end."""

    wall: float
    cpu: float


def start(args: tuple[str, ...], journal: Path) -> Start | None:
    """Start a Python and time it; None when it fails."""
    environment = {**os.environ, "TRUNKLINE_JOURNAL": f"sqlite:{journal}"}
    used = _children()
    began = time.perf_counter()
    with subprocess.Popen(
        [sys.executable, *args], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment
    ) as child:
        assert child.stdout is not None
        child.stdout.readline()
        wall = time.perf_counter() - began
        child.stdout.read()
        code = child.wait(TIMEOUT)
    return Start(wall, _children() - used) if code == 0 else None


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def run(quick: bool = False) -> Result:
    """Start every case in turn, round after round."""
    rounds = 1 if quick else 15
    samples: dict[str, list[Start]] = {}
    verdicts: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        journal = Path(folder) / "bench.db"
        for name, args in CASES.items():  # Warms up: compiled modules, and who is there at all.
            if start(args, journal) is None:
                verdicts.append(f"{name}: it does not run here, so it was left out")
            else:
                samples[name] = []
        for _ in range(rounds):
            for name, taken in samples.items():
                one = start(CASES[name], journal)
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
    return Result(
        name="start",
        about="spawn to the first line of output, or to the end of a program that says nothing",
        rows=rows,
        samples={name: [one._asdict() for one in taken] for name, taken in samples.items()},
        verdicts=verdicts,
        quick=quick,
    )
