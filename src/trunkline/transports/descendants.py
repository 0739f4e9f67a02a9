"""Descendants: the processes that this one started, and those that they started."""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from pathlib import Path

__all__ = ["end_descendants"]


def end_descendants() -> None:
    """Kill whatever this process leaves behind; where there is no /proc, nothing is known of it."""
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            parent = int(entry.read_text().rpartition(")")[2].split()[1])
            children.setdefault(parent, []).append(int(entry.parent.name))
    left = children.get(os.getpid(), [])
    while left:
        pid = left.pop()
        left += children.get(pid, [])
        with suppress(ProcessLookupError, PermissionError):
            os.kill(pid, signal.SIGKILL)
