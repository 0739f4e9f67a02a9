"""Lines from stdin, typed or piped, read without a thread, so that waiting for one can be cancelled."""

from __future__ import annotations

import asyncio
import os

from trunkline.cli.signals import hang_up

_LONGEST_LINE = 1024 * 1024


class StdinLines:
    """Lines that are typed or piped; None at the end of the input."""

    def __init__(self, fd: int = 0) -> None:
        self.is_terminal = os.isatty(fd)
        self._fd = fd
        self._typed = b""
        self._ended = False
        self._ready: asyncio.Future[None] | None = None
        self._reading: asyncio.Future[bytes] | None = None

    async def line(self) -> str | None:
        """Wait for the next line."""
        while b"\n" not in self._typed and len(self._typed) < _LONGEST_LINE and not self._ended:
            data = await self._read()
            self._ended = self._ended or not data
            self._typed += data
        if not self._typed:
            return None
        line, _, self._typed = self._typed.partition(b"\n")
        return line.decode("utf-8", "replace").removesuffix("\r")

    def type(self, *lines: str) -> None:
        """Put lines in front, as if they had been typed."""
        self._typed = "".join(f"{line}\n" for line in lines).encode() + self._typed

    def close(self) -> None:
        """Stop reading; a pending ``line`` gives None."""
        self._ended = True
        if self._ready is not None and not self._ready.done():
            self._ready.set_result(None)

    async def _read(self) -> bytes:
        loop = asyncio.get_running_loop()
        self._ready = ready = loop.create_future()
        try:
            loop.add_reader(self._fd, lambda: ready.done() or ready.set_result(None))
        except (PermissionError, NotImplementedError):
            # A file, whose reads do not wait, or a platform that cannot watch descriptors. What a cancelled
            # wait leaves behind, the next one gets.
            self._reading = self._reading or asyncio.ensure_future(asyncio.to_thread(self._take))
            data = await asyncio.shield(self._reading)
            self._reading = None
            return data
        try:
            await ready
        finally:
            loop.remove_reader(self._fd)
        data = b"" if self._ended else self._take()
        if not data and self.is_terminal and not os.isatty(self._fd) and not self._ended and hang_up():
            # An end of the input would answer a question; who was told ends us instead.
            self._ready = loop.create_future()
            await self._ready
        return data

    def _take(self) -> bytes:
        try:
            return os.read(self._fd, 65536)
        except OSError:
            # The terminal is gone.
            return b""
