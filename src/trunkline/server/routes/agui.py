"""AG-UI over HTTP: ``POST /agui`` streams a run, ``GET /agui/capabilities`` says what to expect of one.

``POST /agui/connect`` takes the same as a run and shows a thread to a page that comes back to it; with
``?follow=true`` the stream goes on with every run that any client starts there.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from trunkline.frontends.agui.decoder import read_input
from trunkline.frontends.agui.options import AguiOptions
from trunkline.protocols.agui.wire import PROTOCOL_VERSION
from trunkline.server.agents import ServedAgents
from trunkline.server.routes.agui_runs import AguiRuns, Opening
from trunkline.server.routes.agui_websocket import AguiWebSocketRoutes
from trunkline.server.routes.copilotkit import CopilotKitRoutes
from trunkline.server.security.bodies import read_body
from trunkline.server.security.tokens import access_of


class AguiFrontEnd:
    """AG-UI over HTTP and WebSockets, and CopilotKit, on the same runs."""

    def __init__(self, agents: ServedAgents, options: AguiOptions) -> None:
        runs = AguiRuns(agents, options)
        self._families = (AguiRoutes(runs), AguiWebSocketRoutes(runs), CopilotKitRoutes(runs))

    def routes(self) -> Sequence[BaseRoute]:
        """Give the addresses of all of them."""
        return [route for family in self._families for route in family.routes()]


class AguiRoutes:
    """The routes of AG-UI clients."""

    def __init__(self, runs: AguiRuns) -> None:
        self._runs = runs
        self._agents = runs.agents

    def routes(self) -> Sequence[BaseRoute]:
        """Give the addresses, with and without the name of an agent."""
        return [
            Route("/agui", self.run, methods=["POST"]),
            Route("/agui/capabilities", self.capabilities, methods=["GET"]),
            Route("/agui/connect", self.connect, methods=["POST"]),
            Route("/agui/{agent}", self.run, methods=["POST"]),
            Route("/agui/{agent}/capabilities", self.capabilities, methods=["GET"]),
            Route("/agui/{agent}/connect", self.connect, methods=["POST"]),
        ]

    async def run(self, request: Request) -> Response:
        """Open a run and stream it; what can be refused is refused before the first byte."""
        return await self._stream(request, replay=False)

    async def connect(self, request: Request) -> Response:
        """Show a thread as it is, and what runs in it."""
        return await self._stream(request, replay=True)

    async def _stream(self, request: Request, *, replay: bool) -> Response:
        runs, limits = self._runs, self._agents.limits
        agent = self._agents.resolve_name(request.path_params.get("agent"))
        with self._agents.body_budget.hold(access_of(request.scope).principal) as take:
            body = await read_body(request, limits, with_history=True, take=take)
            wanted = read_input(body, most=limits.messages)
            if not replay:
                opening: Opening = runs.open(wanted, agent, request, runs.options, body=body)
            elif request.query_params.get("follow") == "true":
                opening = runs.open_follower(wanted, agent, request, runs.options)
            else:
                opening = runs.open_replay(wanted, agent, request, runs.options)
            return await runs.stream(opening, wanted, request)

    async def capabilities(self, request: Request) -> Response:
        """Say what an agent can do, in AG-UI's terms."""
        name = self._agents.resolve_name(request.path_params.get("agent"))
        return JSONResponse(_capabilities(self._agents, name))


def _capabilities(agents: ServedAgents, name: str) -> dict[str, Any]:
    card = agents.by_name[name].agent.card
    prompt = msgspec.to_builtins(card.prompt)
    media = {"image": prompt.get("image", False), "audio": prompt.get("audio", False)}
    return {
        "identity": {
            "name": card.title or card.name,
            "type": "trunkline",
            "version": card.version,
            **({"description": card.description} if card.description else {}),
        },
        "transport": {"streaming": True, "websocket": True, "httpBinary": True, "resumable": True},
        "tools": {"supported": True, "parallelCalls": True, "clientProvided": True},
        "state": {"snapshots": True, "deltas": True, "persistentState": True},
        "multiAgent": {"supported": True},
        "reasoning": {"supported": True, "streaming": True, "encrypted": True},
        "multimodal": {"input": media},
        "humanInTheLoop": {
            "supported": True,
            "approvals": True,
            "interrupts": True,
            "approveWithEdits": True,
        },
        "custom": {"trunkline": {"protocolVersion": PROTOCOL_VERSION, "agent": name}},
    }
