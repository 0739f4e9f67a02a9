"""The access log: one line for each request that was answered, by the logger ``trunkline.access`` at INFO.

It has the path alone: what stands behind a question mark, and all headers, may be secret.
"""

from __future__ import annotations

import logging
import time

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from trunkline.safe_text import one_line

log = logging.getLogger("trunkline.access")

_BEGINNINGS = ("http.response.start", "websocket.http.response.start", "websocket.accept")


async def call_logged(app: ASGIApp, scope: Scope, receive: Receive, send: Send) -> None:
    """Let an app answer a request, and log what it answered if that is wanted."""
    if scope["type"] not in ("http", "websocket") or not log.isEnabledFor(logging.INFO):
        await app(scope, receive, send)
        return
    begun_at = time.monotonic()
    status = 0

    async def reply(message: Message) -> None:
        nonlocal status
        if message["type"] in _BEGINNINGS:
            status = message.get("status", 101)
        elif message["type"] == "websocket.close" and not status:
            status = 403  # What a server answers when an upgrade is closed before it is accepted.
        await send(message)

    try:
        await app(scope, receive, reply)
    finally:
        milliseconds = 1000 * (time.monotonic() - begun_at)
        client = scope.get("client") or ("-",)
        method = scope.get("method", "WEBSOCKET")
        # A path may have a line feed in it, behind which a client could write a line of its own.
        path = one_line(scope["path"], 500)
        log.info("%s %s %s %s %.0f ms", client[0], method, path, status or "-", milliseconds)
