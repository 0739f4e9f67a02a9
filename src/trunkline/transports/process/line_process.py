"""Messages as lines over the stdin and stdout of a child process.

The end of what the child wrote on stderr is kept, and says why it failed.
"""

from __future__ import annotations

import asyncio
import os
import signal
from collections import deque
from collections.abc import Callable, Mapping, Sequence

from trunkline.protocols.jsonrpc.framing import MAX_LINE, LineFramer, Oversize
from trunkline.transports.process.child import ChildProcess, within
from trunkline.transports.process.environment import scrub
from trunkline.transports.process.output_tail import Tail

GRACE = 1.0
"""Seconds that the process has to end by itself after its stdin is closed, and again after SIGTERM."""
WAITING = 256
"""Lines that may wait to be received before reading from the process pauses."""
STDERR_KEPT = 2000
STDERR_SHOWN = 300

Lines = Callable[[list[bytes]], None]


class LineProcess:
    """One child process: ``start`` it, ``receive`` and ``send`` lines, and ``close`` it.

    With ``on_lines`` lines are given to that as they come, and ``receive`` gives none; ``pause_reading``
    then lets the process wait. ``on_end`` is called when no more lines come, and when the process has ended.
    """

    def __init__(
        self,
        max_line: int = MAX_LINE,
        *,
        stderr_kept: int = STDERR_KEPT,
        on_lines: Lines | None = None,
        on_end: Callable[[], None] | None = None,
    ) -> None:
        """Keep lines of up to ``max_line`` bytes, and the last ``stderr_kept`` bytes of stderr."""
        self._process = ChildProcess(self._take, self._ended, grace=GRACE)
        self._framer = LineFramer(max_line)
        self._lines: deque[bytes] = deque()
        self._on_lines = on_lines
        self._on_end = on_end
        self._stderr = Tail(stderr_kept)
        self._changed = asyncio.Event()
        self._is_started = False
        self._is_paused = False
        self.oversize: Oversize | None = None
        """The line that was too long, also one that has no end yet: nothing is read after it."""

    async def start(
        self,
        command: str,
        args: Sequence[str] = (),
        *,
        env: Mapping[str, str],
        cwd: str | None,
        env_allow: Sequence[str] = ("*",),
    ) -> None:
        """Start a program with the user's environment, without our own secrets, and ``env`` added.

        ``env_allow`` are patterns for the variables of the user's environment that it gets.
        """
        variables = {**scrub(os.environ, env_allow), **env}
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
            self.resume_reading()
        return line

    async def send(self, line: bytes) -> None:
        """Write a line, and wait while the process does not read."""
        await self._process.write(line + b"\n")

    # -- a transport: what a JSON-RPC connection writes to --

    def write(self, data: bytes) -> None:
        """Write as soon as the process reads; never waits."""
        if self._is_started:
            self._process.write_soon(data)

    @property
    def unread(self) -> int:
        """How many bytes wait for the process to read them."""
        return self._process.unread if self._is_started else 0

    @property
    def input_ended(self) -> bool:
        """Whether the process has closed its stdin, or is gone."""
        return self._process.input_ended

    @property
    def congested(self) -> bool:
        """Whether the process reads more slowly than we write."""
        return self._process.congested

    async def drained(self) -> None:
        """Wait until the process has read nearly everything, or is gone."""
        await self._process.drained()

    def pause_reading(self) -> None:
        """Let the process wait when it writes more."""
        if not self._is_paused:
            self._is_paused = True
            self._process.pause_reading()

    def resume_reading(self) -> None:
        """Read again."""
        if self._is_paused and self.oversize is None:
            self._is_paused = False
            self._process.resume_reading()

    # -- how it is, and how it ends --

    @property
    def stderr(self) -> str:
        """The end of what it wrote on stderr, also while it runs."""
        return self._stderr.text

    @property
    def output_ended(self) -> bool:
        """Whether no more lines come."""
        return self._process.output_ended or self.oversize is not None

    @property
    def finished(self) -> asyncio.Event:
        """Set when the process has ended and all that it wrote has arrived."""
        return self._process.finished

    @property
    def exit_description(self) -> str | None:
        """How the process ended, and the end of its stderr; None while it runs."""
        return self.describe_exit()

    def describe_exit(self, shown: int = STDERR_SHOWN) -> str | None:
        """Say how the process ended, with so many characters of its stderr; None while it runs."""
        if not self._is_started or self._process.exit is None:
            return None
        code, name = self._process.exit
        how = f"it ended with code {code}" if name is None else f"it was ended by {name}"
        stderr = " ".join(self._stderr.text.split())[-shown:]
        return f"{how}: {stderr}" if stderr else how

    async def close(self, grace: float = GRACE, *, interrupt: float = 0.0) -> None:
        """End the process and all it started: close stdin, and after ``grace`` seconds kill them.

        With ``interrupt`` they get SIGINT first, and so many seconds to end.
        It is how MCP wants it:
        https://modelcontextprotocol.io/specification/2025-06-18/basic/lifecycle#shutdown.
        """
        if not self._is_started:
            return
        at_once = True
        try:
            if interrupt:
                await self.interrupt(interrupt)
            self._process.close_stdin()
            await within(grace, self._process.exited)
            at_once = grace == 0
        finally:  # also when this is cancelled
            await self._process.close(at_once=at_once)

    async def interrupt(self, seconds: float) -> bool:
        """Send SIGINT to the process and all it started; whether it ended within so many seconds."""
        self._process.signal(signal.SIGINT)
        await within(seconds, self._process.exited)
        return self._process.exited.is_set()

    def _take(self, fd: int, data: bytes) -> None:
        """Keep the lines of stdout, and the end of stderr."""
        if fd != 1:
            self._stderr.feed(data)
            return
        if self.oversize is None:
            self._take_lines(self._framer.feed(data))

    def _take_lines(self, framed: list[bytes | Oversize]) -> None:
        lines: list[bytes] = []
        for line in framed:
            if isinstance(line, Oversize):
                self.oversize = line
                break
            lines.append(line)
        self.oversize = self.oversize or self._framer.overflow
        if self._on_lines is not None:
            if lines:
                self._on_lines(lines)
        else:
            self._lines += lines
        if self.oversize is not None or (self._on_lines is None and len(self._lines) > WAITING):
            self.pause_reading()
        if self.oversize is not None or self._on_lines is None:
            self._wake()

    def _ended(self) -> None:
        """Take that no more comes, or that the process is finished: its last message may lack the newline."""
        rest = self._framer.close() if self.oversize is None else []
        # Else it was killed while it wrote.
        self._take_lines([line for line in rest if isinstance(line, bytes) and line.endswith(b"}")])
        self._wake()

    def _wake(self) -> None:
        self._changed.set()
        if self._on_end is not None and self.output_ended:
            self._on_end()
