"""The real command line as a child process, with every wait bounded."""

from __future__ import annotations

import asyncio
import json
import os
import select
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple, Self

from trunkline.cli.journals import opened_journal
from trunkline.events import AnyEvent
from trunkline.journal import Record, SessionInfo, SessionKey

SECONDS = 60.0


class Result(NamedTuple):
    """How a program ended and what it said."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """What stdout means as one JSON document."""
        return json.loads(self.out)

    @property
    def lines(self) -> list[dict[str, Any]]:
        """What each line of stdout means as JSON."""
        return [json.loads(line) for line in self.out.splitlines()]


def command(*arguments: str) -> list[str]:
    """Give the words that run trunkline."""
    return [sys.executable, "-m", "trunkline", *arguments]


def run(*arguments: str, stdin: str = "", cwd: Path | None = None, **env: str) -> Result:
    """Run trunkline to its end."""
    return _run(command(*arguments), stdin, cwd, env)


def run_program(path: Path, *arguments: str, cwd: Path) -> Result:
    """Run a Python file to its end."""
    return _run([sys.executable, str(path), *arguments], "", cwd, {})


def _run(words: list[str], stdin: str, cwd: Path | None, env: dict[str, str]) -> Result:
    done = subprocess.run(
        words,
        input=stdin.encode(),
        capture_output=True,
        cwd=cwd,
        env={**os.environ, "PYTHONWARNINGS": "error", **env},
        timeout=SECONDS,
    )
    return Result(done.returncode, done.stdout.decode(), done.stderr.decode())


def start(*arguments: str, cwd: Path | None = None) -> subprocess.Popen[bytes]:
    """Start trunkline with pipes; the caller ends it within a ``with`` block."""
    pipe = subprocess.PIPE
    return subprocess.Popen(command(*arguments), stdin=pipe, stdout=pipe, stderr=pipe, cwd=cwd)


def kept(journal: Path) -> list[SessionInfo]:
    """Give the sessions of a SQLite journal, newest first, without a program."""

    async def read() -> list[SessionInfo]:
        async with opened_journal(f"sqlite:{journal}") as opened:
            return await opened.list(None)

    return asyncio.run(read())


def events_of(journal: Path, session_id: str) -> list[AnyEvent]:
    """Give what was said in a session of a SQLite journal."""

    async def read() -> list[Record]:
        async with opened_journal(f"sqlite:{journal}") as opened:
            return await opened.read(SessionKey("local", session_id))

    return [record.event for record in asyncio.run(read()) if record.event is not None]


class Pty:
    """A program in a terminal of its own, for as long as the block runs."""

    def __init__(self, *arguments: str, cwd: Path | None = None, controlling: bool = False) -> None:
        """Start trunkline with a terminal as its stdin, stdout and stderr."""
        self.shown = ""
        self._master, slave = os.openpty()
        # A window that closes tells the program for which it is the controlling terminal.
        words = ["setsid", "--ctty", *command(*arguments)] if controlling else command(*arguments)
        self.process = subprocess.Popen(
            words,
            stdin=slave,
            stdout=slave,
            stderr=slave,
            cwd=cwd,
            env={**os.environ, "TERM": "xterm", "COLUMNS": "100"},
            start_new_session=not controlling,
        )
        os.close(slave)

    def __enter__(self) -> Self:
        """Use the terminal."""
        return self

    def __exit__(self, *_: object) -> None:
        """End what still runs."""
        self.process.kill()
        self.process.wait(SECONDS)
        self.hang_up()

    def hang_up(self) -> None:
        """Close the window: whatever runs in it has no terminal any more."""
        if self._master >= 0:
            os.close(self._master)
            self._master = -1

    def expect(self, text: str) -> str:
        """Read until the text was shown; gives everything up to it, and forgets that."""
        deadline = time.monotonic() + SECONDS
        while text not in self.shown:
            assert time.monotonic() < deadline, f"{text!r} was not shown in time, but {self.shown!r}"
            ended = self.process.poll() is not None
            assert self._read() or not ended, f"it ended and had shown {self.shown!r}"
        before, _, self.shown = self.shown.partition(text)
        return before + text

    def type(self, line: str) -> None:
        """Type a line and press Enter."""
        os.write(self._master, line.encode() + b"\n")

    def press(self, keys: bytes) -> None:
        """Press keys; the terminal makes a signal of Ctrl-C."""
        os.write(self._master, keys)

    def interrupt(self) -> None:
        """Press Ctrl-C."""
        self.process.send_signal(signal.SIGINT)

    def wait(self) -> int:
        """Wait for the end; gives the exit code."""
        deadline = time.monotonic() + SECONDS
        while self.process.poll() is None:
            assert time.monotonic() < deadline, f"still running; shown: {self.shown!r}"
            self._read()
        while self._read():
            pass  # its last words
        return self.process.returncode

    def _read(self) -> bool:
        """Take what is shown within a moment; False for nothing."""
        if not select.select([self._master], [], [], 0.05)[0]:
            return False
        try:
            data = os.read(self._master, 65536)
        except OSError:  # nobody holds the other end any more
            return False
        self.shown += data.decode("utf-8", "replace")
        return bool(data)
