"""Messages as lines over the stdin and stdout of a child process.

The end of what the child wrote on stderr is kept, and says why it failed.
"""

from __future__ import annotations

import asyncio
import os
from collections import deque
from collections.abc import Mapping, Sequence

from trunkline.protocols.jsonrpc.framing import MAX_LINE, LineFramer, Oversize
from trunkline.transports.process.child import ChildProcess, within
from trunkline.transports.process.environment import scrub
from trunkline.transports.process.tail import Tail

GRACE = 1.0
"""Seconds that the process has to end by itself after its stdin is closed, and again after SIGTERM."""
WAITING = 256
"""Lines that may wait to be received before reading from the process pauses."""
STDERR_KEPT = 2000


class LineProcess:
    """One child process: ``start`` it, ``receive`` and ``send`` lines, and ``close`` it."""

    def __init__(self, max_line: int = MAX_LINE) -> None:
        self._process = ChildProcess(self._take, self._wake, grace=GRACE)
        self._framer = LineFramer(max_line)
        self._lines: deque[bytes] = deque()
        self._stderr = Tail(STDERR_KEPT)
        self._changed = asyncio.Event()
        self._is_started = False
        self._is_paused = False
        self.oversize: Oversize | None = None

    async def start(
        self, command: str, args: Sequence[str] = (), *, env: Mapping[str, str], cwd: str | None
    ) -> None:
        """Start a program with the user's environment, without our own secrets, and ``env`` added."""
        variables = {**scrub(os.environ, ["*"]), **env}
        await self._process.start([command, *args], cwd=cwd, env=variables, stdin=True)
        self._is_started = True

    async def receive(self) -> bytes | None:
        """Wait for the next line; None after the last one."""
        while not self._lines:
            if self._process.output_ended or self.oversize is not None:
                return None
            self._changed.clear()
            await self._changed.wait()
        line = self._lines.popleft()
        if self._is_paused and not self._lines:
            self._is_paused = False
            self._process.resume_reading()
        return line

    async def send(self, line: bytes) -> None:
        """Write a line, and wait while the process does not read."""
        await self._process.write(line + b"\n")

    @property
    def exit_description(self) -> str | None:
        """How the process ended, and the end of its stderr; None while it runs."""
        if not self._is_started or self._process.exit is None:
            return None
        code, signal = self._process.exit
        how = f"it ended with code {code}" if signal is None else f"it was ended by {signal}"
        stderr = " ".join(self._stderr.text.split())[-300:]
        return f"{how}: {stderr}" if stderr else how

    async def close(self, grace: float = GRACE) -> None:
        """End the process and all it started: close stdin, and after ``grace`` seconds kill them.

        It is how MCP wants it:
        https://modelcontextprotocol.io/specification/2025-06-18/basic/lifecycle#shutdown.
        """
        if not self._is_started:
            return
        at_once = True
        try:
            self._process.close_stdin()
            await within(grace, self._process.exited)
            at_once = grace == 0
        finally:  # also when this is cancelled
            await self._process.close(at_once=at_once)

    def _take(self, fd: int, data: bytes) -> None:
        """Keep the lines of stdout, and the end of stderr."""
        if fd != 1:
            self._stderr.feed(data)
            return
        for line in self._framer.feed(data):
            if isinstance(line, Oversize):
                self.oversize = line
            else:
                self._lines.append(line)
        self._wake()
        if len(self._lines) > WAITING and not self._is_paused:
            self._is_paused = True
            self._process.pause_reading()

    def _wake(self) -> None:
        self._changed.set()
