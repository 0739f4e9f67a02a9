"""Health: whether the process answers, and whether it can work. Neither says anything else."""

from __future__ import annotations

from collections.abc import Sequence

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from trunkline.server.exchange import Exchange

__all__ = ["OPEN_PATHS", "HealthRoutes"]

OPEN_PATHS = ("/healthz", "/readyz")
"""Paths that need no token."""


class HealthRoutes:
    """The routes of whoever watches over the server."""

    def __init__(self, exchange: Exchange) -> None:
        """Look at an exchange."""
        self._exchange = exchange

    def routes(self) -> Sequence[BaseRoute]:
        """The addresses."""
        return [Route("/healthz", self.health), Route("/readyz", self.ready)]

    async def health(self, request: Request) -> Response:
        """The process answers."""
        return JSONResponse({"status": "ok"})

    async def ready(self, request: Request) -> Response:
        """The journal can be read; a server that goes down is not ready."""
        journal = await self._exchange.open()
        await journal.list("", limit=1)
        return JSONResponse({"status": "ok"})
