"""The server as an ASGI app: front ends behind a gate, by itself or mounted inside another app."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from re import Pattern
from typing import Any, Protocol

from starlette.routing import BaseRoute, Route, Router, WebSocketRoute
from starlette.types import Receive, Scope, Send

from trunkline.server.access_log import call_logged
from trunkline.server.agents import ServedAgents
from trunkline.server.errors import HttpError
from trunkline.server.security.gate import Gate
from trunkline.server.security.hosts import Hosts
from trunkline.server.security.login import Logins
from trunkline.server.security.origins import Origins
from trunkline.server.security.tokens import Authenticate, TokenRing
from trunkline.server.security.unauthenticated import UnauthenticatedLimit
from trunkline.server.unread_bodies import call_reading_all

__all__ = ["FrontEnd", "Server"]

_ROUTES = (Route, WebSocketRoute)


class FrontEnd(Protocol):
    """A family of addresses."""

    def routes(self) -> Sequence[BaseRoute]:
        """Give the routes."""
        ...


class Server:
    """The ASGI app; an app that mounts it uses ``lifespan``, or calls ``aclose`` at its end."""

    def __init__(
        self,
        agents: ServedAgents,
        front_ends: Iterable[FrontEnd],
        *,
        authenticate: Authenticate,
        hosts: Hosts,
        origins: Origins,
        logins: Logins | None = None,
        open_paths: Iterable[str] = (),
        page_paths: Iterable[str] = (),
        text_paths: Iterable[str] = (),
        bare_paths: Iterable[Pattern[str]] = (),
    ) -> None:
        """Put front ends behind a gate; ``open_paths`` need no token, ``text_paths`` are refused in text.

        ``logins`` know the browsers that are logged in. ``page_paths`` may be opened by a link anywhere, and
        ``bare_paths`` may be called without a body.
        """
        self.agents = agents
        self.routes = [route for front_end in front_ends for route in front_end.routes()]
        most = agents.limits.unauthenticated_connections
        self.unauthenticated = UnauthenticatedLimit(most, 2 * most)
        """Connections that have shown no token yet; the HTTP protocol of ``run`` counts them here."""
        self._authenticate = authenticate
        self._logins = logins
        router = Router(self.routes, redirect_slashes=False, default=self._not_found, lifespan=self.lifespan)
        self._gate = Gate(
            router,
            authenticate=authenticate,
            hosts=hosts,
            origins=origins,
            logins=logins,
            open_paths=open_paths,
            page_paths=page_paths,
            text_paths=text_paths,
            bare_paths=bare_paths,
            most=agents.limits.principal_requests,
            on_admitted=self._authenticated,
        )

    def _authenticated(self, scope: Scope) -> None:
        client = scope.get("client")
        self.unauthenticated.remove(None if client is None else tuple(client))

    @property
    def token(self) -> str | None:
        """The secret of the first token; None where another login authenticates."""
        ring = self._authenticate
        return ring.tokens[0].secret if isinstance(ring, TokenRing) else None

    def new_login_code(self) -> str | None:
        """Make a one-use code that logs a browser in as the first token; None where another login counts."""
        ring = self._authenticate
        if self._logins is None or not isinstance(ring, TokenRing):
            return None
        return self._logins.new_code(ring.access_of(ring.tokens[0]))

    def login_state(self) -> dict[str, Any]:
        """Give the logins of browsers for the process that goes on with them."""
        return {} if self._logins is None else self._logins.state()

    def restore_logins(self, state: Mapping[str, Any]) -> None:
        """Take over the logins of the process before, as far as their tokens still count."""
        ring = self._authenticate
        if self._logins is not None and isinstance(ring, TokenRing):
            self._logins.restore(state, [ring.access_of(token) for token in ring.tokens])

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        # The gate answers what is raised inside, also when the app around us has handlers of its own.
        inner = {key: value for key, value in scope.items() if key != "starlette.exception_handlers"}
        seconds = self.agents.limits.head_seconds
        await call_reading_all(self._logged, {**inner, "app": self}, receive, send, within=seconds)

    async def _logged(self, scope: Scope, receive: Receive, send: Send) -> None:
        await call_logged(self._gate, scope, receive, send)

    @asynccontextmanager
    async def lifespan(self, app: Any = None) -> AsyncGenerator[None]:
        """Open at the start and close at the end; give it to the app that this one is mounted in."""
        if self.agents.closing:
            self.agents.reset()
        await self.agents.open()
        try:
            yield
        finally:
            await self.aclose()

    async def aclose(self) -> None:
        """Cancel what runs, write everything and close the journal; idempotent."""
        await self.agents.close()

    async def _not_found(self, scope: Scope, receive: Receive, send: Send) -> None:
        paths = (route.path for route in self.routes if isinstance(route, _ROUTES))
        # /api alone is no address: a page that calls it would learn nothing.
        known = sorted({"/".join(path.split("/")[: 3 if path.startswith("/api/") else 2]) for path in paths})
        raise HttpError(404, "not_found", f"nothing is served at this address; there are {', '.join(known)}")
