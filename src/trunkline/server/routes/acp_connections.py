"""The connections of ACP clients to ``/acp``, over a WebSocket or over HTTP.

A connection has one principal and one agent. Its sessions are those of the principal, and outlive it. When
the client leaves, its turns are cancelled unless another client follows them, as when an editor closes the
standard input of ``trunkline acp``.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from trunkline.frontends.acp.http_streams import AcpStreams
from trunkline.frontends.acp.lazy_endpoint import LazyEndpoint
from trunkline.protocols.jsonrpc.connection import Connection
from trunkline.protocols.jsonrpc.messages import Malformed, Message
from trunkline.server.agents import ServedAgents
from trunkline.server.errors import HttpError
from trunkline.server.limits import Limits
from trunkline.server.routes.acp_scopes import ScopeCheck
from trunkline.server.security.tokens import Access
from trunkline.session.hub import Hub
from trunkline.transports.outbox import Outbox, OutboxTransport


class CloseReason(NamedTuple):
    """Why a connection ends, with the code that a WebSocket closes with."""

    reason: str
    code: int = 1008


class StreamReader(NamedTuple):
    """One reader of a stream: of a session, or of the connection."""

    session_id: str | None
    outbox: Outbox
    token: object

    async def next(self) -> list[bytes]:
        """Give the next messages; none when the stream has ended, or another reader has taken it."""
        return await self.outbox.take(self.token)


class AcpConnection:
    """A client on a WebSocket."""

    def __init__(self, agents: ServedAgents, agent: str, access: Access, hub: Hub) -> None:
        self.id = secrets.token_hex(16)
        self.agent = agent
        self.access = access
        self.limits = agents.limits
        self.close_requested: asyncio.Future[CloseReason] = asyncio.get_running_loop().create_future()
        """Done when the server wants to close the connection."""
        self.closed = asyncio.Event()
        self.transport = self._make_transport()
        self._connection = Connection(self.transport, max_requests=self.limits.acp_requests)
        self._endpoint = LazyEndpoint(
            self._connection,
            partial(_given, hub),
            principal=access.principal,
            may_answer="answer" in access.scopes,
            may_follow="follow" in access.scopes,
            mcp_reach=agents.outbound.allowed,
        )
        self._connection.handler = ScopeCheck(self._endpoint, agents, access)
        self._is_closing = False

    def _make_transport(self) -> OutboxTransport:
        return OutboxTransport(
            self.request_close, limit=self.limits.unread_bytes, patience=self.limits.stall_seconds
        )

    def receive(self, message: Message | Malformed) -> None:
        """Handle a message of the client."""
        self._connection.receive_message(message)

    def request_close(self, reason: str, code: int = 1008) -> None:
        """Have the connection closed; the first reason counts."""
        if not self.close_requested.done():
            self.close_requested.set_result(CloseReason(reason, code))

    async def close(self) -> None:
        """Settle what is open, write what is left and close; idempotent."""
        if self._is_closing:
            await self.closed.wait()
            return
        self._is_closing = True
        self._connection.input_closed = True
        try:
            await self._endpoint.close()
            await self._connection.close("the client is gone")
        finally:
            self.transport.close()
            self.closed.set()


class HttpAcpConnection(AcpConnection):
    """A client that posts its messages and reads streams, which come and go."""

    transport: AcpStreams

    def _make_transport(self) -> AcpStreams:
        return AcpStreams(
            self.request_close, limit=self.limits.unread_bytes, patience=self.limits.stall_seconds
        )

    def __init__(self, agents: ServedAgents, agent: str, access: Access, hub: Hub) -> None:
        """Connect a client with an agent, and wait a while for its first stream."""
        super().__init__(agents, agent, access, hub)
        self._timers: dict[str | None, asyncio.TimerHandle] = {}
        self._reading: set[str | None] = set()
        self._wait_for_streams()

    def receive(self, message: Message | Malformed) -> None:
        """Handle a message of the client; one that posts is still there."""
        if not self._reading:
            self._wait_for_streams()
        if not isinstance(message, Malformed):
            self.transport.note_message(message)
        super().receive(message)

    def attach(self, session_id: str | None) -> StreamReader:
        """Read a stream; an earlier reader is replaced, because its connection may be lost unnoticed."""
        if session_id not in self._reading and len(self._reading) > self.limits.streams:
            raise HttpError(
                409, "streams", f"{self.limits.streams} sessions are open here: use another connection"
            )
        outbox = self.transport.outbox(session_id)
        self._reading.add(session_id)
        for name in (session_id, None):
            self._cancel_timer(name)
        return StreamReader(session_id, outbox, outbox.attach())

    async def detach(self, reader: StreamReader) -> None:
        """Stop reading; without another reader in time, the session or the client counts as gone."""
        session_id, outbox, token = reader
        if not outbox.detach(token):
            return
        self.transport.discard(session_id)
        self._reading.discard(session_id)
        if not self._reading:
            self._wait_for_streams()
        elif session_id is not None:
            self._start_timer(session_id, self._session_unread, session_id)

    def _session_unread(self, session_id: str) -> None:
        del self._timers[session_id]
        self._endpoint.detach_session(session_id)

    def _wait_for_streams(self) -> None:
        why = f"no stream was read for {self.limits.away_seconds:g} seconds"
        self._start_timer(None, self.request_close, why)

    def _start_timer(self, name: str | None, call: Callable[[str], None], argument: str) -> None:
        self._cancel_timer(name)
        if not self.close_requested.done():
            loop = asyncio.get_running_loop()
            self._timers[name] = loop.call_later(self.limits.away_seconds, call, argument)

    def _cancel_timer(self, name: str | None) -> None:
        timer = self._timers.pop(name, None)
        if timer is not None:
            timer.cancel()

    async def close(self) -> None:
        """Cancel the timers, and close."""
        for name in list(self._timers):
            self._cancel_timer(name)
        await super().close()


class AcpConnections:
    """All connections of ACP clients."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._connections: dict[str, AcpConnection] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    def add(self, connection: AcpConnection) -> None:
        """Add a connection; refuse it when its principal has too many already."""
        principal = connection.access.principal
        count = sum(other.access.principal == principal for other in self._connections.values())
        if count >= self._limits.acp_connections:
            raise HttpError(
                429,
                "connections",
                f"{count} connections are open already: close one first",
                {"retry-after": "5"},
            )
        self._connections[connection.id] = connection
        task = asyncio.create_task(self._close_when_requested(connection), name="trunkline connection")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _close_when_requested(self, connection: AcpConnection) -> None:
        await connection.close_requested
        self._connections.pop(connection.id, None)
        await connection.close()

    def find(self, connection_id: str, agent: str, access: Access) -> HttpAcpConnection:
        """Give the connection of a request; one of another principal does not exist."""
        connection = self._connections.get(connection_id)
        if not isinstance(connection, HttpAcpConnection) or (connection.agent, connection.access) != (
            agent,
            access,
        ):
            raise HttpError(404, "connection", "there is no such connection: begin anew with initialize")
        return connection

    async def close(self) -> None:
        """Close every connection, because the server shuts down."""
        for connection in self._connections.values():
            connection.request_close("the server is going down", 1001)
        await asyncio.gather(*self._tasks, return_exceptions=True)


async def _given(hub: Hub) -> Hub:
    return hub
