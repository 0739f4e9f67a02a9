"""AG-UI over HTTP: ``POST /agui`` streams a run, ``GET /agui/capabilities`` says what to expect of one.

``POST /agui/connect`` takes the same as a run and shows a thread to a page that comes back to it.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from typing import Any

import msgspec
from starlette.requests import HTTPConnection, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from trunkline.frontends.agui.decoder import read_input
from trunkline.frontends.agui.endpoint import AguiRun
from trunkline.frontends.agui.options import AguiOptions
from trunkline.protocols.agui.wire import PROTOCOL_VERSION, RunAgentInput
from trunkline.server.agents import ServedAgents
from trunkline.server.event_stream import Stream, framing_for
from trunkline.server.security.bodies import new_part_check, read_body
from trunkline.server.security.origins import is_loopback
from trunkline.server.security.tokens import Access, access_of

__all__ = ["AguiRoutes", "check_scope", "options_for", "page_of", "replay_of", "stream_of"]

_LONGEST_NAME = 128


class AguiRoutes:
    """The routes of AG-UI clients."""

    def __init__(self, exchange: ServedAgents) -> None:
        """Serve the agents of an exchange."""
        self._exchange = exchange

    def routes(self) -> Sequence[BaseRoute]:
        """The addresses, with and without the name of an agent."""
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
        exchange, access = self._exchange, access_of(request.scope)
        limits, options = exchange.limits, options_for(request, exchange.options)
        with exchange.reading.hold(access.principal) as take:
            body = await read_body(request, limits, with_history=True, take=take)
            told = read_input(body, most=limits.messages)
            check_scope(told, access)
            endpoint = await exchange.agui(request.path_params.get("agent"), told.thread_id, access.principal)
            run = await endpoint.open(
                told,
                principal=access.principal,
                options=options,
                starter=access.starter,
                page=page_of(request),
                check_new=new_part_check(body, limits),
            )
        return stream_of(run, request, exchange, options)

    async def connect(self, request: Request) -> Response:
        """Show a thread as it is, and what runs in it."""
        exchange = self._exchange
        limits, agent = exchange.limits, request.path_params.get("agent")
        with exchange.reading.hold(access_of(request.scope).principal) as take:
            body = await read_body(request, limits, with_history=True, take=take)
            told = read_input(body, most=limits.messages)
            return await replay_of(told, agent, request, exchange, exchange.options)

    async def capabilities(self, request: Request) -> Response:
        """Say what an agent can do, in AG-UI's words."""
        name = self._exchange.find(request.path_params.get("agent"))
        return JSONResponse(_capabilities(self._exchange, name))


def page_of(request: Request) -> str | None:
    """The name that a page has given itself, if it has."""
    return request.headers.get("trunkline-page", "")[:_LONGEST_NAME] or None


def options_for(request: HTTPConnection, options: AguiOptions) -> AguiOptions:
    """Tell the words of exceptions only where the server is called by an address of this machine."""
    server = request.scope.get("server") or ("",)
    if options.error_detail_level != "full" or is_loopback(str(server[0])):
        return options
    return msgspec.structs.replace(options, error_detail_level="message")


def check_scope(told: RunAgentInput, access: Access) -> None:
    """Refuse a run that a token may not start; to answer an interrupt takes more than to prompt."""
    if told.resume:
        access.need("answer")
    if not told.resume or _may_ask_anew(told):
        access.need("prompt")


def _may_ask_anew(told: RunAgentInput) -> bool:
    """Whether a resume may give up what waits for a message that comes with it."""
    given_up = all(entry.status == "cancelled" for entry in told.resume or ())
    return given_up and bool(told.messages) and told.messages[-1].role == "user"


def stream_of(run: AguiRun, request: Request, exchange: ServedAgents, options: AguiOptions) -> Stream:
    """Stream a run; when the reader leaves, the run is told."""
    exchange.begin(run)

    async def close() -> None:
        exchange.end(run)
        await run.close()

    return Stream(
        aiter(run),
        framing_for(request, modern=run.modern),
        close=close,
        keep_alive=options.keep_alive,
        stall_seconds=exchange.limits.stall_seconds,
    )


async def replay_of(
    told: RunAgentInput,
    agent: str | None,
    request: Request,
    exchange: ServedAgents,
    options: AguiOptions,
    front_end: str = "agui",
) -> Stream:
    """Stream a thread from its start; one that nobody knows has nothing to show, which is no error."""
    access = access_of(request.scope)
    access.need("follow")
    options = options_for(request, options)
    if "prompt" not in access.scopes:
        # Who may only look on ends nothing by looking away.
        options = msgspec.structs.replace(options, on_disconnect="continue")
    endpoint = await exchange.agui(agent, told.thread_id, access.principal)
    run = await endpoint.open_replay(
        told,
        principal=access.principal,
        options=options,
        front_end=front_end,
        page=page_of(request),
    )
    return Stream(_nothing()) if run is None else stream_of(run, request, exchange, options)


async def _nothing() -> AsyncGenerator[Any]:
    return
    yield


def _capabilities(exchange: ServedAgents, name: str) -> dict[str, Any]:
    card = exchange.agents[name].agent.card
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
