"""CORS: which headers a page of an allowed origin may send and read.

Which origins are allowed is in ``origins``; that every request is checked is in ``gate``.
"""

from __future__ import annotations

from starlette.types import Scope, Send

EXPOSED = "acp-connection-id, acp-session-id, retry-after, x-error-code, x-vercel-ai-ui-message-stream"
"""The headers of our responses that a page may read."""
_HEADERS = frozenset({"accept", "authorization", "content-type", "last-event-id", "trunkline-page"})
_PREFIXES = ("x-", "acp-")
_METHODS = "GET, POST, PATCH, DELETE, OPTIONS"


def is_preflight(scope: Scope) -> bool:
    """Whether a browser asks what a page of another origin may do."""
    return (
        scope["type"] == "http"
        and scope["method"] == "OPTIONS"
        and bool(all_headers(scope, b"origin"))
        and bool(all_headers(scope, b"access-control-request-method"))
    )


async def answer_preflight(scope: Scope, reply: Send) -> None:
    """Say which methods and headers a page of an allowed origin may send."""
    asked = first_header(scope, b"access-control-request-headers").decode("latin-1").lower()
    names = [name.strip() for name in asked.split(",") if name.strip()]
    fine = [name for name in names if name in _HEADERS or name.startswith(_PREFIXES)]
    headers = {
        "access-control-allow-methods": _METHODS,
        "access-control-allow-headers": ", ".join(fine or sorted(_HEADERS)),
        "access-control-max-age": "600",
    }
    raw = [(name.encode(), value.encode("latin-1")) for name, value in headers.items()]
    await reply({"type": "http.response.start", "status": 204, "headers": raw})
    await reply({"type": "http.response.body", "body": b""})


def all_headers(scope: Scope, name: bytes) -> list[bytes]:
    """Give the values of a header of the request."""
    return [value for key, value in scope["headers"] if key == name]


def first_header(scope: Scope, name: bytes) -> bytes:
    """Give the first value of a header of the request; empty without one."""
    return next(iter(all_headers(scope, name)), b"")
