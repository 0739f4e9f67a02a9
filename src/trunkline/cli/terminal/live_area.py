"""What changes on a terminal while an agent works: the paragraph that grows, running calls, a spinner.

It is drawn above the input line and never stays: what is finished is printed above it.
"""

from __future__ import annotations

import time
from collections.abc import Callable

_FRAMES = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
_FRAME = 0.1
_MOST_CALLS = 5


class LiveArea:
    """The text that grows, the calls that run, and how long the turn has taken."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._began_at: float | None = None
        self._calls: dict[str, tuple[str, float]] = {}
        self.growing = ""
        """The end of the answer as it is so far, ready to draw."""
        self.waits_for_person = False
        """Whether a question is open, so that nobody but the person works."""

    @property
    def moves(self) -> bool:
        """Whether there is something to draw anew even if nothing happens."""
        return self._began_at is not None and not self.waits_for_person

    def begin(self) -> None:
        """Begin to show that an agent works."""
        self._began_at = self._clock() if self._began_at is None else self._began_at

    def end(self) -> None:
        """Show nothing any more."""
        self._began_at = None
        self._calls.clear()
        self.growing = ""

    def begin_call(self, call_id: str, title: str) -> None:
        """Show a call as running."""
        self._calls.setdefault(call_id, (title, self._clock()))

    def end_call(self, call_id: str) -> None:
        """Show a call no more."""
        self._calls.pop(call_id, None)

    def lines(self, rows: int) -> list[str]:
        """Give what to draw, at most so many rows; the newest is last."""
        shown = self.growing.rstrip("\n").split("\n") if self.growing else []
        if self._began_at is None:
            return shown[-rows:]
        now = self._clock()
        frame = _FRAMES[int(now / _FRAME) % len(_FRAMES)]
        work: list[str] = []
        if not self.waits_for_person:
            for title, since in list(self._calls.values())[-_MOST_CALLS:]:
                work.append(f"{frame} {title} {_seconds(now - since)}")
            if not work:
                work = [f"{frame} working {_seconds(now - self._began_at)} · Ctrl-C stops"]
        return [*shown[-max(rows - len(work), 1) :], *work]


def _seconds(passed: float) -> str:
    return f"{passed:.0f} s" if passed < 100 else f"{passed / 60:.0f} min"
