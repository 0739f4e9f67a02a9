"""Standard input and output as a transport, kept clean for a protocol.

``claim`` takes both descriptors for itself. From then on whatever user code prints, also from C, goes
to stderr, and whatever it reads is empty: a stray line on stdout would end the session in some
editors.
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import os
import stat
import sys
from collections.abc import Callable

_HIGH_WATER = 1 << 20
_CHUNK = 1 << 18


class StdioTransport:
    """Reads one descriptor and writes another, without ever blocking the loop."""

    def __init__(self, in_fd: int, out_fd: int) -> None:
        """Own two descriptors; they are closed with the transport."""
        self._in_fd = in_fd
        self._out_fd = out_fd
        self._writer: asyncio.WriteTransport | None = None
        self._flow = _Flow()
        self._backlog: list[bytes] = []
        self._plain = False
        self._reader: asyncio.ReadTransport | None = None
        self._may_read = asyncio.Event()
        self._may_read.set()

    @classmethod
    def claim(cls) -> StdioTransport:
        """Take stdin and stdout away from everything else in this process.

        Call it before there is a loop: where a descriptor was closed, the loop would take its number.
        """
        _open_missing()
        if sys.stdout is not None:
            sys.stdout.flush()
        transport = cls(os.dup(0), os.dup(1))
        os.dup2(2, 1)
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.close(nothing)
        sys.stdout = sys.stderr
        return transport

    async def run(self, receive: Callable[[bytes], None]) -> None:
        """Give every piece of input to ``receive`` until there is no more, or no reader is left."""
        loop = asyncio.get_running_loop()
        await self._open_output(loop)
        reading = asyncio.create_task(self._read(loop, receive))
        gone = asyncio.create_task(self._flow.gone.wait())
        try:
            await asyncio.wait({reading, gone}, return_when=asyncio.FIRST_COMPLETED)
            if reading.done():
                reading.result()
        finally:
            reading.cancel()
            gone.cancel()

    async def _read(self, loop: asyncio.AbstractEventLoop, receive: Callable[[bytes], None]) -> None:
        if not _can_wait_for(self._in_fd):
            while chunk := await asyncio.to_thread(os.read, self._in_fd, _CHUNK):
                receive(chunk)
                await self._may_read.wait()
            return
        ended = asyncio.Event()
        pipe = os.fdopen(os.dup(self._in_fd), "rb", 0)
        transport, _ = await loop.connect_read_pipe(lambda: _Input(receive, ended), pipe)
        self._reader = transport
        if not self._may_read.is_set():
            transport.pause_reading()
        try:
            await ended.wait()
        finally:
            self._reader = None
            transport.close()

    def pause_reading(self) -> None:
        """Let the other side wait when it writes more."""
        if self._may_read.is_set():
            self._may_read.clear()
            if self._reader is not None:
                self._reader.pause_reading()

    def resume_reading(self) -> None:
        """Read again."""
        if not self._may_read.is_set():
            self._may_read.set()
            if self._reader is not None:
                self._reader.resume_reading()

    async def _open_output(self, loop: asyncio.AbstractEventLoop) -> None:
        if _can_wait_for(self._out_fd):
            _widen(self._out_fd)
            pipe = os.fdopen(os.dup(self._out_fd), "wb", 0)
            self._writer, _ = await loop.connect_write_pipe(lambda: self._flow, pipe)
            self._writer.set_write_buffer_limits(_HIGH_WATER)
        else:
            self._plain = True
        waiting, self._backlog = self._backlog, []
        for data in waiting:
            self.write(data)

    # -- writing -----------------------------------------------------------------------------------

    def write(self, data: bytes) -> None:
        """Send bytes; what has no reader any more is dropped."""
        if self._flow.gone.is_set():
            return
        if self._writer is not None:
            self._writer.write(data)
        elif self._plain:
            self._write_plainly(data)
        else:
            self._backlog.append(data)

    def _write_plainly(self, data: bytes) -> None:
        try:
            while data:
                data = data[os.write(self._out_fd, data) :]
        except OSError as error:  # A full disk, say.
            self._flow.connection_lost(error)

    @property
    def congested(self) -> bool:
        """Whether the reader is a megabyte or more behind."""
        return not self._flow.free.is_set()

    async def drained(self) -> None:
        """Wait until the reader has caught up or is gone."""
        await self._flow.free.wait()

    async def close(self, grace: float = 2.0) -> None:
        """Let the last words out, for a while, and let go of the descriptors."""
        if self._writer is not None:
            self._writer.close()
            try:
                async with asyncio.timeout(grace):
                    await self._flow.gone.wait()
            except TimeoutError:
                self._writer.abort()
        for fd in (self._in_fd, self._out_fd):
            # A terminal is shared with the shell, which would find it changed.
            os.set_blocking(fd, True)
            os.close(fd)


def _widen(pipe: int) -> None:
    """Let a pipe hold much, where the system allows it: its reader may then be slow for a moment."""
    with contextlib.suppress(OSError, AttributeError):
        fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, _HIGH_WATER)


def _can_wait_for(fd: int) -> bool:
    """Whether a loop can tell when there is something; a file or a null device is always ready."""
    mode = os.fstat(fd).st_mode
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or os.isatty(fd)


def _open_missing() -> None:
    """Put nothing in the place of a standard descriptor that is closed, or the next file would be it."""
    for fd in (0, 1, 2):
        try:
            os.fstat(fd)
        except OSError:
            os.open(os.devnull, os.O_RDWR)


class _Input(asyncio.Protocol):
    def __init__(self, receive: Callable[[bytes], None], ended: asyncio.Event) -> None:
        self._receive = receive
        self._ended = ended

    def data_received(self, data: bytes) -> None:
        self._receive(data)

    def connection_lost(self, exc: Exception | None) -> None:
        self._ended.set()


class _Flow(asyncio.BaseProtocol):
    """Says whether the reader keeps up, and whether it is still there."""

    def __init__(self) -> None:
        self.free = asyncio.Event()
        self.free.set()
        self.gone = asyncio.Event()

    def pause_writing(self) -> None:
        self.free.clear()

    def resume_writing(self) -> None:
        self.free.set()

    def connection_lost(self, exc: Exception | None) -> None:
        self.gone.set()
        self.free.set()
