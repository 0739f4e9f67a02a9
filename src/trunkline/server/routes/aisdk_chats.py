"""Chats of the AI SDK over HTTP: what ``/api/chat`` and its WebSocket have in common."""

from __future__ import annotations

from collections.abc import Coroutine, Sequence
from typing import Any

import msgspec
from starlette.requests import HTTPConnection
from starlette.responses import Response

from trunkline.cursor import Cursor
from trunkline.errors import InvalidCommand, SessionNotFound
from trunkline.frontends.aisdk.chat_request import ChatRequest
from trunkline.frontends.aisdk.endpoint import AisdkEndpoint
from trunkline.frontends.aisdk.options import AisdkOptions
from trunkline.frontends.aisdk.run import AisdkResponse
from trunkline.protocols.aisdk.wire import DONE, HEADERS, VERSIONS, Chunk, VersionNumber, encode
from trunkline.protocols.sse import write_comment, write_frame, write_frames
from trunkline.server.agents import ServedAgents
from trunkline.server.errors import HttpError, refusal_of
from trunkline.server.event_stream import sse_framing
from trunkline.server.routes.error_details import redacted_options
from trunkline.server.routes.opening_streams import OpeningStreams
from trunkline.server.security.bodies import new_part_check
from trunkline.server.security.tokens import Access, access_of
from trunkline.session.run_start import RunStart

Shown = AisdkResponse | None
"""What a page is shown; None: nothing is under way."""
Opening = Coroutine[Any, Any, Shown]


def _write_chunks(cursor: Cursor | None, chunks: Sequence[Any]) -> bytes:
    return write_frames([encode(chunk) for chunk in chunks])


# The connection is uvicorn's to keep.
_HEADERS = {name: value for name, value in HEADERS.items() if name != "connection"}
SSE = sse_framing(_write_chunks, end=write_frame(DONE.encode()), headers=_HEADERS)
_OPENING = write_comment("stream-open")


class AisdkChats:
    """Opens responses of the served agents and streams them."""

    def __init__(self, agents: ServedAgents, options: AisdkOptions) -> None:
        self.agents = agents
        self.options = options
        self._endpoints: dict[str, AisdkEndpoint] = {}
        self._opening = OpeningStreams(agents)

    async def endpoint(self, agent: str | None, chat_id: str, principal: str) -> AisdkEndpoint:
        """Give the endpoint of an agent for a chat that may be new; refuse a chat of another agent."""
        name = self.agents.resolve_name(agent)
        await self.agents.hub_for(name, chat_id, principal)
        return await self._endpoint(name)

    async def endpoint_of(self, agent: str | None, chat_id: str, principal: str) -> AisdkEndpoint:
        """Give the endpoint of a chat; without the name of an agent, that of the one it belongs to."""
        if agent is not None:
            return await self.endpoint(agent, chat_id, principal)
        try:
            _, info = await self.agents.hub_of_session(chat_id, principal)
        except SessionNotFound:
            opening = (one for one in self._endpoints.values() if one.is_opening(chat_id, principal))
            if (found := next(opening, None)) is None:
                raise
            return found
        return await self._endpoint(self.agents.agent_of(info) or self.agents.default)

    async def _endpoint(self, name: str) -> AisdkEndpoint:
        hub = await self.agents.hub(name)
        known = self._endpoints.get(name)
        if known is None or known.hub is not hub:
            known = self._endpoints[name] = AisdkEndpoint(hub, self.options)
        return known

    def version_for(self, connection: HTTPConnection) -> VersionNumber:
        """Give the version of the stream that a page asks for with ``?v=``, else that of the options."""
        asked = connection.query_params.get("v")
        if asked is None:
            return self.options.version
        known: dict[str, VersionNumber] = {str(one.number): one.number for one in VERSIONS.values()}
        if asked not in known:
            raise InvalidCommand(f"there is no version {asked[:20]!r} of the stream: v is {', '.join(known)}")
        return known[asked]

    # -- opening -----------------------------------------------------------------------------------

    async def open(
        self,
        wanted: ChatRequest,
        agent: str | None,
        connection: HTTPConnection,
        *,
        version: VersionNumber,
        body: bytes = b"",
    ) -> AisdkResponse:
        """Begin a response for whom the gate let in; ``body`` is what the request was read from."""
        access = access_of(connection.scope)
        _check_scope(wanted, access)
        endpoint = await self.endpoint(agent, wanted.id, access.principal)
        return await endpoint.open(
            wanted,
            principal=access.principal,
            options=redacted_options(self.options, connection),
            version=version,
            starter=access.starter,
            check_new=new_part_check(body, self.agents.limits),
        )

    async def resume(
        self,
        agent: str | None,
        chat_id: str,
        connection: HTTPConnection,
        *,
        version: VersionNumber,
        lacks: str | None = None,
    ) -> AisdkResponse | None:
        """Show what is under way in a chat; None without it, also for a chat that does not exist.

        ``lacks`` is the turn whose end the page says it has not got.
        """
        access = access_of(connection.scope)
        try:
            endpoint = await self.endpoint_of(agent, chat_id, access.principal)
        except Exception as error:
            # Pages resume at their first load too, when the chat does not exist yet.
            if refusal_of(error).status == 404 and not isinstance(error, HttpError):
                return None
            raise
        options = redacted_options(self.options, connection)
        if "prompt" not in access.scopes:
            # A client that may only look on ends nothing when it leaves.
            options = msgspec.structs.replace(options, on_disconnect="continue")
        return await endpoint.resume(
            chat_id, principal=access.principal, options=options, version=version, lacks=lacks
        )

    async def go_on(
        self,
        agent: str | None,
        chat_id: str,
        connection: HTTPConnection,
        start: RunStart | None,
        *,
        version: VersionNumber,
    ) -> AisdkResponse | None:
        """Show a turn from a cursor on, for a client that has everything before it; None: it has all."""
        if start is None:
            return None
        access = access_of(connection.scope)
        endpoint = await self.endpoint_of(agent, chat_id, access.principal)
        options = redacted_options(self.options, connection)
        return await endpoint.go_on(
            chat_id, start, principal=access.principal, options=options, version=version
        )

    # -- streaming ---------------------------------------------------------------------------------

    async def opened(self, opening: Opening) -> Shown:
        """Wait until a response is open; a page that leaves meanwhile leaves its turn, which begins."""
        return await self._opening.opened(opening)

    async def stream(self, opening: Opening) -> Response:
        """Stream a response that is being opened; 204 when there is nothing to show."""
        return await self._opening.respond(
            opening, SSE, nothing=Response(status_code=204), tell=_error_chunk, comment=_OPENING
        )


def _error_chunk(error: Exception) -> Chunk:
    return {"type": "error", "errorText": refusal_of(error).message}


def _check_scope(wanted: ChatRequest, access: Access) -> None:
    """Refuse what a token may not do: to ask, and to answer questions, are scopes of their own."""
    last = wanted.messages[-1] if wanted.messages else None
    asks = wanted.trigger == "regenerate-message" or (last is not None and last.role == "user")
    access.need("prompt" if asks else "answer")
