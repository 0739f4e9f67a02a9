"""One terminal: a command that leads its own session, its output and its end.

Nothing is on stdin, stdout and stderr are joined, no descriptor is inherited, and there is no shell.
A command ends when its main process ends, even if something it left behind still holds the pipe
(asyncio's own ``Process.wait`` would wait for that). What it left behind ends with the terminal, or with
us, however we end: its keeper, which we start and which starts it, sees to that.
"""

from __future__ import annotations

import asyncio
import errno
import os
import signal
import sys
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple, cast

from trunkline.errors import WorkspaceError
from trunkline.transports.process import keeper
from trunkline.transports.process.environment import scrub
from trunkline.transports.process.tail import Tail

__all__ = ["Exit", "Terminal", "TerminalOutputView"]

GRACE = 2.0
"""Seconds between the polite signal and the other one, and how long we wait after that."""
MARGIN = 2.0
"""Seconds that a busy machine may take longer than it should."""
START = 30.0
"""Seconds that a command may take to start."""
DRAIN = 0.5
"""Seconds in which output may still arrive after the main process ended."""


_CAUSES = {
    errno.ENOENT: "it (or the interpreter it names) was not found; install it, check PATH, or give its path",
    errno.EACCES: "it is not executable; check its mode, or name the interpreter that runs it",
    errno.ENOEXEC: "it is not a program; add a #! line, or name the interpreter that runs it",
    errno.ETIMEDOUT: "the machine is too busy; try again",
    errno.ECHILD: "the process that watches over it was ended; try again",
    errno.E2BIG: "its arguments and environment are too long; pass less, or pass it in a file",
}


class Exit(NamedTuple):
    """How a command ended: with a code, or by a signal (its name)."""

    code: int | None
    signal: str | None


class TerminalOutputView(NamedTuple):
    """The last of a terminal's output, and how the command ended once it did."""

    text: str
    truncated: bool
    exit_code: int | None
    signal: str | None


class Terminal(asyncio.SubprocessProtocol):
    """One command, running or ended. Made by ``Terminals.create``."""

    def __init__(self, terminal_id: str, byte_limit: int, forget: Callable[[Terminal], None]) -> None:
        """Prepare a terminal that keeps the last ``byte_limit`` bytes of output."""
        self.terminal_id = terminal_id
        self._tail = Tail(byte_limit)
        self._forget = forget
        self._transport: asyncio.SubprocessTransport | None = None
        self._words = b""
        self._started: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self._exit: Exit | None = None
        self._piped = True
        self._finished = asyncio.Event()
        self._kept = asyncio.Event()
        """Set when the keeper is gone, and with it everybody it kept."""
        self._disconnected = asyncio.Event()
        self._changed = asyncio.Event()
        self._ending: asyncio.Task[None] | None = None

    async def start(self, argv: Sequence[str], folder: int, path: str, env: Mapping[str, str]) -> None:
        """Start the command in a folder that is held open."""
        try:
            await asyncio.get_running_loop().subprocess_exec(
                lambda: self,
                *(sys.executable, "-I", "-S", keeper.__file__),
                cwd=_way_into(folder, path),
                # Its interpreter may need these to find its own libraries; the command gets what env says.
                env=scrub(os.environ, ["*LD_LIBRARY_PATH"]),
                start_new_session=True,
            )
        except (OSError, TypeError, ValueError) as error:
            raise WorkspaceError(f"{argv[0][:200]!r} cannot be started: {error}") from None
        self._pipe(0).write(keeper.request(argv, env, GRACE))
        try:
            async with asyncio.timeout(START):
                failure = await self._started
        except TimeoutError:
            failure = errno.ETIMEDOUT
        if failure:
            await self.release()
            raise WorkspaceError(f"{argv[0][:200]!r} cannot be started: {_cause(failure)}")

    # -- what agents and endpoints call --

    def output(self) -> TerminalOutputView:
        """Give what is kept of the output so far."""
        code, name = self._exit or (None, None)
        return TerminalOutputView(self._tail.text, self._tail.truncated, code, name)

    async def wait(self) -> Exit:
        """Wait until the command ended and its output arrived."""
        await self._finished.wait()
        return self._exit or Exit(None, None)

    async def stream(self) -> AsyncIterator[str]:
        """Give the output piece by piece, from its beginning until the command ends.

        Nothing is queued for a reader: one that falls behind what is kept learns how much it missed.
        """
        seen = 0
        while True:
            changed, finished = self._changed, self._finished.is_set()
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
        """End the command and all it started: politely, after a grace period not.

        Takes a few seconds at most. A caller that is cancelled meanwhile leaves nothing running.
        """
        if self._transport is None or self._kept.is_set():
            return
        if self._ending is None or self._ending.done():
            self._ending = asyncio.create_task(self._end())
        try:
            await asyncio.shield(self._ending)
        except asyncio.CancelledError:
            await asyncio.wait([self._ending], timeout=3 * GRACE)
            raise

    async def release(self) -> None:
        """End what still runs and forget the terminal; a second call does nothing."""
        try:
            await self.kill()
        finally:
            self._forget(self)
            if self._transport is not None:
                self._transport.close()
        if self._transport is not None:
            await _within(GRACE, self._disconnected)
        self._finish()

    # -- what the event loop calls --

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Remember the keeper."""
        assert isinstance(transport, asyncio.SubprocessTransport)
        self._transport = transport

    def pipe_data_received(self, fd: int, data: bytes | str) -> None:
        """Keep what the command said, and hear what its keeper says of it."""
        assert isinstance(data, bytes)
        if fd == 1:
            self._tail.feed(data)
            self._notify()
            return
        *lines, self._words = (self._words + data).split(b"\n")
        for line in lines:
            word, _, number = line.partition(b" ")
            if word in (b"started", b"failed") and not self._started.done():
                self._started.set_result(int(number or 0))
            elif word == b"exited":
                self._end_with(_exit(int(number)))

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        """Note that nothing more can be said."""
        if fd != 1:
            return
        self._piped = False
        self._tail.close()
        self._notify()
        if self._exit is not None:
            self._finish()

    def process_exited(self) -> None:
        """Note that the keeper is gone; its last words have a moment to arrive."""
        self._kept.set()
        asyncio.get_running_loop().call_later(DRAIN, self._lose_keeper)

    def connection_lost(self, exc: Exception | None) -> None:
        """Note that the keeper and its pipes are gone."""
        self._disconnected.set()

    # -- the rest --

    async def _end(self) -> None:
        assert self._transport is not None
        try:
            self._pipe(0).close()  # which is the sign
            await _within(2 * GRACE + MARGIN, self._kept)
        finally:  # also when the loop is shut down under us
            if not self._kept.is_set():
                with suppress(ProcessLookupError):
                    self._transport.terminate()  # without grace
        await _within(GRACE + MARGIN, self._kept)

    def _end_with(self, exit: Exit) -> None:
        """Note how the main process ended; the rest of its output has a moment to arrive."""
        self._exit = exit
        if self._piped:
            asyncio.get_running_loop().call_later(DRAIN, self._finish)
        else:
            self._finish()

    def _lose_keeper(self) -> None:
        """Make do without the keeper's word: somebody killed it."""
        if not self._started.done():
            self._started.set_result(errno.ECHILD)
        if self._exit is None:
            self._exit = Exit(None, "SIGKILL")
        self._finish()

    def _pipe(self, fd: int) -> asyncio.WriteTransport:
        assert self._transport is not None
        return cast("asyncio.WriteTransport", self._transport.get_pipe_transport(fd))

    def _notify(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()

    def _finish(self) -> None:
        self._finished.set()
        self._notify()


def _way_into(folder: int, path: str) -> str:
    """Name a folder for the child so that it enters the one we hold, whatever its path leads to by now."""
    held = f"/proc/self/fd/{folder}"
    return held if os.path.isdir(held) else path


async def _within(seconds: float, event: asyncio.Event) -> None:
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await event.wait()


def _exit(code: int | None) -> Exit:
    if code is None or code >= 0:
        return Exit(code, None)
    try:
        return Exit(None, signal.Signals(-code).name)
    except ValueError:  # a real-time signal
        return Exit(None, f"SIG{-code}")


def _cause(number: int) -> str:
    """Say why a program did not start, and what to do about it."""
    return _CAUSES.get(number, os.strerror(number).lower())
