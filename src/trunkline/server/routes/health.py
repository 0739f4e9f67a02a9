"""Health: whether the process answers, and whether its journal works; no answer names a file."""

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

OPEN_PATHS = ("/healthz", "/readyz")
"""Paths that need no token."""

_CHECK_SECONDS = 3.0
"""Seconds within which the journal must store something and give it back."""
_REUSE_SECONDS = 1.0
"""Seconds for which an answer is reused, so that many requests do not make many writes."""


class HealthRoutes:
    """``/healthz`` and ``/readyz``."""

    def __init__(self, agents: ServedAgents) -> None:
        self._agents = agents
        self._asked_at = float("-inf")
        self._found: JournalError | None = None

    def routes(self) -> Sequence[BaseRoute]:
        """Give the addresses."""
        return [Route("/healthz", self.health), Route("/readyz", self.ready)]

    async def health(self, request: Request) -> Response:
        """Answer that the process lives."""
        return JSONResponse({"status": "ok"})

    async def ready(self, request: Request) -> Response:
        """Answer whether the journal works; a server that shuts down is not ready."""
        journal = await self._agents.open()
        if time.monotonic() - self._asked_at > _REUSE_SECONDS:
            self._found = await _failure_of(journal)
            self._asked_at = time.monotonic()
        if self._found is not None:
            raise HttpError(503, self._found.code, str(self._found))
        return JSONResponse({"status": "ok"})


async def _failure_of(journal: Journal) -> JournalError | None:
    try:
        async with asyncio.timeout(_CHECK_SECONDS):
            await journal.check()
    except TimeoutError:
        return JournalError(f"the journal failed (no answer for {_CHECK_SECONDS:g} s): check its disk")
    except JournalError as error:
        return error
    return None
