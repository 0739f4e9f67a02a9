"""The gate: the checks that every request passes before any route sees it.

In this order: the host it names (421), the page it comes from (403), its token or cookie (401), the kind of
its body (415), how many requests its principal has open (429). It is plain ASGI, the same for HTTP and for
the upgrade of a WebSocket, and nothing is accepted before all checks. What is raised behind it becomes an
HTTP error here, and never a stack trace.
"""

from __future__ import annotations

import inspect
import logging
from collections.abc import Callable, Iterable
from re import Pattern
from typing import NamedTuple

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from trunkline.server.errors import HttpError, refusal_of, refuse
from trunkline.server.security.bodies import check_content_type
from trunkline.server.security.cors import EXPOSED, all_headers, answer_preflight, first_header, is_preflight
from trunkline.server.security.hosts import HostPort, Hosts
from trunkline.server.security.login import Logins
from trunkline.server.security.origins import Origin, Origins
from trunkline.server.security.request_limit import RequestLimit
from trunkline.server.security.tokens import ACCESS, Access, Authenticate, access_of, offers_token

log = logging.getLogger("trunkline.server")

_SCHEMES = {"ws": "http", "wss": "https"}
_LOGGED = 16
"""How many refused origins, hosts and callers are named in the log: strangers must not fill it."""
_ALWAYS = ((b"x-content-type-options", b"nosniff"), (b"vary", b"Origin"))


class _Sender(NamedTuple):
    """From where a request comes."""

    origin: bytes | None = None
    """The page's origin, which may read the answer."""
    may_use_cookie: bool = False


def path_of(scope: Scope) -> str:
    """Give the path inside our app, also where it is mounted in another one."""
    path: str = scope["path"]
    root: str = scope.get("root_path") or ""
    return path.removeprefix(root) if path.startswith(f"{root}/") else path


class Gate:
    """Lets a request through to an app, or refuses it."""

    def __init__(
        self,
        app: ASGIApp,
        *,
        authenticate: Authenticate,
        hosts: Hosts,
        origins: Origins,
        open_paths: Iterable[str] = (),
        page_paths: Iterable[str] = (),
        text_paths: Iterable[str] = (),
        bare_paths: Iterable[Pattern[str]] = (),
        logins: Logins | None = None,
        most: int = 2048,
        on_admitted: Callable[[Scope], None] | None = None,
    ) -> None:
        """Guard an app; ``open_paths`` need no token, so they must not disclose anything.

        One that ends in a slash, such as ``/assets/``, is open with everything below it. ``page_paths`` may
        be opened by a link on any page. ``logins`` know the cookies of browsers that are logged in. What is
        refused at ``text_paths`` and below them is plain text, elsewhere JSON. At ``bare_paths`` a request
        may come without a body, and then needs no Content-Type. ``most`` is how many requests of one
        principal may be open at once; ``on_admitted`` is called for every request whose token is known.
        """
        self._app = app
        self._authenticate = authenticate
        self._hosts = hosts
        self._origins = origins
        self._open_paths = frozenset(open_paths)
        self._open_folders = tuple(path for path in self._open_paths if path.endswith("/") and path != "/")
        self._page_paths = frozenset(page_paths)
        self._text_paths = tuple(text_paths)
        self._bare_paths = tuple(bare_paths)
        self._logins = logins
        self._on_admitted = on_admitted
        self._requests = RequestLimit(most)
        self._logged: set[tuple[str, str]] = set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check a request, then pass it on; refuse whatever is raised before a response began."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        begun = False
        extra = list(_ALWAYS)

        async def reply(message: Message) -> None:
            nonlocal begun
            begun = True
            if message["type"] in ("http.response.start", "websocket.http.response.start"):
                message["headers"] = [*message.get("headers", ()), *extra]
            await send(message)

        try:
            _check_framing(scope)
            sender = self._check_origin(scope, self._check_host(scope))
            if sender.origin is not None:
                extra.append((b"access-control-allow-origin", sender.origin))
                extra.append((b"access-control-expose-headers", EXPOSED.encode()))
            if is_preflight(scope):
                await answer_preflight(scope, reply)
                return
            scope = await self._admit(scope, sender)
            check_content_type(scope, may_be_empty=self._may_be_empty)
            with self._requests.hold(access_of(scope).principal):
                await self._app(scope, receive, reply)
        except Exception as error:
            refusal = refusal_of(error)
            if begun:
                log.warning("a response was cut short: %s", refusal.message)
                raise
            try:
                await refuse(scope, reply, refusal, as_text=self._wants_text(scope))
            except Exception as failure:
                # The server below has closed the connection: the client cannot be reached.
                log.debug("a refusal (%s) could not be sent: %r", refusal.code, failure)

    def _may_be_empty(self, scope: Scope) -> bool:
        return any(one.fullmatch(path_of(scope)) for one in self._bare_paths)

    def _wants_text(self, scope: Scope) -> bool:
        path = path_of(scope)
        return any(path == one or path.startswith(f"{one}/") for one in self._text_paths)

    def _check_host(self, scope: Scope) -> HostPort:
        given = all_headers(scope, b"host")
        named = HostPort.parse(given[0].decode("latin-1")) if len(given) == 1 else None
        server = scope.get("server") or ("",)
        if named is None or not self._hosts.knows(named, server[0]):
            host = b", ".join(given).decode("latin-1")
            self._log_once(
                "host",
                host,
                "a request for the host %.200r was refused: if it is ours, allow it with --allow-host",
            )
            raise HttpError(
                421,
                "host",
                "this server does not go by that name: call it by its address, or allow the name with "
                "--allow-host (allow_hosts in asgi())",
            )
        return named

    def _check_origin(self, scope: Scope, named: HostPort) -> _Sender:
        """Refuse foreign pages; give the origin that may read the answer, and whether a cookie counts.

        A cookie counts for our own page alone: its browser sends it from every page of this host, also from
        one on another port. Without an origin it counts for what only reads, as browsers leave it out there.
        """
        given = all_headers(scope, b"origin")
        only_reads = scope["type"] == "http" and scope["method"] in ("GET", "HEAD")
        if not given:
            site = first_header(scope, b"sec-fetch-site").lower()
            if site in (b"cross-site", b"same-site") and not (only_reads and self._is_opened_page(scope)):
                raise _FOREIGN
            return _Sender(None, only_reads)
        scheme: str = scope.get("scheme") or "http"
        own = Origin.of(_SCHEMES.get(scheme, scheme), named)
        origin = Origin.parse(given[0].decode("latin-1")) if len(given) == 1 else None
        if origin is None or not (origin == own or self._origins.knows(origin)):
            self._log_once(
                "origin",
                given[0].decode("latin-1"),
                "a page of %.200r was refused: if it is yours, allow it with --allow-origin",
            )
            raise _FOREIGN
        # A proxy may speak https for us; the host and the port are those that the page called.
        return _Sender(given[0], origin == Origin.of(origin.scheme, named))

    def _is_opened_page(self, scope: Scope) -> bool:
        """Whether a link leads to our page, which discloses nothing and cannot be framed."""
        how = first_header(scope, b"sec-fetch-mode"), first_header(scope, b"sec-fetch-dest")
        return path_of(scope) in self._page_paths and how == (b"navigate", b"document")

    def _log_once(self, kind: str, value: str, text: str) -> None:
        """Name what was refused once: a browser tells its page nothing but ``Failed to fetch``."""
        known = sum(1 for one, _ in self._logged if one == kind)
        if (kind, value) not in self._logged and known < _LOGGED:
            self._logged.add((kind, value))
            log.warning(text, value)

    def _log_caller(self, scope: Scope) -> None:
        """Name a caller without a known token once; our own page tells its person by itself."""
        if first_header(scope, b"sec-fetch-site") == b"same-origin":
            return
        what = "a wrong token" if offers_token(scope) else "no token"
        client = scope.get("client") or ("unknown",)
        self._log_once(
            "token",
            f"{client[0]} with {what}",
            "a request of %s was refused: send the header Authorization: Bearer TOKEN, with one of the "
            "tokens of --token-file or TRUNKLINE_TOKEN, or the one that was printed at the start",
        )

    async def _admit(self, scope: Scope, sender: _Sender) -> Scope:
        """Authenticate a request."""
        path = path_of(scope)
        if path in self._open_paths or path.startswith(self._open_folders):
            return {**scope, ACCESS: Access("", frozenset())}
        access = self._authenticate(scope)
        if inspect.isawaitable(access):
            access = await access
        if access is None and self._logins is not None and sender.may_use_cookie and not offers_token(scope):
            access = self._logins.access_of(scope)
        if access is None:
            self._log_caller(scope)
            raise HttpError(
                401,
                "token",
                "a token is missing or wrong: send the header Authorization: Bearer TOKEN",
                {"www-authenticate": "Bearer"},
            )
        if self._on_admitted is not None:
            self._on_admitted(scope)
        admitted = {**scope, ACCESS: access}
        if scope["type"] == "websocket":
            # A secret must not be chosen and echoed as a subprotocol.
            names: list[str] = scope.get("subprotocols") or []
            admitted["subprotocols"] = [name for name in names if name == "trunkline"]
        return admitted


_FOREIGN = HttpError(
    403,
    "origin",
    "a page from elsewhere may not call this server: allow its origin with --allow-origin "
    "(allow_origins in asgi())",
)


def _check_framing(scope: Scope) -> None:
    """Refuse a body that says twice where it ends: a proxy before us may have read the other end.

    RFC 9112, section 6.1: "the server MUST close the connection after responding to such a request"
    (https://www.rfc-editor.org/rfc/rfc9112#section-6.1).
    """
    if all_headers(scope, b"content-length") and all_headers(scope, b"transfer-encoding"):
        raise HttpError(
            400,
            "framing",
            "send either Content-Length or Transfer-Encoding, not both",
            {"connection": "close"},
        )
