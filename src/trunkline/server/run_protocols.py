"""The protocols of uvicorn, where they take too much, say too much or keep too much."""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn import Config
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from trunkline.server.security.unauthenticated import UnauthenticatedLimit

__all__ = ["HttpProtocol", "WebSocketProtocol"]

_MOST_PONGS = 1000
_NO_UPGRADE = b"HTTP/1.1 400 Bad Request\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"


def _strangers_of(config: Config) -> UnauthenticatedLimit | None:
    return getattr(config.app, "strangers", None)


def _forget(config: Config, client: tuple[str, int] | None) -> None:
    strangers = _strangers_of(config)
    if strangers is not None:
        strangers.leave(client)


class HttpProtocol(H11Protocol):
    """Takes only so many connections: without files left the server could not even refuse them."""

    def connection_made(self, transport: asyncio.Transport) -> None:
        """Begin; a few beyond the limit are told that they are too many, the rest are not heard."""
        super().connection_made(transport)
        strangers = _strangers_of(self.config)
        if strangers is not None and self.client is not None:
            strangers.enter(self.client, self)
        most = self.config.limit_concurrency
        if most is not None and len(self.connections) > most + most // 16:
            transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        """End."""
        super().connection_lost(exc)
        _forget(self.config, self.client)


class WebSocketProtocol(WebSocketsSansIOProtocol):
    """Knows a refusal from a mistake, and answers only so many pings of a client that reads nothing."""

    _pongs = 0
    """Answers to pings that wait behind what the client does not read."""

    def data_received(self, data: bytes) -> None:
        """Take bytes; an upgrade that is none, such as one with a body, is refused, or it would stay."""
        super().data_received(data)
        if self.conn.handshake_exc is not None and not self.handshake_initiated:
            self.transport.write(_NO_UPGRADE)
            self.transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        """End; one whose upgrade was refused has been a stranger until now."""
        super().connection_lost(exc)
        _forget(self.config, self.client)

    async def send(self, message: Any) -> None:
        """Send; a response instead of an upgrade ends the handshake, which uvicorn would call an error."""
        await super().send(message)
        if message["type"] == "websocket.http.response.body" and not message.get("more_body", False):
            self.handshake_complete = True

    def handle_ping(self) -> None:
        """Answer a ping; whoever lets a thousand answers wait is no client."""
        super().handle_ping()
        self._pongs = 0 if self.writable.is_set() else self._pongs + 1
        if self._pongs > _MOST_PONGS:
            self.transport.abort()
