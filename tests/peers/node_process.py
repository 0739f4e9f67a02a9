"""A program in node that is given orders, a line of JSON each, and reports in the same way."""

import asyncio
import json
import subprocess
from typing import Any

SECONDS = 30.0
JsonObject = dict[str, Any]


class NodeProcess:
    """A node process that does one order after the other."""

    def __init__(self, *argv: str) -> None:
        """Start node."""
        self._process = subprocess.Popen(["node", *argv], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def close(self) -> None:
        """End node."""
        self._process.communicate(timeout=SECONDS)

    async def order(self, **order: Any) -> JsonObject:
        """Have one thing done and give the report."""
        async with asyncio.timeout(SECONDS):
            return json.loads(await asyncio.to_thread(self._exchange, json.dumps(order).encode() + b"\n"))

    def _exchange(self, line: bytes) -> bytes:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(line)
        self._process.stdin.flush()
        return self._process.stdout.readline()
