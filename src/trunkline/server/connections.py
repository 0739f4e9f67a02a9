"""The connections of clients: how many there may be, and which are ended for being slow or not read.

The protocols are uvicorn's, where they take or keep too much.
"""

from __future__ import annotations

import asyncio
import resource
import time
from typing import Any, NamedTuple, cast
from weakref import WeakKeyDictionary

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from trunkline.server.app import Server
from trunkline.server.limits import Limits

_MOST_PONGS = 1000
_NO_UPGRADE = b"HTTP/1.1 400 Bad Request\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"


def _app_of(config: uvicorn.Config) -> Server:
    return cast("Server", config.app)


class HttpProtocol(H11Protocol):
    """Takes a limited number of connections: without free file descriptors it could not even refuse them."""

    def connection_made(self, transport: asyncio.Transport) -> None:
        """Begin; a few beyond the limit are refused with an answer, the rest without one."""
        super().connection_made(transport)
        if self.client is not None:
            _app_of(self.config).unauthenticated.add(self.client, self)
        most = self.config.limit_concurrency
        if most is not None and len(self.connections) > most + most // 16:
            transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        """End."""
        super().connection_lost(exc)
        _app_of(self.config).unauthenticated.remove(self.client)


class WebSocketProtocol(WebSocketsSansIOProtocol):
    """Ends refused upgrades without an error, and limits the pings of a client that reads nothing."""

    _pongs = 0
    """Answers to pings that wait behind what the client does not read."""

    def data_received(self, data: bytes) -> None:
        """Take bytes; refuse what is no valid upgrade, such as one with a body, or it would stay open."""
        super().data_received(data)
        if self.conn.handshake_exc is not None and not self.handshake_initiated:
            self.transport.write(_NO_UPGRADE)
            self.transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        """End; one whose upgrade was refused was unauthenticated until now."""
        super().connection_lost(exc)
        _app_of(self.config).unauthenticated.remove(self.client)

    async def send(self, message: Any) -> None:
        """Send; a response instead of an upgrade ends the handshake, which uvicorn would call an error."""
        await super().send(message)
        if message["type"] == "websocket.http.response.body" and not message.get("more_body", False):
            self.handshake_complete = True

    def handle_ping(self) -> None:
        """Answer a ping; abort when a thousand answers wait to be read."""
        super().handle_ping()
        self._pongs = 0 if self.writable.is_set() else self._pongs + 1
        if self._pongs > _MOST_PONGS:
            self.transport.abort()


# -- all connections --------------------------------------------------------------------------------


def room_for(connections: int) -> int:
    """Raise the limit of open files; give how many connections leave enough files for the rest."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = connections * 4 // 3 + 1
    if hard != resource.RLIM_INFINITY:
        wanted = min(wanted, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
        soft = wanted
    return connections if soft == resource.RLIM_INFINITY else min(connections, soft * 3 // 4)


def abort_unread(connections: set[Any]) -> None:
    """Abort responses that their clients do not read to the end; nothing more comes."""
    for connection in list(connections):
        cycle = getattr(connection, "cycle", None)
        if cycle is not None and not cycle.response_complete:
            connection.transport.abort()


def close_slow(connections: set[Any], seen: WeakKeyDictionary[Any, float], limits: Limits) -> None:
    """Close connections whose request does not get past its head; uvicorn would wait for ever."""
    now = time.monotonic()
    for connection in list(connections):
        cycle = getattr(connection, "cycle", _NOT_HTTP)
        idle = getattr(connection, "timeout_keep_alive_task", None) is not None
        if idle or not (cycle is None or getattr(cycle, "response_complete", False)):
            seen.pop(connection, None)
        elif now - seen.setdefault(connection, now) >= limits.head_seconds:
            connection.transport.close()


class Unread(NamedTuple):
    """How many bytes wait for a client, and since when that number is the same."""

    size: int
    since: float


def abort_stalled(connections: set[Any], seen: WeakKeyDictionary[Any, Unread], limits: Limits) -> None:
    """Abort connections whose client reads nothing; a graceful close would wait for ever."""
    now = time.monotonic()
    for connection in list(connections):
        transport: asyncio.Transport = connection.transport
        size = transport.get_write_buffer_size()
        last = seen.get(connection)
        if last is None or last.size != size:
            seen[connection] = last = Unread(size, now)
        patience = limits.head_seconds if transport.is_closing() else limits.stall_seconds
        if size and now - last.since >= patience:
            transport.abort()


_NOT_HTTP = object()
"""Marks a connection that has no HTTP request, such as a WebSocket."""
