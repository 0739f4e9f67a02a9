"""ACP over the network: ``/acp`` as a WebSocket and as streamable HTTP, with or without an agent's name.

On a WebSocket every text frame is one JSON-RPC message. Over HTTP a client posts its messages and reads ours
as server-sent events: a POST of ``initialize`` answers with the id of the connection, every other one with
202, and what it leads to comes on a stream (GET with Acp-Connection-Id, and with Acp-Session-Id for one
session). DELETE ends the connection.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

import orjson
from starlette.exceptions import HTTPException
from starlette.requests import HTTPConnection, Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from trunkline.cursor import Cursor
from trunkline.frontends.acp.http_streams import session_of
from trunkline.protocols.jsonrpc.framing import Oversize
from trunkline.protocols.jsonrpc.long_message_id import refuse_oversize
from trunkline.protocols.jsonrpc.messages import (
    INVALID_REQUEST,
    Malformed,
    Message,
    Notification,
    parse,
    written,
)
from trunkline.protocols.jsonrpc.messages import Request as Call
from trunkline.protocols.sse import MEDIA_TYPE, write_comment, write_frames
from trunkline.server.agents import ServedAgents
from trunkline.server.errors import HttpError
from trunkline.server.event_stream import StreamResponse, sse_framing
from trunkline.server.limits import Limits
from trunkline.server.routes.acp_connections import (
    AcpConnection,
    AcpConnections,
    HttpAcpConnection,
    StreamReader,
)
from trunkline.server.security.bodies import find_fault, read_body
from trunkline.server.security.tokens import access_of

_CONNECTION = "acp-connection-id"
_SESSION = "acp-session-id"
_JSON = "application/json"
_NEED_SESSION = frozenset(
    {"session/prompt", "session/cancel", "session/close", "session/set_mode", "session/set_config_option"}
)
_CLOSE_SECONDS = 2.0


def _write(cursor: Cursor | None, messages: Sequence[bytes]) -> bytes:
    return write_frames(messages)


_MESSAGES = sse_framing(_write)


class AcpRoutes:
    """The routes of ACP clients."""

    def __init__(self, agents: ServedAgents) -> None:
        self._agents = agents
        self._limits = agents.limits
        self._connections = AcpConnections(agents.limits)
        agents.before_close.append(self._connections.close)

    def routes(self) -> Sequence[BaseRoute]:
        """Give the addresses, with and without the name of an agent."""
        routes: list[BaseRoute] = []
        for path in ("/acp", "/acp/{agent}"):
            routes += [
                WebSocketRoute(path, self.websocket),
                Route(path, self.post, methods=["POST"]),
                Route(path, self.stream, methods=["GET"]),
                Route(path, self.delete, methods=["DELETE"]),
            ]
        return routes

    # -- WebSocket ---------------------------------------------------------------------------------

    async def websocket(self, websocket: WebSocket) -> None:
        """Carry one connection; what can be refused is refused before it is accepted."""
        connection = await self._connect(websocket, AcpConnection)
        try:
            chosen = "trunkline" if "trunkline" in websocket.scope["subprotocols"] else None
            await websocket.accept(chosen, [(_CONNECTION.encode(), connection.id.encode())])
            await _AcpWebSocket(websocket, connection).serve()
        finally:
            connection.request_close("the client is gone")
            await connection.close()

    async def _connect(self, request: HTTPConnection, kind: type[AcpConnection]) -> AcpConnection:
        agent = self._agents.resolve_name(request.path_params.get("agent"))
        access = access_of(request.scope)
        access.need("prompt")
        hub = await self._agents.hub(agent)
        connection = kind(self._agents, agent, access, hub)
        self._connections.add(connection)
        return connection

    # -- streamable HTTP ---------------------------------------------------------------------------

    async def post(self, request: Request) -> Response:
        """Handle one message."""
        body = await read_body(request, self._limits)
        message = parse(body)
        if isinstance(message, Malformed):
            # A malformed answer gets no answer: the request that it belongs to fails instead.
            if not message.is_answer:
                return _malformed(message, 501 if body.lstrip().startswith(b"[") else 400)
            self._find(request).receive(message)
            return Response(status_code=202)
        if isinstance(message, Call) and message.method == "initialize":
            return await self._initialize(request, message)
        connection = self._find(request)
        _check_session(request, message)
        connection.receive(message)
        return Response(status_code=202)

    async def _initialize(self, request: Request, message: Call) -> Response:
        if _CONNECTION in request.headers:
            raise HttpError(400, "initialized", "this connection is initialized already: begin another one")
        connection = await self._connect(request, HttpAcpConnection)
        connection.receive(message)
        answer: list[bytes] = []
        with suppress(TimeoutError):
            async with asyncio.timeout(self._limits.body_seconds):
                answer = await connection.transport.outbox().take(most=1)
        if not answer:
            connection.request_close("initialize was not answered")
            raise HttpError(504, "agent", "the agent did not get ready in time: try again")
        return Response(answer[0], 200, {_CONNECTION: connection.id}, _JSON)

    async def stream(self, request: Request) -> Response:
        """Open a stream: of a session if one is named, else of the connection."""
        if request.method == "HEAD":
            # A HEAD request would take the stream from its reader.
            raise HTTPException(405, headers={"allow": "GET"})
        if MEDIA_TYPE not in request.headers.get("accept", ""):
            raise HttpError(406, "accept", f"this is a stream: send the header Accept: {MEDIA_TYPE}")
        connection = self._find(request)
        reader = connection.attach(request.headers.get(_SESSION))
        return StreamResponse(
            _batches(reader),
            _MESSAGES,
            close=partial(connection.detach, reader),
            limits=self._limits,
            # Clients wait for the headers, and the first message may take a while.
            opening=write_comment("open"),
        )

    async def delete(self, request: Request) -> Response:
        """Close a connection; its sessions stay."""
        self._find(request).request_close("the client is gone")
        return Response(status_code=202)

    def _find(self, request: Request) -> HttpAcpConnection:
        agent = self._agents.resolve_name(request.path_params.get("agent"))
        connection_id = request.headers.get(_CONNECTION)
        if connection_id is None:
            raise HttpError(
                400, "connection", "the header Acp-Connection-Id is missing: begin with initialize"
            )
        return self._connections.find(connection_id, agent, access_of(request.scope))


async def _batches(reader: StreamReader) -> AsyncGenerator[tuple[Cursor | None, Sequence[Any]]]:
    while messages := await reader.next():
        yield None, messages


def _check_session(request: Request, message: Message) -> None:
    header, named = request.headers.get(_SESSION), session_of(message)
    if header is not None and named is not None and header != named:
        raise HttpError(400, "session", "Acp-Session-Id names another session than the message")
    if header is None and isinstance(message, Call | Notification) and message.method in _NEED_SESSION:
        raise HttpError(400, "session", f"{message.method} needs the header Acp-Session-Id")


def _malformed(message: Malformed, status: int) -> Response:
    error = {"code": message.code, "message": message.message}
    body = orjson.dumps({"jsonrpc": "2.0", "id": written(message.id), "error": error})
    return Response(body, status, media_type=_JSON)


class _AcpWebSocket:
    """One accepted WebSocket."""

    def __init__(self, websocket: WebSocket, connection: AcpConnection) -> None:
        self._websocket = websocket
        self._connection = connection
        self._gone = False

    async def serve(self) -> None:
        """Carry frames until either side closes."""
        connection = self._connection
        receiving = asyncio.create_task(self._receive())
        sending = asyncio.create_task(self._send())
        try:
            await asyncio.wait(
                {receiving, sending, connection.close_requested}, return_when=asyncio.FIRST_COMPLETED
            )
            if connection.close_requested.done():
                await connection.close()
                await asyncio.wait({sending}, timeout=_CLOSE_SECONDS)
        finally:
            for task in (receiving, sending):
                task.cancel()
            results = await asyncio.gather(receiving, sending, return_exceptions=True)
        if connection.close_requested.done() and not self._gone:
            await self._close()
        for result in results:
            if isinstance(result, Exception) and not isinstance(result, WebSocketDisconnect):
                raise result

    async def _close(self) -> None:
        reason = self._connection.close_requested.result()
        # A client that does not read gets no close frame either.
        with suppress(TimeoutError, WebSocketDisconnect, RuntimeError):
            async with asyncio.timeout(_CLOSE_SECONDS):
                await self._websocket.close(reason.code, reason.reason)

    async def _receive(self) -> None:
        limits = self._connection.limits
        patience: float | None = limits.body_seconds
        while True:
            try:
                async with asyncio.timeout(patience):
                    message = await self._websocket.receive()
            except TimeoutError:
                self._connection.request_close("no message came: begin with initialize", 1002)
                return
            if message["type"] == "websocket.disconnect":
                self._gone = True
                return
            patience = None
            self._connection.receive(_read(message.get("text"), limits))

    async def _send(self) -> None:
        outbox = self._connection.transport.outbox()
        while messages := await outbox.take():
            for message in messages:
                await self._websocket.send_text(message.decode())


def _read(text: str | None, limits: Limits) -> Message | Malformed:
    if text is None:
        return Malformed(None, INVALID_REQUEST, "invalid request: send every message as a text frame")
    frame = text.encode()
    if len(frame) > limits.body_bytes:
        return refuse_oversize(Oversize(len(frame), limits.body_bytes, frame[:1024], frame[-256:]))
    fault = find_fault(frame, limits)
    if fault is not None:
        return Malformed(None, INVALID_REQUEST, f"invalid request: {fault.message}")
    return parse(frame)
