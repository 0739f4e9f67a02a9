"""HTTP errors: the answers to requests that are refused.

Every one is JSON, ``{"error": {"code", "message"}}``: a code for programs, a sentence with the next step
for people, which is repeated beside ``error``, where CopilotKit's pages look for it. Pages with useChat show
the body as it is, so theirs is the sentence alone, with the code in the header ``x-error-code``. Our own
errors are described in general terms, since their texts may name files and hosts; the log has the rest.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from http import HTTPStatus

import orjson
from starlette.exceptions import HTTPException
from starlette.types import Scope, Send

from trunkline.errors import JournalError, TrunklineError
from trunkline.server.responses import NO_STORE

log = logging.getLogger("trunkline.server")

_OURS = 'something went wrong in the server; its log says what. The code is "{}"'


class HttpError(Exception):
    """A request is refused with this status."""

    def __init__(
        self, status: int, code: str, message: str, headers: Mapping[str, str] | None = None
    ) -> None:
        """Refuse with a status, a code and a sentence that says what to do instead."""
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message
        self.headers = dict(headers or {})

    @property
    def body(self) -> bytes:
        """The refusal as JSON."""
        error = {"code": self.code, "message": self.message}
        return orjson.dumps({"error": error, "message": self.message})


def refusal_of(error: Exception) -> HttpError:
    """Give the HTTP error for an exception, without what a client must not learn."""
    if isinstance(error, HttpError):
        return error
    if isinstance(error, TrunklineError):
        status, code = error.hint.http, error.code
        # Errors of the journal name no file, and a client must learn that the disk is full.
        if error.fault in ("peer", "agent") or status < 500 or isinstance(error, JournalError):
            return HttpError(status, code, str(error))
        log.error("a request failed: %s", error)
        return HttpError(status, code, _OURS.format(code))
    if isinstance(error, HTTPException):
        phrase = HTTPStatus(error.status_code).phrase.lower()
        allowed = (error.headers or {}).get("allow") or (error.headers or {}).get("Allow")
        message = f"{phrase} here" + (f": use {allowed}" if allowed else "")
        return HttpError(error.status_code, phrase.replace(" ", "_"), message, error.headers)
    log.error("a request failed", exc_info=error)
    return HttpError(500, "internal", _OURS.format("internal"))


async def refuse(scope: Scope, send: Send, refusal: HttpError, *, as_text: bool = False) -> None:
    """Send a refusal, as JSON or as its sentence alone, instead of a response or of accepting a WebSocket."""
    kind = "http.response"
    if scope["type"] == "websocket":
        if "websocket.http.response" not in (scope.get("extensions") or {}):
            await send({"type": "websocket.close", "code": 1008, "reason": refusal.code})
            return
        kind = "websocket.http.response"
    body = refusal.message.encode() if as_text else refusal.body
    headers = {
        "content-type": "text/plain; charset=utf-8" if as_text else "application/json",
        "x-error-code": refusal.code,
        "content-length": str(len(body)),
        **NO_STORE,
        **refusal.headers,
    }
    raw = [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in headers.items()]
    await send({"type": f"{kind}.start", "status": refusal.status, "headers": raw})
    await send({"type": f"{kind}.body", "body": body})
