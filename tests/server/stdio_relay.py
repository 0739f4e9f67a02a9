"""A client for programs that talk over stdin and stdout: ``python stdio_relay.py URL``, a message per line.

So that whoever can only start a process can talk with a server, as the conformance kit does. The URL says
how: ``ws:`` or ``http:``. The token comes from the environment.
"""

import asyncio
import os
import sys

import httpx
from tests.server.acp_clients import HttpCarrier, carry_frames
from websockets.asyncio.client import connect


class StdioPipe:
    """Lines in, lines out."""

    async def to_send(self) -> list[bytes]:
        line = await asyncio.to_thread(sys.stdin.buffer.readline)
        if not line:
            raise EOFError
        return [line.removesuffix(b"\n")]

    def hear(self, message: bytes) -> None:
        sys.stdout.buffer.write(message + b"\n")
        sys.stdout.buffer.flush()


async def relay(url: str) -> None:
    """Carry lines until stdin ends."""
    headers = {"authorization": f"Bearer {os.environ['TRUNKLINE_TOKEN']}"}
    if url.startswith("ws:"):
        async with connect(url, additional_headers=headers, max_size=None) as socket:
            await carry_frames(socket, StdioPipe())
    else:
        async with httpx.AsyncClient(timeout=60) as client:
            await HttpCarrier(client, url, headers, StdioPipe()).work()


if __name__ == "__main__":
    asyncio.run(relay(sys.argv[1]))
