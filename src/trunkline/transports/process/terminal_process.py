"""A child process in a pseudo-terminal: its keys, its window, its output, and the end of all it started."""

from __future__ import annotations

import asyncio
import fcntl
import io
import os
import struct
import termios
from collections.abc import Callable, Mapping, Sequence
from signal import Signals
from typing import cast

from trunkline.transports.process.child import DRAIN, MARGIN, ChildProcess, Exit, within

INTERRUPT = b"\x03"
"""Ctrl-C: the terminal sends SIGINT to the program in front, unless that has asked for the key itself."""
LONGEST_LINE = 4095
"""Bytes of a line that the terminal holds for a program that reads line by line."""


class TerminalProcess:
    """One program in a terminal of its own: ``start`` it, ``write`` keys, ``close`` it with all it started.

    ``on_output`` gets what it writes; ``on_end`` is called once, when it has ended and was read to the end.
    """

    def __init__(
        self, on_output: Callable[[bytes], None], on_end: Callable[[], None], *, grace: float
    ) -> None:
        """Prepare; ``grace`` is the seconds between SIGTERM and SIGKILL."""
        self._on_output = on_output
        self._on_end = on_end
        self._child = ChildProcess(lambda _, data: on_output(data), self._child_ended, grace=grace)
        self._terminal = -1
        self._reading: asyncio.ReadTransport | None = None
        self._writing: asyncio.WriteTransport | None = None
        self._writable = asyncio.Event()
        self._writable.set()
        self._read_to_end = asyncio.Event()
        self._flowing = asyncio.Event()
        """Set while output is read."""
        self._flowing.set()
        self._draining: asyncio.Task[None] | None = None
        self._ended = False

    @property
    def exit(self) -> Exit | None:
        """How the program ended; None while it runs."""
        return self._child.exit

    @property
    def ended(self) -> bool:
        """Whether the program has ended, and everything that it wrote was read."""
        return self._ended

    async def start(
        self, argv: Sequence[str], *, cwd: str | None, env: Mapping[str, str], rows: int, columns: int
    ) -> None:
        """Start a program in a window of this size; raises OSError if it cannot be started."""
        ours, theirs = os.openpty()
        try:
            self._terminal = ours
            self.resize(rows, columns)
            await self._connect(ours)
            await self._child.start(argv, cwd=cwd, env=env, terminal=theirs)
        except BaseException:
            await self.close(at_once=True)
            raise
        finally:
            os.close(theirs)

    async def _connect(self, terminal: int) -> None:
        loop = asyncio.get_running_loop()
        ends = [io.FileIO(os.dup(terminal), mode) for mode in ("rb", "wb")]
        reading, _ = await loop.connect_read_pipe(
            lambda: _Reader(self._on_output, self._read_to_end.set), ends[0]
        )
        self._reading = reading
        writing, _ = await loop.connect_write_pipe(lambda: _Writer(self._writable), ends[1])
        self._writing = writing

    def resize(self, rows: int, columns: int) -> None:
        """Give the window another size; the program is told by SIGWINCH."""
        fcntl.ioctl(self._terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    @property
    def reads_lines(self) -> bool:
        """Whether the terminal holds a line until Enter, and cuts what is longer than ``LONGEST_LINE``."""
        return bool(self._mode & termios.ICANON)

    @property
    def shows_keys(self) -> bool:
        """Whether what is typed is shown: by the terminal, or by a program that reads key by key."""
        return not self.reads_lines or bool(self._mode & termios.ECHO)

    @property
    def _mode(self) -> int:
        return int(termios.tcgetattr(self._terminal)[3])

    async def write(self, data: bytes) -> None:
        """Press keys, and wait while the program does not read them."""
        if self._writing is not None and not self._writing.is_closing():
            self._writing.write(data)
            await self._writable.wait()

    def write_soon(self, data: bytes) -> None:
        """Press keys without waiting."""
        if self._writing is not None and not self._writing.is_closing():
            self._writing.write(data)

    def pause_reading(self) -> None:
        """Let the program wait when it writes more."""
        self._flowing.clear()
        if self._reading is not None:
            self._reading.pause_reading()

    def resume_reading(self) -> None:
        """Read again."""
        self._flowing.set()
        if self._reading is not None:
            self._reading.resume_reading()

    def signal(self, number: Signals) -> None:
        """Send a signal to the program and all that it started."""
        self._child.signal(number)

    async def close(self, *, at_once: bool = False) -> None:
        """Hang up, and end the program and all that it started; a second call does nothing."""
        self._flowing.set()
        for transport in (self._writing, self._reading):
            if transport is not None:
                cast("asyncio.BaseTransport", transport).close()
        terminal, self._terminal = self._terminal, -1
        if terminal >= 0:
            # Its session is told by SIGHUP: a shell, which ignores SIGTERM, ends by that.
            os.close(terminal)
        await self._child.close(at_once=at_once)
        self._end()

    def _child_ended(self) -> None:
        if self._child.exit is not None and not self._ended and self._draining is None:
            self._draining = asyncio.create_task(self._drain())

    async def _drain(self) -> None:
        """Read what is left; while reading is paused, there is no hurry."""
        waited = False
        while not (self._read_to_end.is_set() or waited):
            await self._flowing.wait()
            await within(DRAIN + MARGIN, self._read_to_end)
            waited = self._flowing.is_set()
        self._end()

    def _end(self) -> None:
        if not self._ended:
            self._ended = True
            self._writable.set()
            self._on_end()


class _Reader(asyncio.Protocol):
    """Reads what a program writes; the end of the terminal is an error of the descriptor (EIO)."""

    def __init__(self, on_output: Callable[[bytes], None], on_end: Callable[[], None]) -> None:
        self._on_output = on_output
        self._on_end = on_end

    def data_received(self, data: bytes) -> None:
        self._on_output(data)

    def connection_lost(self, exc: Exception | None) -> None:
        self._on_end()


class _Writer(asyncio.BaseProtocol):
    """Waits while a program does not read its keys."""

    def __init__(self, writable: asyncio.Event) -> None:
        self._writable = writable

    def pause_writing(self) -> None:
        self._writable.clear()

    def resume_writing(self) -> None:
        self._writable.set()

    def connection_lost(self, exc: Exception | None) -> None:
        self._writable.set()
