"""The output of a command that runs an agent: results only, written without holding up the loop."""

from __future__ import annotations

import asyncio
import errno
import os
import sys
from collections.abc import Callable
from contextlib import suppress


class Output:
    """The real stdout. What agents print goes to stderr, so that results stay readable for programs."""

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self._reader_gone = False
        self.is_terminal = os.isatty(fd)
        self.shows_notes = self.is_terminal or _same_file(fd, 2)
        """Whether stderr is shown in the same place, so that a note has to begin a line of its own."""
        self.encoding = (self.is_terminal and sys.stdout.encoding) or "utf-8"
        self.on_reader_gone: Callable[[], None] | None = None
        """Called once when the reader is gone; what is written later is discarded."""

    @classmethod
    def claim(cls) -> Output:
        """Take stdout for results, and send what other code prints to stderr."""
        with suppress(OSError, AttributeError):
            sys.stdout.flush()
        try:
            fd = os.dup(1)
            os.dup2(2, 1)
        except OSError:
            # The parent process closed stdout or stderr.
            fd = os.open(os.devnull, os.O_WRONLY)
        return cls(fd)

    async def write(self, data: bytes) -> None:
        """Write everything, in a thread: a slow reader must not keep the loop from renewing its leases."""
        if self._reader_gone:
            return
        try:
            await asyncio.to_thread(self._write, data)
        except OSError as error:
            # A pipe without a reader, or a terminal that is gone.
            if error.errno not in (errno.EPIPE, errno.EIO):
                raise
            self._reader_gone = True
            if self.on_reader_gone is not None:
                self.on_reader_gone()

    def _write(self, data: bytes) -> None:
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(self._fd, rest) :]


def _same_file(fd: int, other: int) -> bool:
    """Whether two descriptors write to one file or pipe, as with ``2>&1``."""
    try:
        return os.path.sameopenfile(fd, other)
    except OSError:
        return False
