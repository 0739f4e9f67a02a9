"""AG-UI runs over HTTP: what ``/agui``, ``/agui/ws`` and ``/copilotkit`` have in common."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Coroutine
from typing import Any

import msgspec
from starlette.requests import HTTPConnection, Request
from starlette.responses import Response

from trunkline.errors import SessionBusy
from trunkline.frontends.agui.decoder import is_modern
from trunkline.frontends.agui.endpoint import AguiEndpoint
from trunkline.frontends.agui.following import AguiFollower
from trunkline.frontends.agui.legacy_interrupts import has_answer
from trunkline.frontends.agui.options import AguiOptions
from trunkline.frontends.agui.run import AguiRun, Batch
from trunkline.protocols.agui import wire
from trunkline.protocols.agui.codes import ErrorCode
from trunkline.server.agents import ServedAgents
from trunkline.server.errors import refusal_of
from trunkline.server.event_stream import StreamResponse
from trunkline.server.routes.agui_formats import SSE, framing_for
from trunkline.server.routes.error_details import redacted_options
from trunkline.server.routes.opening_streams import OpeningStreams
from trunkline.server.security.bodies import new_part_check
from trunkline.server.security.tokens import Access, access_of

_LONGEST_NAME = 128

Shown = AguiRun | AguiFollower | None
"""What a client is shown; None: there is no such thread."""
Opening = Coroutine[Any, Any, Shown]


class AguiRuns:
    """Opens runs of the served agents and streams them."""

    def __init__(self, agents: ServedAgents, options: AguiOptions) -> None:
        self.agents = agents
        self.options = options
        self._endpoints: dict[str, AguiEndpoint] = {}
        self._opening = OpeningStreams(agents)

    async def endpoint(self, agent: str | None, thread_id: str, principal: str) -> AguiEndpoint:
        """Give the endpoint of an agent; refuse a thread of another agent."""
        name = self.agents.resolve_name(agent)
        thread_id = self.options.thread_id_override or thread_id
        hub = await self.agents.hub_for(name, thread_id, principal)
        known = self._endpoints.get(name)
        if known is None or known.hub is not hub:
            known = self._endpoints[name] = AguiEndpoint(hub, self.options)
        return known

    async def open(
        self,
        wanted: wire.RunAgentInput,
        agent: str | None,
        connection: HTTPConnection,
        options: AguiOptions,
        *,
        front_end: str = "agui",
        body: bytes = b"",
    ) -> AguiRun:
        """Begin a run for whom the gate let in; ``body`` is what the request was read from."""
        access = access_of(connection.scope)
        _check_scope(wanted, access)
        endpoint = await self.endpoint(agent, wanted.thread_id, access.principal)
        return await endpoint.open(
            wanted,
            principal=access.principal,
            options=redacted_options(options, connection),
            front_end=front_end,
            starter=access.starter,
            page=_page_of(connection),
            check_new=new_part_check(body, self.agents.limits),
        )

    async def open_replay(
        self,
        wanted: wire.RunAgentInput,
        agent: str | None,
        request: Request,
        options: AguiOptions,
        *,
        front_end: str = "agui",
    ) -> AguiRun | None:
        """Show a thread from its start; None for one that does not exist, which is no error."""
        access = access_of(request.scope)
        access.need("follow")
        options = redacted_options(options, request)
        if "prompt" not in access.scopes:
            # A client that may only look on ends nothing when it leaves.
            options = msgspec.structs.replace(options, on_disconnect="continue")
        endpoint = await self.endpoint(agent, wanted.thread_id, access.principal)
        page = _page_of(request)
        return await endpoint.open_replay(
            wanted, principal=access.principal, options=options, front_end=front_end, page=page
        )

    async def open_follower(
        self, wanted: wire.RunAgentInput, agent: str | None, request: Request, options: AguiOptions
    ) -> AguiFollower | None:
        """Show a thread and all its runs from now on; None for one that does not exist."""
        access = access_of(request.scope)
        access.need("follow")
        options = msgspec.structs.replace(redacted_options(options, request), on_disconnect="continue")
        endpoint = await self.endpoint(agent, wanted.thread_id, access.principal)
        return await endpoint.follow(wanted, principal=access.principal, options=options)

    # -- streaming ---------------------------------------------------------------------------------

    async def stream(
        self,
        opening: Opening,
        wanted: wire.RunAgentInput,
        request: Request,
    ) -> Response:
        """Stream a run that is being opened; the stream of a thread that does not exist is empty."""
        return await self._opening.respond(
            opening,
            framing_for(request, modern=is_modern(wanted)),
            nothing=StreamResponse(_no_batches(), SSE),
            tell=run_error,
            # One that follows has no end that a shutdown could wait for.
            is_counted=lambda run: isinstance(run, AguiRun),
        )


async def _no_batches() -> AsyncGenerator[Batch]:
    return
    yield


def run_error(error: Exception) -> wire.RunError:
    """Give the event for a run that cannot be opened, where a response has begun already."""
    refusal = refusal_of(error)
    if isinstance(error, SessionBusy):
        code = ErrorCode.SESSION_BUSY
    else:
        code = ErrorCode.INTERNAL_ERROR if refusal.status >= 500 else ErrorCode.INVALID_INPUT
    return wire.RunError(message=refusal.message, code=code)


def _page_of(connection: HTTPConnection) -> str | None:
    """Give the name that a page has given itself, if it has."""
    return connection.headers.get("trunkline-page", "")[:_LONGEST_NAME] or None


def _check_scope(wanted: wire.RunAgentInput, access: Access) -> None:
    """Refuse a run that a token may not start; an answer to an interrupt needs a scope of its own."""
    answers = has_answer(wanted)
    if answers:
        access.need("answer")
    if not answers or _may_ask_anew(wanted):
        access.need("prompt")


def _may_ask_anew(wanted: wire.RunAgentInput) -> bool:
    """Whether a resume may cancel what waits, because of a new message that comes with it."""
    entries = wanted.resume or ()
    all_cancelled = bool(entries) and all(entry.status == "cancelled" for entry in entries)
    return all_cancelled and bool(wanted.messages) and wanted.messages[-1].role == "user"
