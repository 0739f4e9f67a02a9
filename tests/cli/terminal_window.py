"""A terminal window with a real emulator behind it: what a person would see of a program in it."""

from __future__ import annotations

import fcntl
import os
import struct
import subprocess
import termios
import time
from pathlib import Path
from typing import Any, cast

import pyte

from tests.cli.child_programs import SECONDS, Pty, command

CTRL_C = b"\x03"
_KEPT_LINES = 5000


class Window(Pty):
    """A program in a window of some size; waits for what is on its screen, or has scrolled off it."""

    def __init__(
        self,
        *arguments: str,
        cwd: Path | None = None,
        columns: int = 80,
        rows: int = 24,
        controlling: bool = False,
        **env: str,
    ) -> None:
        """Start trunkline in a window."""
        self.shown = ""
        self.screen: Any = cast("Any", pyte).HistoryScreen(columns, rows, history=_KEPT_LINES, ratio=0.5)
        self._stream: Any = cast("Any", pyte).Stream(self.screen)
        self._master, slave = os.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        environment = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES")}
        words = ["setsid", "--ctty", *command(*arguments)] if controlling else command(*arguments)
        self.process = subprocess.Popen(
            words,
            stdin=slave,
            stdout=slave,
            stderr=slave,
            cwd=cwd,
            env={**environment, "TERM": "xterm-256color", **env},
            start_new_session=not controlling,
        )
        os.close(slave)

    @property
    def lines(self) -> list[str]:
        """The lines of the window, and before them those that scrolled away."""
        above = ["".join(row[column].data for column in range(self.screen.columns)) for row in self._above()]
        return [line.rstrip() for line in (*above, *self.screen.display)]

    def _above(self) -> list[Any]:
        return list(self.screen.history.top)

    @property
    def text(self) -> str:
        """All lines that can be seen, also by scrolling."""
        return "\n".join(self.lines).rstrip()

    def colour_of(self, text: str) -> str:
        """Give the colour of a text that is on the screen."""
        for row, line in enumerate(self.screen.display):
            if text in line:
                return str(self.screen.buffer[row][line.index(text)].fg)
        raise AssertionError(f"{text!r} is not on the screen:\n{self.text}")

    def see(self, *texts: str) -> str:
        """Wait until the texts can be seen one below the other; gives everything that can be seen."""
        return self._wait(lambda: _in_order(self.text, texts), f"{texts!r} cannot be seen")

    def see_end(self, text: str) -> str:
        """Wait until the last line is this one."""
        return self._wait(lambda: self.text.endswith(text), f"{text!r} is not at the end")

    def enter(self, line: str) -> None:
        """Type a line and press Enter, as a keyboard does it."""
        self.press(line.encode() + b"\r")

    def makes_signals(self) -> bool:
        """Whether the terminal makes a signal of Ctrl-C, and not a key."""
        return bool(termios.tcgetattr(self._master)[3] & termios.ISIG)

    def _wait(self, condition: Any, what: str) -> str:
        deadline = time.monotonic() + SECONDS
        while not condition():
            assert time.monotonic() < deadline, f"{what} in time, but:\n{self.text}"
            ended = self.process.poll() is not None
            assert self._read() or not ended, f"{what}; it ended and had shown:\n{self.text}"
        return self.text

    def _read(self) -> bool:
        before = len(self.shown)
        more = super()._read()
        self._stream.feed(self.shown[before:])
        return more


def _in_order(text: str, pieces: tuple[str, ...]) -> bool:
    place = 0
    for piece in pieces:
        place = text.find(piece, place)
        if place < 0:
            return False
        place += len(piece)
    return True
