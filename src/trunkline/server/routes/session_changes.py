"""Sessions that are begun, named and forked over HTTP."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from trunkline.commands import Rename
from trunkline.errors import PeerError
from trunkline.server.agents import ServedAgents
from trunkline.server.responses import json_response
from trunkline.server.security.bodies import read_body
from trunkline.server.security.tokens import access_of


class _New(msgspec.Struct, forbid_unknown_fields=True):
    agent: str | None = None


class _Named(msgspec.Struct, forbid_unknown_fields=True):
    title: str | None


class _Forked(msgspec.Struct, forbid_unknown_fields=True):
    to_message_id: str | None = None


Body = TypeVar("Body", _New, _Named, _Forked)


class SessionChanges:
    """The routes that make sessions and change what they are called."""

    def __init__(self, agents: ServedAgents) -> None:
        self._agents = agents

    def routes(self) -> Sequence[BaseRoute]:
        """Give the addresses."""
        return [
            Route("/sessions", self.create, methods=["POST"]),
            Route("/sessions/{session_id:path}/fork", self.fork, methods=["POST"]),
            Route("/sessions/{session_id:path}", self.rename, methods=["PATCH"]),
        ]

    async def create(self, request: Request) -> Response:
        """Begin a session with an agent; it is listed from its first prompt on."""
        access = access_of(request.scope)
        access.need("prompt")
        body = await self._read(request, _New)
        hub = await self._agents.hub(body.agent)
        session = await hub.create(principal=access.principal)
        return json_response({"session_id": session.session_id}, 201)

    async def rename(self, request: Request) -> Response:
        """Give a session the title that a person chose; its agent does not change it then."""
        access = access_of(request.scope)
        access.need("prompt")
        body = await self._read(request, _Named)
        session_id: str = request.path_params["session_id"]
        hub, _ = await self._agents.hub_of_session(session_id, access.principal)
        session = await hub.session(session_id, principal=access.principal)
        await session.submit(Rename(title=body.title, by=f"http:{access.principal}"))
        return json_response({"session_id": session_id, "title": session.info.title})

    async def fork(self, request: Request) -> Response:
        """Begin a session with what another one has so far, or has up to a message."""
        access = access_of(request.scope)
        access.need("prompt")
        body = await self._read(request, _Forked)
        session_id: str = request.path_params["session_id"]
        hub, _ = await self._agents.hub_of_session(session_id, access.principal)
        origin = await hub.session(session_id, principal=access.principal)
        fork = await hub.fork(origin, to_message_id=body.to_message_id)
        return json_response({"session_id": fork.session_id}, 201)

    async def _read(self, request: Request, kind: type[Body]) -> Body:
        body = await read_body(request, self._agents.limits)
        try:
            return msgspec.json.decode(body, type=kind)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            fields = ", ".join(kind.__struct_fields__)
            raise PeerError(
                f"the body is not understood ({error}): send a JSON object with {fields}"
            ) from None
