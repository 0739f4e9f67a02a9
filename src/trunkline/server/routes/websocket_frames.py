"""Frames of a WebSocket on which clients send JSON as text."""

from __future__ import annotations

import asyncio
from typing import NamedTuple

from starlette.websockets import WebSocket

from trunkline.server.limits import Limits


class Close(NamedTuple):
    """What a connection is closed with: a code and a reason."""

    code: int
    reason: str


def close_reason(text: str) -> str:
    """Give a sentence as the reason of a close, which is 123 bytes at most (RFC 6455, 5.5)."""
    return text.encode()[:123].decode(errors="ignore")


class Stalled(Exception):
    """A client has read nothing for too long."""


async def send_text(websocket: WebSocket, text: str, limits: Limits) -> None:
    """Send a frame; raises Stalled for a client that does not take it in time."""
    try:
        async with asyncio.timeout(limits.stall_seconds):
            await websocket.send_text(text)
    except TimeoutError:
        raise Stalled from None


async def receive_text(websocket: WebSocket, limits: Limits) -> str | Close | None:
    """Take the next frame; gives why the connection is to be closed instead, or None if the client left."""
    message = await websocket.receive()
    if message["type"] == "websocket.disconnect":
        return None
    text: str | None = message.get("text")
    if text is None:
        return Close(1003, "send JSON as text")
    if len(text) > limits.body_bytes:
        return Close(1009, "the frame is too large")
    return text
