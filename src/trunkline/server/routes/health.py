"""Health: whether the process answers, and whether it can work; what fails is said without naming a file."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from trunkline.errors import JournalError
from trunkline.journal import Journal
from trunkline.server.agents import ServedAgents
from trunkline.server.errors import HttpError

__all__ = ["OPEN_PATHS", "HealthRoutes"]

OPEN_PATHS = ("/healthz", "/readyz")
"""Paths that need no token."""

_PATIENCE = 3.0
"""How many seconds the journal has to store something and to give it back."""
_FRESH = 1.0
"""For how many seconds an answer counts: many who ask do not make many writes."""


class HealthRoutes:
    """The routes of whoever watches over the server."""

    def __init__(self, agents: ServedAgents) -> None:
        """Report on the journal of the served agents."""
        self._agents = agents
        self._asked_at = float("-inf")
        self._found: JournalError | None = None

    def routes(self) -> Sequence[BaseRoute]:
        """The addresses."""
        return [Route("/healthz", self.health), Route("/readyz", self.ready)]

    async def health(self, request: Request) -> Response:
        """The process answers."""
        return JSONResponse({"status": "ok"})

    async def ready(self, request: Request) -> Response:
        """The journal stores and gives back; a server that goes down is not ready."""
        journal = await self._agents.open()
        if time.monotonic() - self._asked_at > _FRESH:
            self._found = await _failure_of(journal)
            self._asked_at = time.monotonic()
        if self._found is not None:
            raise HttpError(503, self._found.code, str(self._found))
        return JSONResponse({"status": "ok"})


async def _failure_of(journal: Journal) -> JournalError | None:
    try:
        async with asyncio.timeout(_PATIENCE):
            await journal.check()
    except TimeoutError:
        return JournalError(f"the journal failed (no answer for {_PATIENCE:g} s): check its disk")
    except JournalError as error:
        return error
    return None
