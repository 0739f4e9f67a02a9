"""Descendants: nothing that a process started outlives it."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

INNER = """
import subprocess, time
print(subprocess.Popen(["sleep", "600"]).pid, flush=True)
time.sleep(600)
"""
PROGRAM = f"""
import subprocess, sys
from trunkline.transports.process.descendants import end_descendants
command = [sys.executable, "-c", {INNER!r}]
child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True)
print(child.pid, child.stdout.readline().strip(), flush=True)
end_descendants()
"""


def runs(pid: str) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


def test_children_and_their_children_are_ended() -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        capture_output=True,
        text=True,
        timeout=30,
        check=True,
        env=os.environ,
    )
    pids = done.stdout.split()
    assert len(pids) == 2
    limit = time.monotonic() + 10
    while any(map(runs, pids)):
        assert time.monotonic() < limit, "a killed process ends at once"
