"""Process groups: everything a command started, as far as it stayed together."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

__all__ = ["Group"]

POLL = 0.02


class Group:
    """A process group by its number, as long as that number is surely the same group's."""

    def __init__(self, number: int) -> None:
        """Take the group that this process leads."""
        self._number: int | None = number

    @property
    def is_known(self) -> bool:
        """Whether there may still be anybody in it."""
        return self._number is not None

    def signal(self, number: int) -> bool:
        """Signal everyone in it; False if there is nobody whom we may signal.

        Call it with 0 once the leader is buried: if nobody else is left, the system may give the
        number to strangers, so it is forgotten.
        """
        if self._number is None:
            return False
        try:
            os.killpg(self._number, number)
        except ProcessLookupError:
            self._number = None
            return False
        except PermissionError:
            return False
        return True

    async def wait(self, seconds: float) -> None:
        """Wait so long for nobody in it to run; nothing tells us, so we look every now and then."""
        for _ in range(round(seconds / POLL)):
            if not self.signal(0) or not await asyncio.to_thread(_has_members, self._number):
                return
            await asyncio.sleep(POLL)


def _has_members(group: int | None) -> bool:
    """Whether a process of this group runs.

    The dead whom nobody buried do not count. A container often has no init to bury orphans, and
    they still receive signals.
    """
    try:
        processes = [name for name in os.listdir("/proc") if name.isdigit()]
    except OSError:  # no procfs here, so the signal's word has to do
        return True
    for name in processes:
        try:
            state, _, its_group = (
                Path("/proc", name, "stat").read_text("utf-8", "replace").rsplit(")", 1)[1].split()[:3]
            )
        except OSError:
            continue
        if int(its_group) == group and state not in "ZX":
            return True
    return False
