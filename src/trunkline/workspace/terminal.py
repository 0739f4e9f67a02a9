"""One terminal: a command that leads its own session, its output and its end.

Nothing is on stdin, stdout and stderr are joined, no descriptor is inherited, and there is no shell.
A command ends when its main process ends, even if something it left behind still holds the pipe
(asyncio's own ``Process.wait`` would wait for that). What it left behind ends with the terminal, or with
us, however we end: its supervisor, which we start and which starts it, sees to that.
"""

from __future__ import annotations

import asyncio
import errno
import os
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from typing import NamedTuple

from trunkline.errors import WorkspaceError
from trunkline.transports.process.child import ChildProcess, Exit
from trunkline.transports.process.output_tail import Tail

__all__ = ["Exit", "Terminal", "TerminalOutputView"]

GRACE = 2.0
"""Seconds between SIGTERM and SIGKILL."""


_CAUSES = {
    errno.ENOENT: "it (or the interpreter it names) was not found; install it, check PATH, or give its path",
    errno.EACCES: "it is not executable; check its mode, or name the interpreter that runs it",
    errno.ENOEXEC: "it is not a program; add a #! line, or name the interpreter that runs it",
    errno.ETIMEDOUT: "the machine is too busy; try again",
    errno.ECHILD: "the process that watches over it was ended; try again",
    errno.E2BIG: "its arguments and environment are too long; pass less, or pass it in a file",
}


class TerminalOutputView(NamedTuple):
    """The last of a terminal's output, and how the command ended once it did."""

    text: str
    truncated: bool
    exit_code: int | None
    signal: str | None


class Terminal:
    """One command, running or ended. Made by ``Terminals.create``."""

    def __init__(self, terminal_id: str, byte_limit: int, discard: Callable[[Terminal], None]) -> None:
        """Prepare a terminal that keeps the last ``byte_limit`` bytes of output."""
        self.terminal_id = terminal_id
        self._tail = Tail(byte_limit)
        self._discard = discard
        self._process = ChildProcess(self._take, self._end_output, grace=GRACE)
        self._changed = asyncio.Event()

    async def start(self, argv: Sequence[str], folder: int, path: str, env: Mapping[str, str]) -> None:
        """Start the command in a folder that is held open."""
        try:
            await self._process.start(argv, cwd=_name_folder(folder, path), env=env, join_stderr=True)
        except (OSError, TypeError, ValueError) as error:
            why = str(error)
            # Any other file is not the command: the supervisor's interpreter, or the folder.
            if isinstance(error, OSError) and error.filename == argv[0]:
                why = _cause(error.errno or 0)
            raise WorkspaceError(f"{argv[0][:200]!r} cannot be started: {why}") from None

    def output(self) -> TerminalOutputView:
        """Give what is kept of the output so far."""
        code, name = self._process.exit or (None, None)
        return TerminalOutputView(self._tail.text, self._tail.truncated, code, name)

    async def look(self) -> TerminalOutputView:
        """Give the output as it stands now."""
        return self.output()

    async def wait(self) -> Exit:
        """Wait until the command ended and its output arrived."""
        await self._process.finished.wait()
        return self._process.exit or Exit(None, None)

    async def stream(self) -> AsyncIterator[str]:
        """Give the output piece by piece, from its beginning until the command ends.

        Nothing is queued for a reader: one that falls behind what is kept learns how much it missed.
        """
        seen = 0
        while True:
            changed, finished = self._changed, self._process.finished.is_set()
            skipped, piece, seen = self._tail.since(seen)
            if skipped:
                yield f"[... {skipped} bytes skipped ...]\n"
            if piece:
                yield piece
            elif finished:
                return
            else:
                await changed.wait()

    async def kill(self) -> None:
        """End the command and all it started: SIGTERM, and SIGKILL after a grace period.

        Takes a few seconds at most. A caller that is cancelled meanwhile leaves nothing running.
        """
        await self._process.kill()

    async def release(self) -> None:
        """End what still runs and forget the terminal; a second call does nothing."""
        try:
            await self._process.close()
        finally:
            self._discard(self)

    def _take(self, fd: int, data: bytes) -> None:
        self._tail.feed(data)
        self._notify()

    def _end_output(self) -> None:
        self._tail.close()
        self._notify()

    def _notify(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()


def _name_folder(folder: int, path: str) -> str:
    """Name a folder for the child so that it enters the one we hold, whatever its path leads to by now."""
    held = f"/proc/self/fd/{folder}"
    return held if os.path.isdir(held) else path


def _cause(number: int) -> str:
    """Say why a program did not start, and what to do about it."""
    return _CAUSES.get(number, os.strerror(number).lower())
