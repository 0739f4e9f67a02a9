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
from typing import Any, NamedTuple, cast
from urllib.parse import urlsplit

import msgspec

from trunkline.errors import TrunklineError
from trunkline.frontends.acp.http_streams import AcpStreams
from trunkline.frontends.acp.lazy_endpoint import LazyEndpoint
from trunkline.mcp.allowed_hosts import Outbound
from trunkline.protocols.jsonrpc.connection import Connection, Handler, error_with_details
from trunkline.protocols.jsonrpc.messages import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    INVALID_REQUEST,
    Malformed,
    Message,
    Params,
    RpcError,
)
from trunkline.server.agents import ServedAgents
from trunkline.server.errors import HttpError, refusal_of
from trunkline.server.limits import Limits
from trunkline.server.security.tokens import Access, PermissionScope
from trunkline.session.hub import Hub
from trunkline.transports.outbox import Outbox, OutboxTransport

_NEEDS: dict[str, PermissionScope] = {
    # An agent has one login for all clients.
    "authenticate": "admin",
    "logout": "admin",
    "session/delete": "admin",
    # Titles are the first words of a session, and a fork can be read.
    "session/fork": "follow",
    "session/list": "follow",
    "session/load": "follow",
    "session/set_mode": "answer",
    "session/set_config_option": "answer",
}


_PORTS = {"http": 80, "https": 443}


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
        self._connection.handler = _ScopeCheck(self._endpoint, agents, access)
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


class _ScopeCheck:
    """Refuses what a token has no scope for, and what no client may do over the network."""

    def __init__(self, handler: Handler, agents: ServedAgents, access: Access) -> None:
        self._handler = handler
        self._agents = agents
        self._access = access

    async def handle(self, method: str, params: Params) -> Any:
        """Handle a request, or refuse it; the details of our own errors are in the log only."""
        try:
            return await self._checked(method, params)
        except (RpcError, msgspec.ValidationError):
            raise
        except Exception as error:
            refusal = refusal_of(error)
            ours = isinstance(error, TrunklineError)
            if ours and refusal.message == str(error):
                raise
            rpc_code = error.hint.jsonrpc if ours else INTERNAL_ERROR
            raise error_with_details(rpc_code, refusal.message) from error

    async def _checked(self, method: str, params: Params) -> Any:
        self._check(method, params)
        if method == "initialize":
            return self._mark_mcp(await self._handler.handle(method, params))
        if method != "session/prompt":
            return await self._handler.handle(method, params)
        run = object()
        self._agents.add_run(run)
        try:
            return await self._handler.handle(method, params)
        finally:
            self._agents.remove_run(run)

    def _check(self, method: str, params: Params) -> None:
        if self._agents.closing:
            raise error_with_details(INVALID_REQUEST, "the server is going down: try again later")
        needed = _NEEDS.get(method, "prompt")
        if needed not in self._access.scopes:
            why = f"this token may not do that: it takes one with the scope {needed!r}"
            raise error_with_details(INVALID_REQUEST, why)
        for server in _mcp_servers_in(params):
            if "command" in server and not self._agents.limits.client_programs:
                raise error_with_details(
                    INVALID_PARAMS,
                    "this server starts no programs for its clients: allow it with "
                    "Limits(client_programs=True), or give the agent its MCP servers itself",
                )
            if "url" in server and not _is_allowed(server["url"], self._agents.outbound):
                raise error_with_details(
                    INVALID_PARAMS,
                    "this server calls no MCP servers for its clients but those that its operator allows: "
                    "allow the host with --allow-mcp HOST (allow_mcp in asgi())",
                )

    def _mark_mcp(self, result: Any) -> Any:
        """Do not offer MCP over HTTP where no host is allowed for it."""
        if isinstance(result, dict) and not self._agents.outbound:
            initialized = cast("dict[str, Any]", result)
            initialized["agentCapabilities"]["mcpCapabilities"] = {"http": False, "sse": False}
        return cast("Any", result)

    def handle_notification(self, method: str, params: Params) -> None:
        """Handle a notification."""
        self._handler.handle_notification(method, params)

    def withdraw(self, method: str, params: Params) -> bool:
        """The client no longer waits for a request."""
        return self._handler.withdraw(method, params)


async def _given(hub: Hub) -> Hub:
    return hub


def _mcp_servers_in(params: Params) -> list[dict[str, Any]]:
    servers: Any = params.get("mcpServers") if isinstance(params, dict) else None
    named = cast("list[Any]", servers) if isinstance(servers, list) else []
    return [cast("dict[str, Any]", server) for server in named if isinstance(server, dict)]


def _is_allowed(url: Any, outbound: Outbound) -> bool:
    try:
        parts = urlsplit(str(url))
        host, port = parts.hostname, parts.port or _PORTS[parts.scheme]
    except (KeyError, ValueError):
        return False
    return host is not None and outbound.allows_host(host, port)
