"""The app: agents behind a gate, as one ASGI application that runs by itself or inside another one."""

from __future__ import annotations

import logging
import os
from collections.abc import AsyncGenerator, Iterable, Mapping
from contextlib import asynccontextmanager
from typing import Any

from starlette.exceptions import HTTPException
from starlette.routing import Router
from starlette.types import Receive, Scope, Send

from trunkline.frontends.agui.options import AguiOptions
from trunkline.journal import Journal
from trunkline.mcp.allowed_hosts import Outbound
from trunkline.server.agents import ServedAgents, served
from trunkline.server.routes.health import OPEN_PATHS
from trunkline.server.routes.table import routes_of
from trunkline.server.security.gate import Gate
from trunkline.server.security.limits import Limits
from trunkline.server.security.origins import Hosts, Origins
from trunkline.server.security.tokens import Authenticate, Token, TokenRing
from trunkline.server.security.unauthenticated import UnauthenticatedLimit
from trunkline.session.settings import Settings
from trunkline.transports.process.secrets import take_secret
from trunkline.workspace import Policy

__all__ = ["Server", "asgi"]

log = logging.getLogger("trunkline.server")


def asgi(
    agents: Any,
    *,
    journal: str | os.PathLike[str] | Journal | None = "memory:",
    tokens: str | Token | Iterable[str | Token] | None = None,
    authenticate: Authenticate | None = None,
    allow_origins: Iterable[str] = (),
    allow_hosts: Iterable[str] = (),
    allow_mcp: Iterable[str] = (),
    options: AguiOptions | None = None,
    settings: Settings | None = None,
    policy: Policy | None = None,
    limits: Limits | None = None,
    targets: Mapping[str, str] | None = None,
) -> Server:
    """Make an ASGI app of an agent, or of several as ``{name: agent}``; the first is the default.

    ``journal`` is ``memory:``, ``sqlite:PATH``, a path object or an open journal. Without ``tokens`` the one
    in TRUNKLINE_TOKEN counts, or else one is made, which is ``app.token``. ``authenticate(scope)`` takes the
    place of tokens where somebody else knows who is asking. ``allow_mcp`` are the hosts of MCP servers that
    ACP clients may name; without any they may name none.
    """
    exchange = ServedAgents(
        served(agents, targets),
        journal=journal,
        options=options,
        settings=settings,
        policy=policy,
        limits=limits,
        outbound=Outbound(allow_mcp),
    )
    if authenticate is None:
        authenticate = ring = TokenRing.of(tokens)
        if tokens is None and not take_secret("TRUNKLINE_TOKEN"):
            log.warning("no token was given, so this one was made: %s", ring.tokens[0].secret)
    return Server(
        exchange,
        authenticate=authenticate,
        hosts=Hosts(allow_hosts),
        origins=Origins(allow_origins),
    )


class Server:
    """The ASGI app; ``lifespan`` and ``aclose`` are for whoever mounts it."""

    def __init__(
        self, exchange: ServedAgents, *, authenticate: Authenticate, hosts: Hosts, origins: Origins
    ) -> None:
        """Put the routes of an exchange behind a gate."""
        self.exchange = exchange
        most = exchange.limits.stranger_connections
        self.strangers = UnauthenticatedLimit(most, 2 * most)
        """Connections that have shown no token yet; whoever listens puts them in."""
        self._authenticate = authenticate
        self._router = Router(
            routes_of(exchange), redirect_slashes=False, default=_nothing_here, lifespan=self.lifespan
        )
        self._gate = Gate(
            self._router,
            authenticate=authenticate,
            hosts=hosts,
            origins=origins,
            open_paths=OPEN_PATHS,
            most=exchange.limits.principal_requests,
            on_admitted=self._know,
        )

    def _know(self, scope: Scope) -> None:
        """A connection has shown a token."""
        client = scope.get("client")
        self.strangers.leave(None if client is None else tuple(client))

    @property
    def token(self) -> str | None:
        """The secret of the first token, for whoever runs the server."""
        ring = self._authenticate
        return ring.tokens[0].secret if isinstance(ring, TokenRing) else None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        # What is raised inside is ours to answer, also below an app with handlers of its own.
        inner = {key: value for key, value in scope.items() if key != "starlette.exception_handlers"}
        await self._gate({**inner, "app": self}, receive, send)

    @asynccontextmanager
    async def lifespan(self, app: Any = None) -> AsyncGenerator[None]:
        """Open at the start and close at the end; give it to the app that this one is mounted in."""
        if self.exchange.closing:
            self.exchange.begin_anew()
        await self.exchange.open()
        try:
            yield
        finally:
            await self.aclose()

    async def aclose(self) -> None:
        """Cancel what runs, write everything and close the journal; idempotent."""
        await self.exchange.close()


async def _nothing_here(scope: Scope, receive: Receive, send: Send) -> None:
    raise HTTPException(404)
