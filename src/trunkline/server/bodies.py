"""Bodies: read with a limit on their size, their depth and the time they take."""

from __future__ import annotations

import asyncio
import re

from starlette.requests import Request

from trunkline.server.limits import Limits
from trunkline.server.refusals import Refusal

__all__ = ["check_depth", "is_deeper", "read_body"]

_STRINGS = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"?', re.DOTALL)
_BRACKETS = bytes.maketrans(b"{}", b"[]")
_OTHERS = bytes(set(range(256)) - set(b"[]{}"))


async def read_body(request: Request, limits: Limits) -> bytes:
    """Give a request's body, or refuse it: too large, too slow, cut off, or nested too deeply."""
    declared = request.headers.get("content-length", "")
    if declared.isdecimal() and int(declared) > limits.body_bytes:
        raise _too_large(limits)
    parts: list[bytes] = []
    size = 0
    try:
        async with asyncio.timeout(limits.body_seconds):
            while True:
                message = await request.receive()
                if message["type"] == "http.disconnect":
                    raise Refusal(400, "truncated", "the request ended before its body did")
                parts.append(message.get("body", b""))
                size += len(parts[-1])
                if size > limits.body_bytes:
                    raise _too_large(limits)
                if not message.get("more_body", False):
                    break
    except TimeoutError:
        raise Refusal(
            408, "slow", f"the body took longer than {limits.body_seconds:g} seconds", {"connection": "close"}
        ) from None
    body = b"".join(parts)
    check_depth(body, limits)
    return body


def check_depth(body: bytes, limits: Limits) -> None:
    """Refuse JSON that is nested too deeply, before anything tries to read it."""
    if is_deeper(body, limits.json_depth):
        raise Refusal(422, "depth", f"the body is nested deeper than {limits.json_depth} levels")


def _too_large(limits: Limits) -> Refusal:
    # The connection stays open: closed on a client that still sends, it would take the answer with it.
    return Refusal(
        413,
        "too_large",
        f"the body is larger than {limits.body_bytes} bytes: send less, or raise the limit (body_bytes)",
    )


def is_deeper(body: bytes, limit: int) -> bool:
    """Whether JSON is nested deeper than ``limit``, found without nesting anything ourselves."""
    if body.count(b"[") + body.count(b"{") <= limit:
        return False
    rest = _STRINGS.sub(b"", body).translate(_BRACKETS, _OTHERS)
    for _ in range(limit):
        # Every round takes the innermost level away.
        rest = rest.replace(b"[]", b"")
    return b"[" in rest
