"""A server behind pipes: a process that leads its own group, and messages that are lines.

MCP's own stdio client ends the server but not what the server started, and keeps nothing of what it
said on stderr. Here the whole group ends, and a server that failed can be asked for its last words.
"""

from __future__ import annotations

import asyncio
import os
import signal
from collections import deque
from contextlib import suppress
from typing import TYPE_CHECKING, cast

from trunkline.protocols.jsonrpc import LineFramer, Oversize
from trunkline.transports.process.environment import scrub
from trunkline.transports.process.group import Group
from trunkline.transports.process.tail import Tail

if TYPE_CHECKING:
    from trunkline.mcp.connections import Program

__all__ = ["Pipes"]

GRACE = 1.0
"""Seconds a server has to end by itself once nobody speaks to it, and again after a polite signal."""
DRAIN = 0.2
"""Seconds in which words may still arrive after the process ended."""
WAITING = 256
"""Messages that may wait to be read before the server has to."""
MAX_LINE = 64 * 1024 * 1024
WORDS = 2000


class Pipes(asyncio.SubprocessProtocol):
    """One server process; ``start`` it, ``receive`` and ``send`` lines, and ``end`` it."""

    def __init__(self, max_line: int = MAX_LINE) -> None:
        """Prepare; nothing runs yet."""
        self._framer = LineFramer(max_line)
        self._lines: deque[bytes] = deque()
        self._words = Tail(WORDS)
        self._changed = asyncio.Event()
        self._writable = asyncio.Event()
        self._writable.set()
        self._exited = asyncio.Event()
        self._gone = asyncio.Event()
        self._silent = False
        self._paused = False
        self._transport: asyncio.SubprocessTransport | None = None
        self._group: Group | None = None
        self.oversize: Oversize | None = None

    async def start(self, program: Program, folder: str | None) -> None:
        """Start the server with the user's environment, without what is ours in it."""
        await asyncio.get_running_loop().subprocess_exec(
            lambda: self,
            program.command,
            *program.args,
            cwd=program.cwd or folder,
            env={**scrub(os.environ, ["*"]), **program.env},
            start_new_session=True,
        )

    async def receive(self) -> bytes | None:
        """Give the next line; None when there will be none any more."""
        while not self._lines:
            if self._silent:
                return None
            self._changed.clear()
            await self._changed.wait()
        line = self._lines.popleft()
        if self._paused and not self._lines:
            self._paused = False
            self._pipe(1).resume_reading()
        return line

    async def send(self, line: bytes) -> None:
        """Write a line, and wait while the server does not read."""
        self._pipe(0).write(line + b"\n")
        await self._writable.wait()

    @property
    def epitaph(self) -> str | None:
        """How the server ended and what it said last; None while it runs."""
        code = self._transport.get_returncode() if self._transport is not None else None
        if code is None:
            return None
        how = f"it ended with code {code}" if code >= 0 else f"it was ended by signal {-code}"
        words = " ".join(self._words.text.split())[-300:]
        return f"{how}: {words}" if words else how

    async def end(self, grace: float = GRACE) -> None:
        """End the server and everything in its group: politely first, unless we are in a hurry."""
        if self._transport is None or self._group is None:
            return
        try:
            self._pipe(0).close()
            await _within(grace, self._exited)
            if self._group.signal(signal.SIGTERM):
                await self._group.wait(grace)
        finally:  # also when we are cancelled meanwhile
            self._group.signal(signal.SIGKILL)
            try:
                # Closing asks for the process too, and only the first to ask learns how it ended.
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
        """Keep what the server said: lines on stdout, the end of its words on stderr."""
        assert isinstance(data, bytes)
        if fd != 1:
            self._words.feed(data)
            return
        for line in self._framer.feed(data):
            if isinstance(line, Oversize):
                self.oversize = line
                self._fall_silent()
            else:
                self._lines.append(line)
        self._changed.set()
        if len(self._lines) > WAITING and not self._paused:
            self._paused = True
            self._pipe(1).pause_reading()

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        """Note that a pipe is closed; one who waits to write learns it from the next line."""
        if fd == 1:
            self._fall_silent()
        self._writable.set()

    def pause_writing(self) -> None:
        """The server does not read: wait."""
        self._writable.clear()

    def resume_writing(self) -> None:
        """The server reads again."""
        self._writable.set()

    def process_exited(self) -> None:
        """Note the end of the process; whoever it left behind may hold the pipe, but says nothing to us."""
        assert self._group is not None
        self._group.signal(0)
        self._exited.set()
        asyncio.get_running_loop().call_later(DRAIN, self._fall_silent)

    def connection_lost(self, exc: Exception | None) -> None:
        """Note that the process and its pipes are gone."""
        self._gone.set()

    def _fall_silent(self) -> None:
        self._silent = True
        self._changed.set()

    def _pipe(self, fd: int) -> asyncio.Transport:
        assert self._transport is not None
        return cast("asyncio.Transport", self._transport.get_pipe_transport(fd))


async def _within(seconds: float, event: asyncio.Event) -> None:
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await event.wait()
