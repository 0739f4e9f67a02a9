"""A server of the tests that listens on a socket, and lines to it."""

import asyncio
import contextlib
import os
import socket
from collections.abc import AsyncGenerator, AsyncIterator
from typing import Any

from tests.hubs import BRISK, echo, make, soon
from tests.server.running_server import SECRET

import trunkline
from trunkline.commands import Prompt
from trunkline.server.limits import Limits
from trunkline.server.listening_socket import bind, url_of
from trunkline.server.run import listen

BRIEF = Limits(head_seconds=0.2, drain_seconds=0.2)


@contextlib.asynccontextmanager
async def up(
    agent: Any = None, **options: Any
) -> AsyncGenerator[tuple[str, asyncio.Event, asyncio.Task[None]]]:
    """A server that listens until it is told to stop."""
    chosen: dict[str, Any] = {"tokens": SECRET, "settings": BRISK, "limits": BRIEF, **options}
    app = trunkline.asgi(agent or make(echo), **chosen)
    listener, ready, stop = bind("127.0.0.1", 0), asyncio.Event(), asyncio.Event()
    serving = asyncio.create_task(listen(app, listener, on_ready=ready.set, stop=stop))
    try:
        url = url_of(listener)
        await soon(ready.wait())
        yield url, stop, serving
    finally:
        stop.set()
        await soon(serving)


async def raw(url: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    host, port = url.removeprefix("http://").split(":")
    return await asyncio.open_connection(host, int(port))


async def stalled(url: str, request: bytes) -> socket.socket:
    """A client that sends a request and reads nothing."""
    host, port = url.removeprefix("http://").split(":")
    client = socket.socket()
    client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    client.connect((host, int(port)))
    client.setblocking(False)
    await asyncio.get_running_loop().sock_sendall(client, request)
    return client


def asking(path: str, *lines: str) -> bytes:
    head = (f"GET {path} HTTP/1.1", "Host: 127.0.0.1", f"Authorization: Bearer {SECRET}", *lines)
    return "".join(f"{line}\r\n" for line in (*head, "")).encode()


@contextlib.asynccontextmanager
async def line_to(url: str) -> AsyncGenerator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    reader, writer = await raw(url)
    yield reader, writer
    writer.close()
    with contextlib.suppress(ConnectionError):
        await writer.wait_closed()


def files() -> int:
    """How many files and sockets are open, on both sides."""
    return len(os.listdir("/dev/fd"))


async def tick(prompt: Prompt) -> AsyncIterator[str]:
    while True:
        yield "tick "
        await asyncio.sleep(0.01)
