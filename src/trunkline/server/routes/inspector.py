"""The inspector of the page: one turn on every wire, and the lines between us and a spawned agent."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from trunkline import events as ev
from trunkline.agents.interface import ShowsWire
from trunkline.cursor import Entry, piece_of
from trunkline.frontends.agui.options import AguiOptions
from trunkline.frontends.aisdk.options import AisdkOptions
from trunkline.frontends.unified.options import UnifiedOptions
from trunkline.journal import Journal, SessionKey
from trunkline.server.agents import ServedAgents
from trunkline.server.errors import HttpError
from trunkline.server.responses import json_response
from trunkline.server.routes.error_details import redacted_options
from trunkline.server.routes.turn_views import views_of
from trunkline.server.security.tokens import access_of

_MOST_BYTES = 16 * 2**20
"""Bytes of a turn on all wires; what comes after them is left out."""


class InspectorRoutes:
    """The routes of the inspector."""

    def __init__(
        self, agents: ServedAgents, agui: AguiOptions, aisdk: AisdkOptions, unified: UnifiedOptions | None
    ) -> None:
        self._agents = agents
        self._agui = agui
        self._aisdk = aisdk
        self._unified = unified or UnifiedOptions()

    def routes(self) -> Sequence[BaseRoute]:
        """Give the addresses."""
        return [
            Route("/sessions/{session_id:path}/inspect", self.inspect, methods=["GET"]),
            Route("/sessions/{session_id:path}/wire", self.wire, methods=["GET"]),
        ]

    async def inspect(self, request: Request) -> Response:
        """Give a turn as each front end sends it, the newest one if none is named."""
        access = access_of(request.scope)
        access.need("follow")
        session_id: str = request.path_params["session_id"]
        hub, info = await self._agents.hub_of_session(session_id, access.principal)
        session = await hub.session(session_id, principal=access.principal)
        turn_id = request.query_params.get("turn") or session.last_turn_id
        if turn_id is None:
            raise HttpError(404, "turn", "this session has no turn yet: send a prompt first")
        start = session.turn_start(turn_id) or await _find_turn(hub.journal, info.key, turn_id)
        if start is None:
            raise HttpError(404, "turn", f"there is no turn {turn_id[:100]!r} in this session")
        views = views_of(
            session_id,
            turn_id,
            folder=info.cwd,
            state=(await session.history_before(start)).state,
            agui=redacted_options(self._agui, request),
            aisdk=redacted_options(self._aisdk, request),
            unified=redacted_options(self._unified, request),
        )
        shown: dict[str, list[dict[str, Any]]] = {name: [] for name in views}
        size, truncated, at = 0, False, 0.0
        async for entry in _turn_entries(hub.journal, info.key, turn_id, start):
            at = entry.at
            for name, view in views.items():
                messages = view.feed(entry)
                size += sum(map(len, messages))
                shown[name] += [{"at": at, "data": msgspec.Raw(message)} for message in messages]
            if size > _MOST_BYTES:
                truncated = True
                break
        for name, view in views.items():
            shown[name] += [{"at": at, "data": msgspec.Raw(message)} for message in view.close()]
        found = {"turn_id": turn_id, "protocols": shown, "truncated": truncated}
        return json_response(found)

    async def wire(self, request: Request) -> Response:
        """Give the newest lines between us and the process of a session's agent; secrets are in them."""
        access = access_of(request.scope)
        access.need("admin")
        session_id: str = request.path_params["session_id"]
        hub, info = await self._agents.hub_of_session(session_id, access.principal)
        session = await hub.session(session_id, principal=access.principal)
        agent = hub.agent
        lines = agent.wire_lines(session.view) if isinstance(agent, ShowsWire) and hub.may_run(info) else None
        if lines is None:
            raise HttpError(
                404,
                "wire",
                "there are no lines: the agent of this session runs no program of its own here, or not yet",
            )
        return json_response(lines)


async def _turn_entries(journal: Journal, key: SessionKey, turn_id: str, start: int) -> AsyncIterator[Entry]:
    """Give what belongs to a turn, and what was said out of turn while it ran."""
    after = start - 1
    while page := await journal.read(key, after=after):
        for record in page:
            after, event = record.seq, record.event
            if event is None or event.turn_id not in (turn_id, None):
                continue
            yield Entry(record.seq, len(piece_of(event) or ""), record.fence, record.at, event)
            if isinstance(event, ev.TurnFinished | ev.TurnFailed):
                return


async def _find_turn(journal: Journal, key: SessionKey, turn_id: str) -> int | None:
    """Find the first record of a turn that is too old to be remembered."""
    after = 0
    while page := await journal.read(key, after=after):
        for record in page:
            if isinstance(record.event, ev.TurnStarted) and record.event.turn_id == turn_id:
                return record.seq
        after = page[-1].seq
    return None
