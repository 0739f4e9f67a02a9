"""Programs of ours in processes of their own, spoken with in lines of JSON; every wait is bounded."""

import asyncio
import contextlib
import json
import os
import signal
import sys
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

from tests.hubs import WAIT, soon

ROOT = Path(__file__).parents[2]
LONGEST_LINE = 2**20


class Child:
    """A running program; what it prints is kept in ``lines``, in order."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        """Made by ``child``."""
        assert process.stdin is not None
        assert process.stdout is not None
        self.pid = process.pid
        self.lines: list[dict[str, Any]] = []
        self._process = process
        self._stdin = process.stdin
        self._stdout = process.stdout

    async def read(self, within: float = WAIT) -> bytes | None:
        """Give the next line; None at the end. A line that its writer could not finish is no line."""
        line = await soon(self._stdout.readline(), within)
        return line if line.endswith(b"\n") else None

    async def expect(self, *, within: float = WAIT, **fields: Any) -> dict[str, Any]:
        """Read on until a line has these fields, and give it."""
        while (line := await self.read(within)) is not None:
            self.lines.append(report := json.loads(line))
            if fields.items() <= report.items():
                return report
        raise AssertionError(f"the child ended before it said {fields}; its last words: {self.lines[-5:]}")

    async def do(self, command: str, **fields: Any) -> dict[str, Any]:
        """Ask the program to do something, and give its word on it."""
        self._stdin.write(json.dumps({"do": command, **fields}).encode() + b"\n")
        return await self.expect(did=command)

    def send(self, number: signal.Signals) -> None:
        """Send a signal to the process, if it still runs."""
        # Not by the process object: it would take the return code away from the loop.
        if self._process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, number)

    async def kill(self) -> list[bytes]:
        """Kill the process and give what was left in its pipe; idempotent."""
        self.send(signal.SIGKILL)
        self._stdin.close()
        last_words: list[bytes] = []
        while (line := await self.read()) is not None:
            last_words.append(line)
        await soon(self._process.wait())
        return last_words


@contextlib.asynccontextmanager
async def child(module: str, *args: object) -> AsyncGenerator[Child, None]:
    """Start a program of tests/faults/children; it is gone when the block ends."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        f"tests.faults.children.{module}",
        *map(str, args),
        cwd=ROOT,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        limit=LONGEST_LINE,
    )
    running = Child(process)
    try:
        yield running
    finally:
        await running.kill()
