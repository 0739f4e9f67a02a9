"""The WebSocket protocol of uvicorn, where it says too much or keeps too much."""

from __future__ import annotations

from typing import Any

from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

__all__ = ["WebSocketProtocol"]

_MOST_PONGS = 1000


class WebSocketProtocol(WebSocketsSansIOProtocol):
    """Knows a refusal from a mistake, and answers only so many pings of a client that reads nothing."""

    _pongs = 0
    """Answers to pings that wait behind what the client does not read."""

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
