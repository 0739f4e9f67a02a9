"""What a bench has to know of the machine: its facts, our memory and open files, fresh processes."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parent.parent
CHILD_TIMEOUT = 900


class Spent(NamedTuple):
    """Seconds on the wall and on the processor (all threads of this process)."""

    wall: float
    cpu: float


class Clock:
    """Takes both times from its making on."""

    def __init__(self) -> None:
        self._wall, self._cpu = time.perf_counter(), time.process_time()

    def spent(self) -> Spent:
        return Spent(time.perf_counter() - self._wall, time.process_time() - self._cpu)


def facts() -> dict[str, Any]:
    """What a figure needs beside it to be believed; nothing that names a machine or a person."""
    return {
        "cores": os.cpu_count(),
        "load": [round(load, 2) for load in os.getloadavg()],
        "python": platform.python_version(),
        "implementation": platform.python_implementation(),
        "system": platform.system(),
        "architecture": platform.machine(),
    }


def memory(field: str = "VmRSS") -> int:
    """Bytes this process holds now (``VmRSS``), or held at most (``VmHWM``)."""
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        name, _, value = line.partition(":")
        if name == field:
            return int(value.split()[0]) * 1024
    raise LookupError(f"this system does not tell {field}; the memory benches need Linux")


def open_files() -> int:
    """How many file descriptors this process has open."""
    return len(os.listdir("/proc/self/fd"))


def in_fresh_process(module: str, *args: str) -> Any:
    """Run ``python -m module args`` and give the JSON it prints: memory is only honest in a new process."""
    command = [sys.executable, "-m", module, *args]
    ran = subprocess.run(
        command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True, timeout=CHILD_TIMEOUT
    )
    return json.loads(ran.stdout)


def peer_python(name: str) -> str:
    """The Python of a peer's own environment, which ``make setup`` has made."""
    script = str(ROOT / "scripts/peer-venv")
    made = subprocess.run(
        [script, name], stdout=subprocess.PIPE, text=True, check=True, timeout=CHILD_TIMEOUT
    )
    return f"{made.stdout.strip()}/bin/python"
