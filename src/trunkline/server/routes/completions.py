"""Completions for the page: the files of a session, for what is typed behind an @."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from trunkline.errors import PeerError
from trunkline.server.agents import ServedAgents
from trunkline.server.responses import json_response
from trunkline.server.security.tokens import access_of
from trunkline.workspace.file_completion import find_file_names

_LONGEST = 500
_AT_ONCE = 4
"""Searches that run at once; others wait."""


class CompletionRoutes:
    """The route of completions."""

    def __init__(self, agents: ServedAgents) -> None:
        self._agents = agents
        self._searching = asyncio.Semaphore(_AT_ONCE)

    def routes(self) -> Sequence[BaseRoute]:
        """Give the addresses."""
        return [Route("/sessions/{session_id:path}/completions", self.complete, methods=["GET"])]

    async def complete(self, request: Request) -> Response:
        """Give the files whose path has what was typed, inside the session's folders."""
        access = access_of(request.scope)
        access.need("follow")
        session_id: str = request.path_params["session_id"]
        _, info = await self._agents.hub_of_session(session_id, access.principal)
        kind, query = request.query_params.get("kind", "file"), request.query_params.get("query", "")
        if kind != "file":
            raise PeerError(f"there are no completions of the kind {kind[:40]!r}: the only one is file")
        if len(query) > _LONGEST:
            raise PeerError(f"the query has {len(query)} characters: {_LONGEST} are the most")
        folders = [folder for folder in (info.cwd, *info.roots) if folder]
        async with self._searching:
            names = await asyncio.to_thread(find_file_names, folders, query)
        items = [{"value": name, "title": name} for name in names]
        return json_response({"items": items})
