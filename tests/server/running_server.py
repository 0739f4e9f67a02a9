"""Servers for tests: an app on a real socket, and what its clients send."""

import asyncio
import json
import socket
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import uvicorn
from tests.hubs import BRISK, until

import trunkline
from trunkline.server.app import Server
from trunkline.testing import ScriptedAgent

SECRET = "0123456789abcdef"
BEARER = {"authorization": f"Bearer {SECRET}"}


@asynccontextmanager
async def listening(app: Any, **config: Any) -> AsyncGenerator[str]:
    """Serve an ASGI app on a free port; gives ``127.0.0.1:PORT``."""
    chosen: dict[str, Any] = {"log_level": "error", "ws": "websockets-sansio", "lifespan": "on", **config}
    server = uvicorn.Server(uvicorn.Config(app, **chosen))
    listener = socket.create_server(("127.0.0.1", 0))
    serving = asyncio.create_task(server.serve(sockets=[listener]))
    try:
        await until(lambda: server.started or serving.done())
        yield f"127.0.0.1:{listener.getsockname()[1]}"
    finally:
        server.should_exit = True
        await serving


@asynccontextmanager
async def served(agent: Any = None, **options: Any) -> AsyncGenerator[tuple[Server, httpx.AsyncClient]]:
    """Serve an agent; gives the app and a client with its token."""
    chosen: dict[str, Any] = {"tokens": SECRET, "settings": BRISK, **options}
    app = trunkline.asgi(agent or ScriptedAgent(), **chosen)
    # Without TLS nothing is verified, and to read all certificates takes 28 ms.
    async with (
        listening(app) as place,
        httpx.AsyncClient(base_url=f"http://{place}", headers=BEARER, timeout=20, verify=False) as client,
    ):
        yield app, client


def run_input(text: str = "/text", *, thread: str = "t1", run: str = "r1", **fields: Any) -> dict[str, Any]:
    """A RunAgentInput with one message."""
    message = {"id": f"user-{run}", "role": "user", "content": text}
    return {"threadId": thread, "runId": run, "protocolVersion": "1.0", "messages": [message], **fields}


async def frames(response: httpx.Response) -> AsyncIterator[tuple[str | None, Any]]:
    """Give the (id, data) of every server-sent event, as a client that splits on bytes reads them."""
    waiting = b""
    async for piece in response.aiter_bytes():
        *whole, waiting = (waiting + piece).split(b"\n\n")
        for frame in whole:
            fields = dict(line.split(b": ", 1) for line in frame.split(b"\n") if not line.startswith(b":"))
            if b"data" in fields:
                cursor = fields.get(b"id")
                yield cursor.decode() if cursor else None, json.loads(fields[b"data"])


async def run_events(client: httpx.AsyncClient, body: dict[str, Any], path: str = "/agui") -> list[Any]:
    """Run once and give every event."""
    async with client.stream("POST", path, json=body) as response:
        assert response.status_code == 200, await response.aread()
        return [event async for _, event in frames(response)]
