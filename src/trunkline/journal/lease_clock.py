"""The clock of leases: never set, never turned back, the same for all processes of one machine.

A wall clock may jump, and a jump must neither take a running session away nor lock it for an hour.
"""

from __future__ import annotations

import time

__all__ = ["lease_clock"]

# CLOCK_BOOTTIME goes on while the machine sleeps (clock_gettime(2)), so a lease ends during a suspend as
# it would for a process that was stopped. Where it does not exist, the monotonic clock is the nearest.
_CLOCK: int = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)


def lease_clock() -> float:
    """Give the seconds since this machine was started."""
    return time.clock_gettime(_CLOCK)
