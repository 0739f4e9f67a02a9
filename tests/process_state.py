"""Processes as the system sees them, and bounded waits for plain functions."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")


def is_alive(pid: int) -> bool:
    """Whether a process runs; one that only waits to be buried does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


def eventually(condition: Callable[[], T], within: float = 30.0) -> T:
    """Wait until something holds, and give it."""
    end = time.monotonic() + within
    while not (found := condition()):
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.005)
    return found


def wait_until_gone(*pids: int) -> None:
    """Wait until none of these processes runs."""
    eventually(lambda: not any(map(is_alive, pids)))
