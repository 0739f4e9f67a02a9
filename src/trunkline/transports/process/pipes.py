"""A child process that reads and writes messages as lines, and leads its own process group.

``close`` ends the whole group, so that no process that the child started is left. The end of what the child
wrote on stderr is kept, and says why it failed.
"""

from __future__ import annotations

import asyncio
import os
import signal
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import cast

from trunkline.protocols.jsonrpc import LineFramer, Oversize
from trunkline.transports.process.environment import scrub
from trunkline.transports.process.group import Group
from trunkline.transports.process.tail import Tail

__all__ = ["Pipes"]

GRACE = 1.0
"""Seconds that the process has to end by itself after its stdin is closed, and again after SIGTERM."""
DRAIN = 0.2
"""Seconds in which output may still arrive after the process ended."""
WAITING = 256
"""Lines that may wait to be received before reading from the process pauses."""
MAX_LINE = 64 * 1024 * 1024
STDERR_KEPT = 2000


class Pipes(asyncio.SubprocessProtocol):
    """One child process: ``start`` it, ``receive`` and ``send`` lines, and ``close`` it."""

    def __init__(self, max_line: int = MAX_LINE) -> None:
        """Prepare; nothing runs yet."""
        self._framer = LineFramer(max_line)
        self._lines: deque[bytes] = deque()
        self._stderr = Tail(STDERR_KEPT)
        self._changed = asyncio.Event()
        self._writable = asyncio.Event()
        self._writable.set()
        self._exited = asyncio.Event()
        self._gone = asyncio.Event()
        self._output_ended = False
        self._paused = False
        self._transport: asyncio.SubprocessTransport | None = None
        self._group: Group | None = None
        self.oversize: Oversize | None = None

    async def start(
        self, command: str, args: Sequence[str] = (), *, env: Mapping[str, str], cwd: str | None
    ) -> None:
        """Start a program with the user's environment, without our own secrets, and ``env`` added."""
        await asyncio.get_running_loop().subprocess_exec(
            lambda: self,
            command,
            *args,
            cwd=cwd,
            env={**scrub(os.environ, ["*"]), **env},
            start_new_session=True,
        )

    async def receive(self) -> bytes | None:
        """Wait for the next line; None after the last one."""
        while not self._lines:
            if self._output_ended:
                return None
            self._changed.clear()
            await self._changed.wait()
        line = self._lines.popleft()
        if self._paused and not self._lines:
            self._paused = False
            self._pipe(1).resume_reading()
        return line

    async def send(self, line: bytes) -> None:
        """Write a line, and wait while the process does not read."""
        self._pipe(0).write(line + b"\n")
        await self._writable.wait()

    @property
    def exit_description(self) -> str | None:
        """How the process ended, and the end of its stderr; None while it runs."""
        code = self._transport.get_returncode() if self._transport is not None else None
        if code is None:
            return None
        how = f"it ended with code {code}" if code >= 0 else f"it was ended by signal {-code}"
        stderr = " ".join(self._stderr.text.split())[-300:]
        return f"{how}: {stderr}" if stderr else how

    async def close(self, grace: float = GRACE) -> None:
        """End the process and its group: close stdin, then SIGTERM, then SIGKILL, ``grace`` seconds apart."""
        if self._transport is None or self._group is None:
            return
        try:
            self._pipe(0).close()
            await _within(grace, self._exited)
            if self._group.signal(signal.SIGTERM):
                await self._group.wait(grace)
        finally:  # also when this is cancelled
            self._group.signal(signal.SIGKILL)
            try:
                # transport.close() waits for the process too, and only the first waiter gets its exit code.
                await _within(3 * GRACE, self._exited)
            finally:
                self._transport.close()
            await _within(3 * GRACE, self._gone)

    # -- what the event loop calls --

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Remember the process, which leads its group."""
        assert isinstance(transport, asyncio.SubprocessTransport)
        self._transport = transport
        self._group = Group(transport.get_pid())

    def pipe_data_received(self, fd: int, data: bytes | str) -> None:
        """Keep the lines of stdout, and the end of stderr."""
        assert isinstance(data, bytes)
        if fd != 1:
            self._stderr.feed(data)
            return
        for line in self._framer.feed(data):
            if isinstance(line, Oversize):
                self.oversize = line
                self._end_output()
            else:
                self._lines.append(line)
        self._changed.set()
        if len(self._lines) > WAITING and not self._paused:
            self._paused = True
            self._pipe(1).pause_reading()

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        """Note that a pipe is closed; a waiting ``send`` returns, and the next one fails."""
        if fd == 1:
            self._end_output()
        self._writable.set()

    def pause_writing(self) -> None:
        """Make ``send`` wait while the process does not read."""
        self._writable.clear()

    def resume_writing(self) -> None:
        """Let ``send`` go on."""
        self._writable.set()

    def process_exited(self) -> None:
        """Note the end of the process; what its own children write to the pipe later is not read."""
        assert self._group is not None
        self._group.signal(0)
        self._exited.set()
        asyncio.get_running_loop().call_later(DRAIN, self._end_output)

    def connection_lost(self, exc: Exception | None) -> None:
        """Note that the process and its pipes are gone."""
        self._gone.set()

    def _end_output(self) -> None:
        self._output_ended = True
        self._changed.set()

    def _pipe(self, fd: int) -> asyncio.Transport:
        assert self._transport is not None
        return cast("asyncio.Transport", self._transport.get_pipe_transport(fd))


async def _within(seconds: float, event: asyncio.Event) -> None:
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await event.wait()
