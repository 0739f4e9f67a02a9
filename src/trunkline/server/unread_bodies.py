"""Reads what is left of a request's body when it is refused early and its connection closes with the answer.

"If a server performs an immediate close of a TCP connection, there is a significant risk that the client will
not be able to read the last HTTP response" (https://www.rfc-editor.org/rfc/rfc9112#section-9.6). Proxies and
simple clients ask for that close with every request.
"""

from __future__ import annotations

import asyncio

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send


async def call_reading_all(
    app: ASGIApp, scope: Scope, receive: Receive, send: Send, *, within: float
) -> None:
    """Call an app; before its response ends, read and drop the rest of the body, for so many seconds."""
    if not _loses_answer(scope):
        await app(scope, receive, send)
        return
    is_read = False

    async def read() -> Message:
        nonlocal is_read
        message = await receive()
        is_read = message["type"] != "http.request" or not message.get("more_body", False)
        return message

    async def finish(message: Message) -> None:
        if is_read or message["type"] != "http.response.body" or message.get("more_body", False):
            await send(message)
            return
        await send({**message, "more_body": True})
        try:
            async with asyncio.timeout(within):
                while not is_read:
                    await read()
        except TimeoutError:
            pass
        await send({"type": "http.response.body"})

    await app(scope, read, finish)


def _loses_answer(scope: Scope) -> bool:
    if scope["type"] != "http":
        return False
    headers = Headers(scope=scope)
    if "close" not in headers.get("connection", "").lower() and scope.get("http_version") != "1.0":
        return False
    has_body = headers.get("content-length", "0") != "0" or "transfer-encoding" in headers
    # A client that waits for "100 Continue" has sent nothing yet.
    return has_body and "expect" not in headers
