"""CopilotKit's routes, so that its pages need no runtime of their own between them and the agent.

Two forms of the same: one address per thing to do, and one address that takes
``{"method", "params", "body"}``. As in npm ``@copilotkit/react-core`` 1.74.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import msgspec
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from trunkline._version import __version__
from trunkline.errors import InvalidCommand, SessionNotFound
from trunkline.frontends.agui.decoder import read_input
from trunkline.server.agents import DEFAULT
from trunkline.server.errors import HttpError
from trunkline.server.responses import json_response
from trunkline.server.routes.agui_runs import AguiRuns
from trunkline.server.routes.copilotkit_threads import THREAD_ENDPOINTS, list_threads
from trunkline.server.security.bodies import read_body
from trunkline.server.security.tokens import access_of


class _Call(msgspec.Struct, frozen=True):
    """What the single address takes."""

    method: str
    params: dict[str, Any] = {}
    body: msgspec.Raw = msgspec.Raw(b"{}")


class CopilotKitRoutes:
    """The routes of CopilotKit's pages."""

    def __init__(self, runs: AguiRuns) -> None:
        self._runs = runs
        self._agents = runs.agents
        self._options = runs.options.for_copilotkit()

    def routes(self) -> Sequence[BaseRoute]:
        """Give the addresses."""
        return [
            Route("/copilotkit", self.single, methods=["POST"]),
            Route("/copilotkit/info", self.info, methods=["GET"]),
            Route("/copilotkit/threads", self.threads, methods=["GET"]),
            Route("/copilotkit/agent/{agent}/run", self.run, methods=["POST"]),
            Route("/copilotkit/agent/{agent}/connect", self.connect, methods=["POST"]),
            Route("/copilotkit/agent/{agent}/stop/{thread:path}", self.stop, methods=["POST"]),
        ]

    async def info(self, request: Request) -> Response:
        """Say which agents there are."""
        return self._info(request)

    async def threads(self, request: Request) -> Response:
        """List the threads of an agent."""
        return await self._threads(request, request.query_params)

    async def run(self, request: Request) -> Response:
        """Run an agent."""
        with self._reading(request) as take:
            body = await read_body(request, self._agents.limits, with_history=True, take=take)
            return await self._run(request, request.path_params["agent"], body)

    async def connect(self, request: Request) -> Response:
        """Come back to a thread."""
        with self._reading(request) as take:
            body = await read_body(request, self._agents.limits, with_history=True, take=take)
            return await self._connect(request, request.path_params["agent"], body)

    def _reading(self, request: Request) -> AbstractContextManager[Callable[[int], None]]:
        return self._agents.body_budget.hold(access_of(request.scope).principal)

    async def stop(self, request: Request) -> Response:
        """Stop what runs in a thread."""
        await read_body(request, self._agents.limits)
        return await self._stop(request, request.path_params["agent"], request.path_params["thread"])

    async def single(self, request: Request) -> Response:
        """Do any of these, by the name of its method."""
        with self._reading(request) as take:
            body = await read_body(request, self._agents.limits, with_history=True, take=take)
            return await self._call(request, body)

    async def _call(self, request: Request, body: bytes) -> Response:
        try:
            call = msgspec.json.decode(body, type=_Call)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise InvalidCommand(f'the body must be {{"method", "params", "body"}}: {error}') from None
        agent = str(call.params.get("agentId") or DEFAULT)
        if call.method == "info":
            return self._info(request)
        if call.method == "agent/run":
            return await self._run(request, agent, bytes(call.body))
        if call.method == "agent/connect":
            return await self._connect(request, agent, bytes(call.body))
        if call.method == "agent/stop":
            return await self._stop(request, agent, str(call.params.get("threadId") or ""))
        if call.method == "resource/request":
            # How CopilotKit asks for any other address: {"path": "/threads?...", "httpMethod": "GET"}.
            wanted = urlsplit(str(call.params.get("path") or ""))
            if (wanted.path, call.params.get("httpMethod")) == ("/threads", "GET"):
                return await self._threads(request, dict(parse_qsl(wanted.query)))
            raise HttpError(404, "resource", "there is only GET /threads")
        raise HttpError(
            404,
            "method",
            "there are the methods info, agent/run, agent/connect, agent/stop and resource/request; "
            "none of that name",
        )

    # -- the work behind the addresses -------------------------------------------------------------

    def _info(self, request: Request) -> Response:
        access_of(request.scope).need("follow")
        agents: dict[str, Any] = {}
        for name, one in self._agents.by_name.items():
            card = one.agent.card
            agents[name] = {
                "name": name,
                "className": "Trunkline",
                "description": card.description or card.name,
            }
        if DEFAULT not in agents:
            # What a page asks for that names no agent.
            agents = {DEFAULT: {**agents[self._agents.default], "name": DEFAULT}, **agents}
        return JSONResponse(
            {
                "version": __version__,
                "agents": agents,
                "audioFileTranscriptionEnabled": False,
                "mode": "sse",
                "threadEndpoints": THREAD_ENDPOINTS,
                "singleRoute": {"resourceOperations": True, "threadEndpoints": THREAD_ENDPOINTS},
            }
        )

    async def _threads(self, request: Request, query: Mapping[str, str]) -> Response:
        access = access_of(request.scope)
        access.need("follow")
        page = await list_threads(self._agents, access.principal, query)
        return json_response(page)

    async def _run(self, request: Request, agent: str, body: bytes) -> Response:
        wanted = read_input(body, most=self._agents.limits.messages)
        opening = self._runs.open(wanted, agent, request, self._options, front_end="copilotkit", body=body)
        return await self._runs.stream(opening, wanted, request)

    async def _connect(self, request: Request, agent: str, body: bytes) -> Response:
        wanted = read_input(body, most=self._agents.limits.messages)
        opening = self._runs.open_replay(wanted, agent, request, self._options, front_end="copilotkit")
        return await self._runs.stream(opening, wanted, request)

    async def _stop(self, request: Request, agent: str, thread_id: str) -> Response:
        access = access_of(request.scope)
        access.need("prompt")
        endpoint = await self._runs.endpoint(agent, thread_id, access.principal)
        try:
            stopped = await endpoint.stop(thread_id, principal=access.principal)
        except SessionNotFound:
            stopped = False
        return json_response({"stopped": stopped})
