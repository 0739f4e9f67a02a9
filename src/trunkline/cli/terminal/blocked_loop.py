"""Ctrl-C as a signal while an agent blocks the event loop, and with it the line editor that reads keys."""

from __future__ import annotations

import termios
import threading
import time
from contextlib import suppress

_LATE = 1.0
"""Seconds without a beat after which nobody seems to read keys."""


class InterruptKey:
    """Watches over a terminal in raw mode: ``beat`` says that keys are read."""

    def __init__(self, fd: int = 0, late: float = _LATE) -> None:
        self._fd = fd
        self._late = late
        self._last = time.monotonic()
        self.signals = False
        """Whether Ctrl-C is a signal now."""
        self._over = threading.Event()

    def start(self) -> None:
        """Begin to watch."""
        self.beat()
        threading.Thread(target=self._watch, name="trunkline Ctrl-C", daemon=True).start()

    def beat(self) -> None:
        """Read Ctrl-C as a key (again)."""
        self._last = time.monotonic()
        if self.signals:
            self.signals = False
            self._set(False)

    def close(self) -> None:
        """Watch no more; the terminal is no longer in raw mode, or soon will not be."""
        self._over.set()

    def _watch(self) -> None:
        while not self._over.wait(self._late / 2):
            if not self.signals and time.monotonic() - self._last > self._late:
                self.signals = True
                self._set(True)

    def _set(self, signals: bool) -> None:
        with suppress(termios.error):  # The terminal is gone.
            state = termios.tcgetattr(self._fd)
            state[3] = state[3] | termios.ISIG if signals else state[3] & ~termios.ISIG
            termios.tcsetattr(self._fd, termios.TCSANOW, state)
