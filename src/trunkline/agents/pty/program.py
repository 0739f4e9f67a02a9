"""One program in a terminal: what it shows as text, what is typed, when it is quiet, and how it ends."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import suppress

import msgspec

from trunkline.agents.pty.screen import Screen
from trunkline.agents.pty.transcript import Transcript
from trunkline.errors import InvalidCommand
from trunkline.transports.process.child import Exit
from trunkline.transports.process.terminal_process import INTERRUPT, LONGEST_LINE, TerminalProcess

_UNREAD_ROWS = 2000  # Rows that may wait to be shown before the program has to wait.
_GRACE = 1.0
_ECHO = "^C"


class Timing(msgspec.Struct, frozen=True, kw_only=True):
    """How long to wait for a program, in seconds."""

    settle: float = 0.1
    """A line that has not changed for this long is shown."""
    quiet: float = 1.0
    """With no output for this long the turn is over."""
    redraw: float = 30.0
    """A program that only redraws what it shows, a spinner say, for this long: the turn is over."""
    start: float = 1.0
    """How long a program may take to show something when it starts."""
    interrupt: float = 1.0
    """How long a program may take to react to Ctrl-C, and again to SIGINT; then it is killed."""


class PtyProgram:
    """Runs one program."""

    def __init__(self, timing: Timing, rows: int, columns: int) -> None:
        """Prepare; ``start`` begins."""
        self._timing = timing
        self._rows, self._columns = rows, columns
        self._screen = Screen(rows, columns)
        self._transcript = Transcript(self._screen, timing.settle)
        self._process = TerminalProcess(self._take, self._wake, grace=_GRACE)
        self._changed = asyncio.Event()
        self._written = 0
        """How many bytes the program has written."""
        self.is_waiting = False
        """Whether the program has to wait until what it wrote is shown."""

    @property
    def exit(self) -> Exit | None:
        """How the program ended; None while it runs, or while its last output is read."""
        return self._process.exit if self._process.ended else None

    async def start(self, argv: Sequence[str], cwd: str | None, env: Mapping[str, str]) -> None:
        """Start the program; raises OSError if it cannot be started."""
        # What a program may send is what the screen understands.
        env = {**env, "TERM": "xterm", "COLUMNS": str(self._columns), "LINES": str(self._rows)}
        await self._process.start(argv, cwd=cwd, env=env, rows=self._rows, columns=self._columns)

    # -- what it shows -----------------------------------------------------------------------------

    def _take(self, data: bytes) -> None:
        self._written += len(data)
        self._screen.feed(data)
        for reply in self._screen.replies:
            self._process.write_soon(reply)
        self._screen.replies.clear()
        if len(self._screen.scrolled) > _UNREAD_ROWS and not self.is_waiting:
            self.is_waiting = True
            self._process.pause_reading()
        self._wake()

    def _wake(self) -> None:
        self._changed.set()

    async def greeting(self) -> AsyncGenerator[str]:
        """Give what the program shows when it starts."""
        await self._wait(self._timing.start)
        if not self._changed.is_set():
            return
        async for text in self.until_quiet(min(self._timing.quiet, self._timing.start)):
            yield text

    async def until_quiet(self, quiet: float | None = None) -> AsyncGenerator[str]:
        """Give what the program shows, as it settles, until it is quiet or has ended."""
        timing, loop = self._timing, asyncio.get_running_loop()
        quiet = timing.quiet if quiet is None else quiet
        written, last_output = self._written, loop.time()
        last_news = last_output
        while not self._process.ended:
            now = loop.time()
            if self._written != written:
                written, last_output = self._written, now
            if text := self._transcript.read(now):
                last_news = now
                self._resume()
                yield text
                continue
            if now - last_output >= quiet or now - last_news >= timing.redraw:
                break
            self._changed.clear()
            await self._wait(min(timing.settle, quiet - (now - last_output)))
        if text := self._transcript.finish():
            yield text
        self._resume()

    @property
    def has_news(self) -> bool:
        """Whether the program has written whole lines that were not shown."""
        return self._transcript.is_behind

    async def wait_for_news(self) -> None:
        """Wait until the program has written a line, or has ended."""
        while not self._process.ended and not self.has_news:
            self._changed.clear()
            await self._changed.wait()

    def _resume(self) -> None:
        if self.is_waiting:
            self.is_waiting = False
            self._process.resume_reading()

    async def _wait(self, seconds: float) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._changed.wait()

    # -- keys and signals --------------------------------------------------------------------------

    async def type(self, text: str) -> None:
        """Type a text and press Enter."""
        text = "".join(char for char in text if char in "\n\t" or char.isprintable())
        self._check_length(text)
        self._transcript.typed(text.split("\n") if self._process.shows_keys else [])
        keys = text.replace("\n", "\r").encode()
        if self._screen.pastes and "\n" in text:
            # "the program ... bracketed paste mode" (xterm's ctlseqs): its line feeds do not send it off.
            keys = b"\x1b[200~" + keys + b"\x1b[201~"
        self._changed.clear()
        await self._process.write(keys + b"\r")

    def _check_length(self, text: str) -> None:
        longest = max(len(line.encode()) for line in text.split("\n"))
        if longest > LONGEST_LINE and not self._process.ended and self._process.reads_lines:
            raise InvalidCommand(
                f"a line has {longest} bytes, and the terminal holds {LONGEST_LINE}: write shorter lines"
            )

    async def interrupt(self) -> bool:
        """Press Ctrl-C, then send SIGINT; False if the program does not react to either."""
        for press in (self._press_interrupt, self._send_interrupt):
            before = self._written
            press()
            if await self._reacts(before + len(_ECHO)):
                return True
        return False

    def _press_interrupt(self) -> None:
        self._process.write_soon(INTERRUPT)

    def _send_interrupt(self) -> None:
        self._process.signal(signal.SIGINT)

    async def _reacts(self, echoed: int) -> bool:
        """Whether the program ends, or shows more than the key itself and then is quiet."""
        loop = asyncio.get_running_loop()
        limit = loop.time() + self._timing.interrupt
        quiet = min(0.2, self._timing.quiet)
        while not self._process.ended and loop.time() < limit:
            written = self._written
            self._changed.clear()
            await self._wait(quiet)
            if written > echoed and self._written == written:
                return True
        return self._process.ended

    async def close(self) -> None:
        """Hang up, and end the program and all that it started."""
        await self._process.close()
