"""ACP clients over the network: the editor of the tests on a WebSocket and on streamable HTTP."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from typing import Any, Protocol

import httpx
from tests.frontends.acp.memory_editor import Editor
from tests.hubs import make, soon
from tests.server.running_server import BEARER, frames
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from trunkline.agents.interface import Agent
from trunkline.commands import Prompt
from trunkline.conformance.acp.schema import find_fault
from trunkline.frontends.acp.http_streams import session_of
from trunkline.protocols.jsonrpc.messages import Malformed, parse
from trunkline.server.app import Server
from trunkline.server.routes.acp_connections import AcpConnections
from trunkline.server.security.tokens import Token
from trunkline.session.session import Session

GREETING = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": 1}}
EVENTS = {"accept": "text/event-stream"}
TOKENS = [
    Token(secret="the-secret-of-ada", principal="ada"),
    Token(secret="the-secret-of-bob", principal="bob"),
    Token(secret="she-only-follows-", principal="ada", scopes=frozenset({"follow"})),
    Token(secret="she-only-prompts-", principal="ada", scopes=frozenset({"follow", "prompt"})),
]


class Pipe(Protocol):
    """Where messages come from and go to."""

    async def to_send(self) -> list[bytes]:
        """The next messages to send; EOFError when there are no more."""
        ...

    def hear(self, message: bytes) -> None:
        """Take a message of the server."""
        ...


class Caller(Editor):
    """An editor whose words go over the network; ``request_close`` cuts it off without a word."""

    def __init__(self) -> None:
        super().__init__()
        self.connection_id = ""
        self.greeting: Any = None
        self.request_close: Callable[[], Any] = lambda: None
        self._sending: asyncio.Queue[bytes] = asyncio.Queue()
        self.wire.receive = self._sending.put_nowait

    async def to_send(self) -> list[bytes]:
        return (await self._sending.get()).splitlines()

    def hear(self, message: bytes) -> None:
        self.agents_wire.chunks.append(message + b"\n")
        self.connection.receive(message + b"\n")


Dial = Callable[..., AbstractAsyncContextManager[Caller]]


@asynccontextmanager
async def _calling(work: Callable[[Caller], Any], able: dict[str, Any] | None) -> AsyncGenerator[Caller]:
    """Initialize and carry messages until the test is over; whatever the server said must be valid."""
    caller = Caller()
    carrying = asyncio.create_task(work(caller))
    try:
        params = {"protocolVersion": 1, "clientCapabilities": able or {}}
        caller.greeting = await soon(caller.call("initialize", **params))
        yield caller
    finally:
        carrying.cancel()
        with suppress(asyncio.CancelledError):
            await carrying
        await soon(caller.connection.close("the test is over"))
    asked = caller.questions()
    messages = caller.agents_wire.messages
    faults = [find_fault(m, asked.get(m.get("id")) if "method" not in m else None) for m in messages]
    assert [fault for fault in faults if fault is not None] == []


@asynccontextmanager
async def over_websocket(
    client: httpx.AsyncClient,
    path: str = "/acp",
    headers: dict[str, str] | None = None,
    able: dict[str, Any] | None = None,
) -> AsyncGenerator[Caller]:
    """An initialized client on a WebSocket."""
    url = f"ws://{client.base_url.netloc.decode()}{path}"
    async with connect(url, additional_headers=headers or BEARER, max_size=None) as socket:

        async def work(caller: Caller) -> None:
            assert socket.response is not None
            caller.connection_id = socket.response.headers["acp-connection-id"]
            caller.request_close = socket.transport.abort
            await carry_frames(socket, caller)

        async with _calling(work, able) as caller:
            yield caller


async def carry_frames(socket: ClientConnection, pipe: Pipe) -> None:
    """Carry messages over a WebSocket until either side has no more."""

    async def hear() -> None:
        with suppress(ConnectionClosed):
            async for frame in socket:
                assert isinstance(frame, str), "messages are text"
                pipe.hear(frame.encode())

    async def send() -> None:
        with suppress(ConnectionClosed, EOFError):
            while True:
                for line in await pipe.to_send():
                    await socket.send(line.decode())

    tasks = [asyncio.create_task(hear()), asyncio.create_task(send())]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


class HttpCarrier:
    """Posts messages and reads streams, as the official clients do."""

    def __init__(self, client: httpx.AsyncClient, path: str, headers: dict[str, str], pipe: Pipe) -> None:
        self.headers = dict(headers)
        self._client = client
        self._path = path
        self._pipe = pipe
        self._streams: dict[str | None, asyncio.Task[None]] = {}
        self._asked_in: dict[Any, str] = {}

    async def work(self) -> None:
        """Carry messages until there are no more."""
        try:
            with suppress(EOFError):
                while True:
                    for line in await self._pipe.to_send():
                        await self._post(line)
        finally:
            await self._client.request("DELETE", self._path, headers=self.headers)
            await self.cut()

    async def cut(self) -> None:
        """Stop reading."""
        for stream in self._streams.values():
            stream.cancel()
        await asyncio.gather(*self._streams.values(), return_exceptions=True)

    async def _post(self, line: bytes) -> None:
        session_id = self._session_of(line)
        headers = dict(self.headers)
        if "acp-connection-id" in headers and session_id:
            await self._open(session_id)
            headers["acp-session-id"] = session_id
        answer = await self._client.post(
            self._path, content=line, headers={**headers, "content-type": "application/json"}
        )
        if answer.status_code == 200:
            self.headers["acp-connection-id"] = answer.headers["acp-connection-id"]
            await self._open(None)
        if answer.content:
            self._pipe.hear(answer.content)

    def _session_of(self, line: bytes) -> str | None:
        message = parse(line)
        if isinstance(message, Malformed):
            return None
        return session_of(message) or self._asked_in.get(getattr(message, "id", None))

    async def _open(self, session_id: str | None) -> None:
        if session_id not in self._streams:
            opened = asyncio.Event()
            self._streams[session_id] = asyncio.create_task(self._read(session_id, opened))
            await soon(opened.wait())

    async def _read(self, session_id: str | None, opened: asyncio.Event) -> None:
        headers = {**self.headers, "accept": "text/event-stream"}
        if session_id is not None:
            headers["acp-session-id"] = session_id
        async with self._client.stream("GET", self._path, headers=headers) as response:
            assert response.status_code == 200, await response.aread()
            opened.set()
            async for _, message in frames(response):
                if session_id is not None and "method" in message and "id" in message:
                    self._asked_in[message["id"]] = session_id
                self._pipe.hear(json.dumps(message).encode())


@asynccontextmanager
async def over_http(
    client: httpx.AsyncClient,
    path: str = "/acp",
    headers: dict[str, str] | None = None,
    able: dict[str, Any] | None = None,
) -> AsyncGenerator[Caller]:
    """An initialized client on streamable HTTP."""

    async def work(caller: Caller) -> None:
        carrier = HttpCarrier(client, path, headers or BEARER, caller)
        caller.request_close = lambda: asyncio.ensure_future(carrier.cut())
        await carrier.work()

    async with _calling(work, able) as caller:
        yield caller


def answering(id: Any) -> Callable[[Any], bool]:
    """Whether a message answers a request."""
    return lambda message: "method" not in message and message.get("id") == id


def calling(method: str) -> Callable[[Any], bool]:
    """Whether a message is of a method."""
    return lambda message: message.get("method") == method


def callers_of(app: Server) -> list[Any]:
    """Who is connected to a server, as it knows them."""
    owners: list[Any] = [getattr(call, "__self__", None) for call in app.agents.before_close]
    (acp,) = [owner for owner in owners if type(owner) is AcpConnections]
    connections: Any = acp
    return list(connections._connections.values())


class Heard:
    """The messages of one stream, one after the other."""

    def __init__(self, response: httpx.Response) -> None:
        self._frames = frames(response)

    async def next(self) -> Any:
        return (await soon(anext(self._frames)))[1]

    async def until(self, condition: Callable[[Any], bool]) -> Any:
        while not condition(message := await self.next()):
            pass
        return message

    async def rest(self) -> list[Any]:
        return [message async for _, message in self._frames]


class Posting:
    """Streamable HTTP by hand."""

    def __init__(self, client: httpx.AsyncClient) -> None:
        self.client = client
        self.headers: dict[str, str] = {}

    async def __aenter__(self) -> Posting:
        await self.initialize()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.client.request("DELETE", "/acp", headers=self.headers)

    async def initialize(self) -> None:
        answer = await self.client.post("/acp", json=GREETING)
        assert answer.status_code == 200
        self.headers["acp-connection-id"] = answer.headers["acp-connection-id"]

    async def open(self, cwd: Any = "/") -> str:
        async with self.stream() as messages:
            assert (await self.post("session/new", None, 1, cwd=str(cwd), mcpServers=[])).status_code == 202
            return (await messages.until(answering(1)))["result"]["sessionId"]

    async def post(
        self, method: str, session_id: str | None, id: Any = None, /, **params: Any
    ) -> httpx.Response:
        message: dict[str, Any] = {"jsonrpc": "2.0", "method": method, "params": params}
        if session_id is not None:
            params["sessionId"] = session_id
        return await self.send(message if id is None else {**message, "id": id}, session_id)

    async def send(self, message: Any, session_id: str | None = None) -> httpx.Response:
        headers = {**self.headers, **({"acp-session-id": session_id} if session_id else {})}
        return await self.client.post("/acp", json=message, headers=headers)

    @asynccontextmanager
    async def stream(self, session_id: str | None = None) -> AsyncGenerator[Heard]:
        headers = {**self.headers, **EVENTS, **({"acp-session-id": session_id} if session_id else {})}
        async with self.client.stream("GET", "/acp", headers=headers) as response:
            assert response.status_code == 200, await response.aread()
            assert response.headers["content-type"].startswith("text/event-stream")
            yield Heard(response)


async def session_in(app: Server, session_id: str, principal: str = "local") -> Session:
    return await (await app.agents.hub()).session(session_id, principal=principal)


def agent_that_waits() -> tuple[Agent, asyncio.Event, asyncio.Event]:
    """An agent that says something and waits, with events for that and for its end."""
    running, stopped = asyncio.Event(), asyncio.Event()

    async def wait(prompt: Prompt) -> AsyncIterator[str]:
        try:
            yield "waiting"
            running.set()
            await asyncio.Event().wait()
        finally:
            stopped.set()

    return make(wait), running, stopped


def bearer(secret: str) -> dict[str, str]:
    return {"authorization": f"Bearer {secret}"}
