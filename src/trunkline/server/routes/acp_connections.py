"""Callers: the clients that are connected to ``/acp``, over a WebSocket or over HTTP.

A caller has one connection, one principal and one agent for as long as it is there. Its sessions are those
of everybody else with the same principal, and outlive it. When it leaves, its turns are cancelled unless
somebody else follows them, as when an editor closes our standard input.
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
from trunkline.protocols.jsonrpc import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    INVALID_REQUEST,
    Malformed,
    Message,
    Params,
    RpcError,
)
from trunkline.protocols.jsonrpc.connection import Connection, Handler, error_with_details
from trunkline.server.agents import ServedAgents
from trunkline.server.errors import HttpError, refusal_of
from trunkline.server.security.limits import Limits
from trunkline.server.security.tokens import Access, PermissionScope
from trunkline.session.hub import Hub
from trunkline.transports.outbox import Outbox, OutboxTransport

__all__ = ["AcpConnection", "AcpConnections", "CloseReason", "HttpAcpConnection", "Reading"]

_NEEDS: dict[str, PermissionScope] = {
    # An agent has one login, for everybody.
    "authenticate": "admin",
    "logout": "admin",
    "session/delete": "admin",
    # Titles are the first words of a session; a copy is made to be read.
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


class Reading(NamedTuple):
    """Somebody who reads a stream: of a session, or of the connection."""

    session_id: str | None
    outbox: Outbox
    ticket: object

    async def next(self) -> list[bytes]:
        """The next messages; none when the stream is over, or another reader has taken it."""
        return await self.outbox.take(self.ticket)


class AcpConnection:
    """A client on a WebSocket."""

    def __init__(self, agents: ServedAgents, agent: str, access: Access, hub: Hub) -> None:
        """Connect a client with an agent."""
        self.id = secrets.token_hex(16)
        self.agent = agent
        self.access = access
        self.limits = agents.limits
        self.over: asyncio.Future[CloseReason] = asyncio.get_running_loop().create_future()
        """Done when the server wants the connection to end."""
        self.left = asyncio.Event()
        self.transport = self._make_transport()
        self._connection = Connection(self.transport, max_requests=self.limits.caller_requests)
        self._door = LazyEndpoint(
            self._connection,
            partial(_given, hub),
            principal=access.principal,
            may_answer="answer" in access.scopes,
            may_follow="follow" in access.scopes,
            mcp_reach=agents.outbound.allowed,
        )
        self._connection.handler = _Guard(self._door, agents, access)
        self._leaving = False

    def _make_transport(self) -> OutboxTransport:
        return OutboxTransport(
            self.hang_up, limit=self.limits.unread_bytes, patience=self.limits.stall_seconds
        )

    def receive(self, message: Message | Malformed) -> None:
        """Take a message of the client."""
        self._connection.receive_message(message)

    def hang_up(self, reason: str, code: int = 1008) -> None:
        """End the connection; the first reason counts."""
        if not self.over.done():
            self.over.set_result(CloseReason(reason, code))

    async def leave(self) -> None:
        """Settle what is open, write the last words, and let go; idempotent."""
        if self._leaving:
            await self.left.wait()
            return
        self._leaving = True
        self._connection.input_closed = True
        try:
            await self._door.close()
            await self._connection.close("the client is gone")
        finally:
            self.transport.close()
            self.left.set()


class HttpAcpConnection(AcpConnection):
    """A client that posts its messages and reads streams, which come and go."""

    transport: AcpStreams

    def _make_transport(self) -> AcpStreams:
        return AcpStreams(self.hang_up, limit=self.limits.unread_bytes, patience=self.limits.stall_seconds)

    def __init__(self, agents: ServedAgents, agent: str, access: Access, hub: Hub) -> None:
        """Wait for the first stream, for a while."""
        super().__init__(agents, agent, access, hub)
        self._timers: dict[str | None, asyncio.TimerHandle] = {}
        self._reading: set[str | None] = set()
        self._wait_for_streams()

    def receive(self, message: Message | Malformed) -> None:
        """Take a message of the client; whoever speaks is there."""
        if not self._reading:
            self._wait_for_streams()
        if not isinstance(message, Malformed):
            self.transport.note_message(message)
        super().receive(message)

    def attach(self, session_id: str | None) -> Reading:
        """Read a stream, in the place of whoever does: its connection may be lost and nobody noticed."""
        if session_id not in self._reading and len(self._reading) > self.limits.streams:
            raise HttpError(
                409, "streams", f"{self.limits.streams} sessions are open here: use another connection"
            )
        outbox = self.transport.outbox(session_id)
        self._reading.add(session_id)
        for name in (session_id, None):
            self._cancel_timer(name)
        return Reading(session_id, outbox, outbox.attach())

    async def detach(self, reading: Reading) -> None:
        """A reader is gone; if none comes back, so is whoever it read for."""
        session_id, outbox, ticket = reading
        if not outbox.detach(ticket):
            return
        self.transport.forget(session_id)
        self._reading.discard(session_id)
        if not self._reading:
            self._wait_for_streams()
        elif session_id is not None:
            self._start_timer(session_id, self._stop_listening, session_id)

    def _stop_listening(self, session_id: str) -> None:
        del self._timers[session_id]
        self._door.detach_session(session_id)

    def _wait_for_streams(self) -> None:
        why = f"no stream was read for {self.limits.away_seconds:g} seconds"
        self._start_timer(None, self.hang_up, why)

    def _start_timer(self, name: str | None, call: Callable[[str], None], argument: str) -> None:
        self._cancel_timer(name)
        if not self.over.done():
            loop = asyncio.get_running_loop()
            self._timers[name] = loop.call_later(self.limits.away_seconds, call, argument)

    def _cancel_timer(self, name: str | None) -> None:
        timer = self._timers.pop(name, None)
        if timer is not None:
            timer.cancel()

    async def leave(self) -> None:
        """Settle, and stop every clock."""
        for name in list(self._timers):
            self._cancel_timer(name)
        await super().leave()


class AcpConnections:
    """Everybody who is connected."""

    def __init__(self, limits: Limits) -> None:
        """Let a limited number of callers in."""
        self._limits = limits
        self._callers: dict[str, AcpConnection] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    def admit(self, caller: AcpConnection) -> None:
        """Let a caller in, if its principal has not too many connections already."""
        principal = caller.access.principal
        mine = sum(other.access.principal == principal for other in self._callers.values())
        if mine >= self._limits.callers:
            raise HttpError(
                429,
                "connections",
                f"{mine} connections are open already: close one first",
                {"retry-after": "5"},
            )
        self._callers[caller.id] = caller
        task = asyncio.create_task(self._attend(caller), name="trunkline caller")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _attend(self, caller: AcpConnection) -> None:
        await caller.over
        self._callers.pop(caller.id, None)
        await caller.leave()

    def find(self, connection_id: str, agent: str, access: Access) -> HttpAcpConnection:
        """Give the caller of a request; one of somebody else's does not exist."""
        caller = self._callers.get(connection_id)
        if not isinstance(caller, HttpAcpConnection) or (caller.agent, caller.access) != (agent, access):
            raise HttpError(404, "connection", "there is no such connection: begin anew with initialize")
        return caller

    async def close(self) -> None:
        """The server goes down."""
        for caller in self._callers.values():
            caller.hang_up("the server is going down", 1001)
        await asyncio.gather(*self._tasks, return_exceptions=True)


class _Guard:
    """Holds back what a token does not open, and what nobody may do from far away."""

    def __init__(self, handler: Handler, agents: ServedAgents, access: Access) -> None:
        """Stand before a handler."""
        self._handler = handler
        self._agents = agents
        self._access = access

    async def handle(self, method: str, params: Params) -> Any:
        """Carry out a request, or refuse it; what is our own fault is in the log only."""
        try:
            return await self._carry_out(method, params)
        except (RpcError, msgspec.ValidationError):
            raise
        except Exception as error:
            refusal = refusal_of(error)
            ours = isinstance(error, TrunklineError)
            if ours and refusal.message == str(error):
                raise
            rpc_code = error.hint.jsonrpc if ours else INTERNAL_ERROR
            raise error_with_details(rpc_code, refusal.message) from error

    async def _carry_out(self, method: str, params: Params) -> Any:
        self._check(method, params)
        if method == "initialize":
            return self._greeting(await self._handler.handle(method, params))
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
        for server in _servers_in(params):
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

    def _greeting(self, result: Any) -> Any:
        """Offer MCP servers only where there is a host that they may be on."""
        if isinstance(result, dict) and not self._agents.outbound:
            told = cast("dict[str, Any]", result)
            told["agentCapabilities"]["mcpCapabilities"] = {"http": False, "sse": False}
        return cast("Any", result)

    def handle_notification(self, method: str, params: Params) -> None:
        """Take a notification."""
        self._handler.handle_notification(method, params)

    def withdraw(self, method: str, params: Params) -> bool:
        """The client no longer waits for a request."""
        return self._handler.withdraw(method, params)


async def _given(hub: Hub) -> Hub:
    return hub


def _servers_in(params: Params) -> list[dict[str, Any]]:
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
