"""Kills what trunkline itself leaves behind at its end: its children, and all that they started.

So it is with processes that an agent started inside of ours. What a child process of ours starts is ended by
its ``supervisor``.
"""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple


class _Process(NamedTuple):
    parent: int
    born: int
    """When it started, in the kernel's ticks: with it a number names one process and no later one."""


def end_descendants() -> None:
    """Kill whatever this process leaves behind; where there is no /proc, nothing is known of it."""
    processes = {
        int(entry.name): found for entry in Path("/proc").glob("[0-9]*") if (found := _look(int(entry.name)))
    }
    left = [os.getpid()]
    while left:
        parent = left.pop()
        for pid, process in processes.items():
            if process.parent == parent:
                left.append(pid)
                _kill(pid, process)


def _look(pid: int) -> _Process | None:
    with suppress(OSError):
        fields = Path(f"/proc/{pid}/stat").read_text("utf-8", "replace").rpartition(")")[2].split()
        return _Process(int(fields[1]), int(fields[19]))
    return None


def _kill(pid: int, process: _Process) -> None:
    """Kill a process, unless its number has become another's since we looked."""
    held = None
    with suppress(OSError):  # a kernel before 5.3 has none to hold on to
        held = os.pidfd_open(pid)
    with suppress(OSError):
        now = _look(pid)
        if now is not None and now.born == process.born:
            if held is None:
                os.kill(pid, signal.SIGKILL)
            else:
                signal.pidfd_send_signal(held, signal.SIGKILL)
    if held is not None:
        os.close(held)
