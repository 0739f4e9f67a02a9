"""The clock of leases: never set, never turned back, the same for all processes of one machine.

A wall clock may jump, and a jump must neither take a running session away nor lock it for an hour.
This clock begins again when the machine does, so a lease also says in which boot it was taken.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import NamedTuple

# CLOCK_BOOTTIME goes on while the machine sleeps (clock_gettime(2)), so a lease ends during a suspend as
# it would for a process that was stopped. Where it does not exist, the monotonic clock is the nearest.
_CLOCK: int = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)


def lease_clock() -> float:
    """Give the seconds since this machine was started."""
    return time.clock_gettime(_CLOCK)


def boot_id() -> str:
    """Name this start of the machine; empty where the system does not tell."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return ""


class Moment(NamedTuple):
    """A moment of this clock; moments of two boots cannot be compared."""

    at: float
    boot: str

    def is_before(self, expires_at: float, boot: str) -> bool:
        """Whether a lease that was taken in ``boot`` still holds."""
        return boot == self.boot and expires_at > self.at
