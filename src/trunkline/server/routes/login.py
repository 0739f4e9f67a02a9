"""``/login`` and ``/logout``: a code or a token becomes the cookie of a browser."""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from trunkline.errors import PeerError
from trunkline.server.errors import HttpError
from trunkline.server.limits import Limits
from trunkline.server.responses import NO_STORE
from trunkline.server.security.bodies import read_body
from trunkline.server.security.login import Logins
from trunkline.server.security.tokens import Access, TokenRing

OPEN_PATHS = ("/login", "/logout")
"""Paths that need no token."""
BARE_PATHS = (re.compile("/logout"),)
"""Paths that may be called without a body."""

_BODY = Limits(body_bytes=4096, body_seconds=10.0, json_depth=2, json_values=8)
"""Whoever logs in is unknown yet, and has little to say."""


class _Login(msgspec.Struct, forbid_unknown_fields=True):
    """The body of a login."""

    code: str | None = None
    token: str | None = None


_logins = msgspec.json.Decoder(_Login)


class LoginRoutes:
    """The routes by which a browser logs in and out."""

    def __init__(self, logins: Logins | None = None, ring: TokenRing | None = None) -> None:
        """Serve logins by codes and by the tokens of a ring; without them another login counts."""
        self._log_in = logins
        self._ring = ring

    def routes(self) -> Sequence[BaseRoute]:
        """Give the addresses."""
        return [
            Route("/login", self.login, methods=["POST"]),
            Route("/logout", self.logout, methods=["POST"]),
        ]

    async def login(self, request: Request) -> Response:
        """Log a browser in: a code or a token becomes a cookie."""
        try:
            body = _logins.decode(await read_body(request, _BODY))
        except (msgspec.DecodeError, UnicodeDecodeError):
            body = _Login()
        if (body.code is None) == (body.token is None):
            raise PeerError('the body is no login: send {"code": "..."} or {"token": "..."}')
        if self._log_in is None:
            raise HttpError(
                403, "login", "this server has another login: log in there, then load the page again"
            )
        access = self._access_of(self._log_in, body)
        if access is None:
            client = request.scope.get("client") or ("",)
            self._log_in.check_wrong(str(client[0]))
            raise HttpError(401, "login", _WRONG_CODE if body.code is not None else _WRONG_TOKEN)
        return _empty({"set-cookie": self._log_in.log_in(request.scope, access)})

    def _access_of(self, logins: Logins, body: _Login) -> Access | None:
        if body.code is not None:
            return logins.use_code(body.code)
        return self._ring.find((body.token or "").encode()) if self._ring else None

    async def logout(self, request: Request) -> Response:
        """Log a browser out; one that is not logged in stays so."""
        if self._log_in is None:
            raise HttpError(403, "login", "this server has another login: log out there")
        return _empty({"set-cookie": self._log_in.log_out(request.scope)})


_WRONG_CODE = (
    "this link was used or is older than ten minutes: /page in `trunkline chat --page` prints another, "
    "so does the next start of `trunkline serve`; or log in with a token"
)
_WRONG_TOKEN = "this token is not known: `trunkline serve` printed it at its start, or its operator has it"


def _empty(headers: dict[str, str]) -> Response:
    return Response(status_code=204, headers={**headers, **NO_STORE})
