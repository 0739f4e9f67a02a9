"""The AI SDK over HTTP: ``/api/chat``, as pages with useChat call it.

``POST /api/chat`` streams a response, ``GET /api/chat/{id}/stream`` the one that is under way (204 without),
``GET /api/chat/{id}/messages`` gives the messages, ``POST /api/chat/{id}/stop`` cancels the turn, and
``POST /api/chat/{id}/permissions/{question}`` (also ``/questions/{question}``) answers beside the stream.
Each is also served below ``/api/chat/{agent}``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple, cast
from urllib.parse import unquote

import msgspec
from starlette.exceptions import HTTPException
from starlette.requests import HTTPConnection, Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from trunkline.errors import InvalidCommand
from trunkline.frontends.aisdk.decoder import read_chat_request
from trunkline.frontends.aisdk.options import AisdkOptions
from trunkline.server.agents import ServedAgents
from trunkline.server.responses import json_response
from trunkline.server.routes.aisdk_chats import AisdkChats
from trunkline.server.routes.aisdk_websocket import AisdkWebSocketRoutes
from trunkline.server.routes.error_details import redacted_options
from trunkline.server.security.bodies import read_body
from trunkline.server.security.tokens import access_of

_CHATS = ("/api/chat", "/api/chat/{agent}")
TEXT_PATHS = ("/api/chat",)
"""Where a refusal is its sentence alone: useChat shows the body as the error's message."""
BARE_PATHS = (re.compile("/api/chat/.+/stop"),)
"""What is called without a body too: ``fetch(url, {method: "POST"})`` stops what runs."""


class AisdkFrontEnd:
    """The AI SDK over HTTP and over WebSockets, on the same chats."""

    def __init__(self, agents: ServedAgents, options: AisdkOptions) -> None:
        chats = AisdkChats(agents, options)
        self._families = (AisdkWebSocketRoutes(chats), AisdkRoutes(chats))

    def routes(self) -> Sequence[BaseRoute]:
        """Give the addresses of both."""
        return [route for family in self._families for route in family.routes()]


class _Place(NamedTuple):
    """A chat in an address; without an agent it is the one that the chat belongs to."""

    agent: str | None
    chat_id: str


class AisdkRoutes:
    """The routes of pages with useChat."""

    def __init__(self, chats: AisdkChats) -> None:
        self._chats = chats
        self._agents = chats.agents

    def routes(self) -> Sequence[BaseRoute]:
        """Give the addresses; the id of a chat may have slashes in it, as %2F."""
        return [
            *(Route(path, self.chat, methods=["POST"]) for path in _CHATS),
            *(Route(path, self.stream_after_query, methods=["GET"]) for path in _CHATS),
            Route("/api/chat/{chat:path}/stream", self.stream, methods=["GET"]),
            Route("/api/chat/{chat:path}/messages", self.messages, methods=["GET"]),
            Route("/api/chat/{chat:path}/stop", self.stop, methods=["POST"]),
            *(
                Route(f"/api/chat/{{chat:path}}/{kind}/{{question}}", answer, methods=["POST"])
                for kind, answer in (("permissions", self.answer), ("questions", self.answer))
            ),
        ]

    async def chat(self, request: Request) -> Response:
        """Take a message or answers, and stream what comes of it."""
        limits = self._agents.limits
        agent = self._agents.resolve_name(request.path_params.get("agent"))
        version = self._chats.version_for(request)
        with self._agents.body_budget.hold(access_of(request.scope).principal) as take:
            body = await read_body(request, limits, with_history=True, take=take)
            wanted = read_chat_request(body, most=limits.messages)
            opening = self._chats.open(wanted, agent, request, version=version, body=body)
            return await self._chats.stream(opening)

    async def stream(self, request: Request) -> Response:
        """Show the response that is under way; 204 without one, which is no error for a page.

        With ``turnId``, the id of a message that the page lacks the end of, the last turn also after its end.
        """
        access_of(request.scope).need("follow")
        place, version = self._place(request), self._chats.version_for(request)
        lacks = request.query_params.get("turnId")
        opening = self._chats.resume(place.agent, place.chat_id, request, version=version, lacks=lacks)
        return await self._chats.stream(opening)

    async def stream_after_query(self, request: Request) -> Response:
        """Show the response to a page whose ``ai`` puts ``/ID/stream`` after the query of its address.

        With ``api: '/api/chat?v=6'`` that is ``/api/chat?v=6/ID/stream``: 6.0.288 and 5.0.267 do so, 6.0.320
        and 5.0.277 put the path before the query.
        """
        query, _, path = request.scope["query_string"].partition(b"/")
        chat = path.removesuffix(b"/stream")
        if not chat or chat == path:
            raise HTTPException(405, headers={"allow": "POST"})
        agent: str | None = request.path_params.get("agent")
        scope = dict(request.scope)
        scope["raw_path"] = (scope.get("raw_path") or b"").partition(b"?")[0] + b"/" + path
        scope["query_string"] = query
        scope["path_params"] = {"chat": "/".join(filter(None, (agent, unquote(chat.decode("latin-1")))))}
        return await self.stream(Request(scope))

    async def messages(self, request: Request) -> Response:
        """Give the messages of a chat, as a page holds them."""
        access = access_of(request.scope)
        access.need("follow")
        place, version = self._place(request), self._chats.version_for(request)
        endpoint = await self._chats.endpoint_of(place.agent, place.chat_id, access.principal)
        options = redacted_options(self._chats.options, request)
        found = await endpoint.messages(
            place.chat_id, principal=access.principal, options=options, version=version
        )
        return json_response(found)

    async def stop(self, request: Request) -> Response:
        """Cancel the running turn; with ``turnId`` only that one."""
        access = access_of(request.scope)
        access.need("prompt")
        place = self._place(request)
        given = await self._read_object(request)
        turn_id = given.get("turnId", given.get("messageId"))
        if turn_id is not None and not isinstance(turn_id, str):
            raise InvalidCommand("turnId must be a text: the id of the assistant's message")
        endpoint = await self._chats.endpoint_of(place.agent, place.chat_id, access.principal)
        stopped = await endpoint.stop(place.chat_id, turn_id, principal=access.principal)
        return json_response({"stopped": stopped})

    async def answer(self, request: Request) -> Response:
        """Answer a question beside the stream; 409 says who was faster."""
        access = access_of(request.scope)
        access.need("answer")
        place = self._place(request)
        given = await self._read_object(request)
        endpoint = await self._chats.endpoint_of(place.agent, place.chat_id, access.principal)
        question: str = request.path_params["question"]
        await endpoint.answer(place.chat_id, question, given, principal=access.principal)
        return json_response({"answered": question})

    async def _read_object(self, request: Request) -> dict[str, Any]:
        body = await read_body(request, self._agents.limits)
        try:
            given: Any = msgspec.json.decode(body) if body.strip() else {}
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise InvalidCommand(f"the body is not JSON: {error}") from None
        if not isinstance(given, dict):
            raise InvalidCommand("the body must be an object")
        return cast("dict[str, Any]", given)

    def _place(self, connection: HTTPConnection) -> _Place:
        """Tell the agent and the chat in an address apart.

        A page escapes the id of its chat, so that one segment is a chat, and two are an agent and a chat.
        Where the address as it was sent is not known, the name of a served agent is taken for that agent.
        """
        chat: str = connection.path_params["chat"]
        agent, slash, rest = chat.partition("/")
        if not slash:
            return _Place(None, chat)
        raw = bytes(connection.scope.get("raw_path") or b"").partition(b"?")[0].decode("latin-1")
        segments = [unquote(one) for one in raw.split("/")]
        if chat in segments:
            return _Place(None, chat)
        if (agent in segments and rest in segments) or agent in self._agents.by_name:
            return _Place(self._agents.resolve_name(agent), rest)
        return _Place(None, chat)
