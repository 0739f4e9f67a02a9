"""ACP clients over the network: the editor of the tests on a WebSocket and on streamable HTTP."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from typing import Any

import httpx
from tests.frontends.acp.editors import Editor
from tests.frontends.acp.schema import find_fault
from tests.server.serving import BEARER, frames
from tests.worlds import soon
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

__all__ = ["Caller", "Dial", "over_http", "over_websocket"]


class Caller(Editor):
    """An editor whose words go over the network; ``hang_up`` cuts it off without a word."""

    def __init__(self) -> None:
        super().__init__()
        self.connection_id = ""
        self.hang_up: Callable[[], Any] = lambda: None
        self._sending: asyncio.Queue[bytes] = asyncio.Queue()
        self.wire.receive = self._sending.put_nowait

    async def to_send(self) -> list[bytes]:
        """The next messages to send."""
        return (await self._sending.get()).splitlines()

    def hear(self, message: bytes) -> None:
        """Take a message of the server."""
        self.agents_wire.chunks.append(message + b"\n")
        self.connection.receive(message + b"\n")

    async def greet(self, capabilities: dict[str, Any] | None = None) -> Any:
        """Initialize."""
        return await self.call("initialize", protocolVersion=1, clientCapabilities=capabilities or {})


Dial = Callable[..., AbstractAsyncContextManager[Caller]]


@asynccontextmanager
async def _calling(work: Callable[[Caller], Any]) -> AsyncGenerator[Caller]:
    """Carry messages until the test is over; whatever the server said must be valid."""
    caller = Caller()
    carrying = asyncio.create_task(work(caller))
    try:
        yield caller
    finally:
        carrying.cancel()
        with suppress(asyncio.CancelledError):
            await carrying
        await soon(caller.connection.close("the test is over"))
    asked = caller.questions()
    said = caller.agents_wire.messages
    faults = [find_fault(m, asked.get(m.get("id")) if "method" not in m else None) for m in said]
    assert [fault for fault in faults if fault is not None] == []


@asynccontextmanager
async def over_websocket(
    client: httpx.AsyncClient, path: str = "/acp", headers: dict[str, str] | None = None
) -> AsyncGenerator[Caller]:
    """A client on a WebSocket."""
    url = f"ws://{client.base_url.netloc.decode()}{path}"
    async with connect(url, additional_headers=headers or BEARER, max_size=None) as socket:

        async def send(caller: Caller) -> None:
            while True:
                for line in await caller.to_send():
                    await socket.send(line.decode())

        async def work(caller: Caller) -> None:
            assert socket.response is not None
            caller.connection_id = socket.response.headers["acp-connection-id"]
            caller.hang_up = socket.transport.abort
            sending = asyncio.create_task(send(caller))
            try:
                async for frame in socket:
                    assert isinstance(frame, str)
                    caller.hear(frame.encode())
            except ConnectionClosed:
                return
            finally:
                sending.cancel()

        async with _calling(work) as caller:
            yield caller


class _Http:
    """Posts messages and reads streams, as the official clients do."""

    def __init__(self, client: httpx.AsyncClient, path: str, headers: dict[str, str], caller: Caller) -> None:
        self._client = client
        self._path = path
        self._headers = dict(headers)
        self._caller = caller
        self._streams: dict[str | None, asyncio.Task[None]] = {}
        self._asked_in: dict[Any, str] = {}

    async def work(self) -> None:
        try:
            while True:
                for line in await self._caller.to_send():
                    await self._post(line)
        finally:
            await self._client.request("DELETE", self._path, headers=self._headers)
            await self.cut()

    async def cut(self) -> None:
        """Stop reading."""
        for stream in self._streams.values():
            stream.cancel()
        await asyncio.gather(*self._streams.values(), return_exceptions=True)

    async def _post(self, line: bytes) -> None:
        message = json.loads(line)
        session_id = message.get("params", {}).get("sessionId") or self._asked_in.get(message.get("id"))
        headers = dict(self._headers)
        if "acp-connection-id" in headers and session_id:
            await self._open(session_id)
            headers["acp-session-id"] = session_id
        answer = await self._client.post(
            self._path, content=line, headers={**headers, "content-type": "application/json"}
        )
        if answer.status_code == 200:
            self._headers["acp-connection-id"] = answer.headers["acp-connection-id"]
            self._caller.connection_id = answer.headers["acp-connection-id"]
            await self._open(None)
            self._caller.hear(answer.content)
        else:
            assert answer.status_code == 202, answer.text

    async def _open(self, session_id: str | None) -> None:
        if session_id not in self._streams:
            opened = asyncio.Event()
            self._streams[session_id] = asyncio.create_task(self._read(session_id, opened))
            await soon(opened.wait())

    async def _read(self, session_id: str | None, opened: asyncio.Event) -> None:
        headers = {**self._headers, "accept": "text/event-stream"}
        if session_id is not None:
            headers["acp-session-id"] = session_id
        async with self._client.stream("GET", self._path, headers=headers) as response:
            assert response.status_code == 200, await response.aread()
            opened.set()
            async for _, message in frames(response):
                if session_id is not None and "method" in message and "id" in message:
                    self._asked_in[message["id"]] = session_id
                self._caller.hear(json.dumps(message).encode())


@asynccontextmanager
async def over_http(
    client: httpx.AsyncClient, path: str = "/acp", headers: dict[str, str] | None = None
) -> AsyncGenerator[Caller]:
    """A client on streamable HTTP."""

    async def work(caller: Caller) -> None:
        http = _Http(client, path, headers or BEARER, caller)
        caller.hang_up = lambda: asyncio.ensure_future(http.cut())
        await http.work()

    async with _calling(work) as caller:
        yield caller
