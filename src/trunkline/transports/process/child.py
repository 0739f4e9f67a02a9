"""A child process and everything that it starts: how to start it, how it ended, and how to end all of it.

Its supervisor (``supervisor.py``) starts it in a session of its own and adopts what it leaves behind, so that
nothing of it is left once it is closed, or once this process ends in whatever way. The program gets its own
stdin, stdout and stderr; the supervisor is told and reports over a socket of its own.
"""

from __future__ import annotations

import asyncio
import errno
import os
import signal
import socket
import sys
from asyncio.subprocess import DEVNULL, PIPE, STDOUT
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple, cast

from trunkline.transports.process import supervisor
from trunkline.transports.process.environment import scrub

START = 30.0
"""Seconds that a program may take to start."""
DRAIN = 0.5
"""Seconds in which output may still arrive after the program ended; while reading is paused they stop."""
MARGIN = 2.0
"""Seconds that a busy machine may take longer than it should."""


class Exit(NamedTuple):
    """How a program ended: with a code, or by a signal (its name)."""

    code: int | None
    signal: str | None


class ChildProcess(asyncio.SubprocessProtocol):
    """One program: ``start`` it, ``write`` to its stdin, ``kill`` or ``close`` it with all it started.

    ``on_output`` gets what it writes, with the number of the pipe: 1 for stdout, 2 for stderr. ``on_end`` is
    called when stdout has ended, and when the process is finished: the program has ended, and its output
    and errors too, or we have read for half a second more (something that it left behind may hold the pipes).
    """

    def __init__(
        self, on_output: Callable[[int, bytes], None], on_end: Callable[[], None], *, grace: float
    ) -> None:
        """Prepare; ``grace`` is the seconds between SIGTERM and SIGKILL."""
        self.exit: Exit | None = None
        self.exited = asyncio.Event()
        self.finished = asyncio.Event()
        self.output_ended = False
        self.input_ended = False
        """Whether nothing can be written to stdin any more."""
        self._on_output = on_output
        self._on_end = on_end
        self._grace = grace
        self._transport: asyncio.SubprocessTransport | None = None
        self._started: asyncio.Future[int] | None = None
        self._supervisor: _SupervisorConnection | None = None
        self._open_pipes: set[int] = set()
        self._writable = asyncio.Event()
        self._writable.set()
        self._supervisor_ended = asyncio.Event()
        """Set when the supervisor has ended, and with it everything that it kept."""
        self._disconnected = asyncio.Event()
        self._ending: asyncio.Task[None] | None = None
        self._is_paused = False
        self._drain_left = DRAIN
        self._drain_timer: asyncio.TimerHandle | None = None

    async def start(
        self,
        argv: Sequence[str],
        *,
        cwd: str | None,
        env: Mapping[str, str],
        stdin: bool = False,
        join_stderr: bool = False,
        terminal: int | None = None,
    ) -> None:
        """Start a program; raises OSError if it cannot be started.

        Without ``stdin`` it reads nothing; with ``join_stderr`` its errors are part of its output. A
        ``terminal`` takes the place of all three, and becomes the terminal of the program's session.
        """
        request = supervisor.request(argv, env, self._grace)
        loop = asyncio.get_running_loop()
        self._started = loop.create_future()
        self._open_pipes = set() if terminal is not None else {1} if join_stderr else {1, 2}
        ours, theirs = socket.socketpair()
        try:
            with theirs:
                await loop.subprocess_exec(
                    lambda: self,
                    *(sys.executable, "-I", "-S", supervisor.__file__, str(theirs.fileno())),
                    stdin=terminal if terminal is not None else PIPE if stdin else DEVNULL,
                    stdout=PIPE if terminal is None else terminal,
                    stderr=STDOUT if join_stderr else PIPE if terminal is None else terminal,
                    cwd=cwd,
                    # Its interpreter may need these to find its libraries; the program gets ``env``.
                    env=scrub(os.environ, ["*LD_LIBRARY_PATH"]),
                    pass_fds=(theirs.fileno(),),
                    start_new_session=True,
                )
            _, self._supervisor = await loop.create_connection(
                lambda: _SupervisorConnection(self._report), sock=ours
            )
            self._supervisor.transport.write(request)
            async with asyncio.timeout(START):
                failure = await self._started
        except BaseException as error:
            if self._supervisor is None:
                ours.close()
            await self.close(at_once=True)
            if isinstance(error, TimeoutError):
                raise OSError(errno.ETIMEDOUT, os.strerror(errno.ETIMEDOUT), argv[0]) from None
            raise
        if failure:
            await self.close(at_once=True)
            raise OSError(failure, os.strerror(failure), argv[0])

    # -- stdin and stdout --

    async def write(self, data: bytes) -> None:
        """Write to stdin, and wait while the program does not read."""
        self.write_soon(data)
        await self.drained()

    def write_soon(self, data: bytes) -> None:
        """Write to stdin as soon as the program reads; what it does not read is kept."""
        self._pipe(0).write(data)

    @property
    def unread(self) -> int:
        """How many bytes for stdin the program has not taken yet."""
        return self._pipe(0).get_write_buffer_size()

    @property
    def congested(self) -> bool:
        """Whether the program reads more slowly than we write."""
        return not self._writable.is_set()

    async def drained(self) -> None:
        """Wait until the program has read nearly all that was written, or its stdin is closed."""
        await self._writable.wait()

    def close_stdin(self) -> None:
        """Tell the program that nothing more comes."""
        self._pipe(0).close()

    def pause_reading(self) -> None:
        """Let the program wait when it writes more to stdout."""
        self._is_paused = True
        self._pipe(1).pause_reading()
        if self._drain_timer is not None:
            # What the program wrote last waits in the pipe until it is read, however late that is.
            self._drain_left = max(self._drain_timer.when() - asyncio.get_running_loop().time(), 0.0)
            self._drain_timer.cancel()

    def resume_reading(self) -> None:
        """Read from stdout again."""
        self._is_paused = False
        self._pipe(1).resume_reading()
        if self.exit is not None:
            self._drain()

    # -- the end --

    def signal(self, number: signal.Signals) -> None:
        """Send a signal to the program and all that it started; does nothing once they are gone."""
        if self._supervisor is not None and not self._supervisor.transport.is_closing():
            self._supervisor.transport.write(bytes([number]))

    async def kill(self, *, at_once: bool = False) -> None:
        """End the program and all it started: SIGTERM, and SIGKILL after the grace or ``at_once``.

        Takes a few seconds at most. A caller that is cancelled meanwhile leaves nothing running.
        """
        if self._transport is None or self._supervisor_ended.is_set():
            return
        if at_once:
            self._hurry()
        if self._ending is None or self._ending.done():
            self._ending = asyncio.create_task(self._end())
        try:
            await asyncio.shield(self._ending)
        except asyncio.CancelledError:
            await asyncio.wait([self._ending], timeout=3 * self._grace)
            raise

    async def close(self, *, at_once: bool = False) -> None:
        """Kill what still runs and close the pipes; a second call does nothing."""
        try:
            await self.kill(at_once=at_once)
        finally:
            if self._supervisor is not None:
                self._supervisor.transport.close()
            if self._transport is not None:
                self._transport.close()
                # Also when this is cancelled: a loop that ends before the exit is seen leaves a zombie.
                await within(self._grace + MARGIN, self._disconnected)
        self.output_ended = True
        self.finished.set()
        self._on_end()

    async def _end(self) -> None:
        try:
            if self._supervisor is not None:
                self._supervisor.transport.write_eof()  # which is the sign
                await within(2 * self._grace + MARGIN, self._supervisor_ended)
        finally:  # also when the loop is shut down under us
            if not self._supervisor_ended.is_set():
                self._hurry()
        await within(self._grace + MARGIN, self._supervisor_ended)

    def _hurry(self) -> None:
        """Make the supervisor end all at once."""
        if self._transport is not None:
            with suppress(ProcessLookupError):
                self._transport.terminate()

    # -- what the event loop and the supervisor report --

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Remember the supervisor's process."""
        self._transport = cast("asyncio.SubprocessTransport", transport)

    def pipe_data_received(self, fd: int, data: bytes | str) -> None:
        """Pass the program's output on."""
        assert isinstance(data, bytes)
        self._on_output(fd, data)

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        """Note that a pipe is closed; a waiting ``write`` returns."""
        if fd == 0:
            self.input_ended = True
            self._writable.set()
            return
        self._open_pipes.discard(fd)
        if fd == 1:
            self.output_ended = True
        if self.exit is not None and not self._open_pipes:
            self._finish()
        elif fd == 1:
            self._on_end()

    def pause_writing(self) -> None:
        """Make ``write`` wait while the program does not read."""
        self._writable.clear()

    def resume_writing(self) -> None:
        """Let ``write`` go on."""
        self._writable.set()

    def process_exited(self) -> None:
        """Note that the supervisor has ended."""
        self._supervisor_ended.set()

    def connection_lost(self, exc: Exception | None) -> None:
        """Note that the supervisor and all pipes are gone."""
        self._disconnected.set()

    def _report(self, word: bytes, number: int) -> None:
        """Take a word of the supervisor: started, failed, exited; gone is its own end: then all is over."""
        assert self._started is not None
        if not self._started.done():
            # A supervisor that is gone without a word was killed.
            self._started.set_result(errno.ECHILD if word == b"gone" else number)
        if word == b"exited" or (word == b"gone" and self.exit is None):
            self.exit = _read_exit(number)
            self.exited.set()
            if not self._open_pipes:
                self._finish()
            else:
                self._drain()

    def _drain(self) -> None:
        """Read what is left in the pipes, and then be finished."""
        if not self._is_paused and not self.finished.is_set():
            if self._drain_timer is not None:
                self._drain_timer.cancel()
            self._drain_timer = asyncio.get_running_loop().call_later(self._drain_left, self._finish)

    def _finish(self) -> None:
        self.output_ended = True
        self.finished.set()
        self._on_end()

    def _pipe(self, fd: int) -> asyncio.Transport:
        assert self._transport is not None
        return cast("asyncio.Transport", self._transport.get_pipe_transport(fd))


class _SupervisorConnection(asyncio.Protocol):
    """Our end of the socket to a supervisor: its words, one a line, and its end."""

    transport: asyncio.Transport

    def __init__(self, report: Callable[[bytes, int], None]) -> None:
        self._report = report
        self._partial = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        *lines, self._partial = (self._partial + data).split(b"\n")
        for line in lines:
            word, _, number = line.partition(b" ")
            self._report(word, int(number or 0))

    def connection_lost(self, exc: Exception | None) -> None:
        self._report(b"gone", -signal.SIGKILL)


def _read_exit(code: int) -> Exit:
    if code >= 0:
        return Exit(code, None)
    try:
        return Exit(None, signal.Signals(-code).name)
    except ValueError:  # a real-time signal
        return Exit(None, f"SIG{-code}")


async def within(seconds: float, event: asyncio.Event) -> None:
    """Wait for an event, but not longer than this."""
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await event.wait()
