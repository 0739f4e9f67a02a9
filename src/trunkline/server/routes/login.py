"""What the page asks first: ``/login`` and ``/logout``, and ``/page`` for what is served and who it is."""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from trunkline._version import __version__
from trunkline.errors import PeerError
from trunkline.server.agents import ServedAgent, ServedAgents
from trunkline.server.errors import HttpError, refusal_of
from trunkline.server.limits import Limits
from trunkline.server.responses import NO_STORE, json_response
from trunkline.server.security.bodies import read_body
from trunkline.server.security.login import Logins
from trunkline.server.security.tokens import ALL_SCOPES, Access, TokenRing, access_of
from trunkline.session.hub import Hub

OPEN_PATHS = ("/login", "/logout")
"""Paths that need no token."""
BARE_PATHS = (re.compile("/logout"),)
"""Paths that may be called without a body."""

_BODY = Limits(body_bytes=4096, body_seconds=10.0, json_depth=2, json_values=8)
"""Whoever logs in is unknown yet, and has little to say."""


class _Login(msgspec.Struct, forbid_unknown_fields=True):
    """The body of a login."""

    code: str | None = None
    token: str | None = None


_logins = msgspec.json.Decoder(_Login)


class PageRoutes:
    """The routes with which the page begins."""

    def __init__(
        self, agents: ServedAgents, logins: Logins | None = None, ring: TokenRing | None = None
    ) -> None:
        """Serve logins by codes and by the tokens of a ring; without them another login counts."""
        self._agents = agents
        self._log_in = logins
        self._ring = ring
        self._preparing: dict[str, asyncio.Task[None]] = {}
        agents.before_close.append(self._close)

    def routes(self) -> Sequence[BaseRoute]:
        """Give the addresses."""
        return [
            Route("/login", self.login, methods=["POST"]),
            Route("/logout", self.logout, methods=["POST"]),
            Route("/page", self.page, methods=["GET"]),
        ]

    # -- login -------------------------------------------------------------------------------------

    async def login(self, request: Request) -> Response:
        """Log a browser in: a code or a token becomes a cookie."""
        try:
            body = _logins.decode(await read_body(request, _BODY))
        except (msgspec.DecodeError, UnicodeDecodeError):
            body = _Login()
        if (body.code is None) == (body.token is None):
            raise PeerError('the body is no login: send {"code": "..."} or {"token": "..."}')
        if self._log_in is None:
            raise HttpError(
                403, "login", "this server has another login: log in there, then load the page again"
            )
        access = self._access_of(self._log_in, body)
        if access is None:
            client = request.scope.get("client") or ("",)
            self._log_in.check_wrong(str(client[0]))
            raise HttpError(401, "login", _WRONG_CODE if body.code is not None else _WRONG_TOKEN)
        return _empty({"set-cookie": self._log_in.log_in(request.scope, access)})

    def _access_of(self, logins: Logins, body: _Login) -> Access | None:
        if body.code is not None:
            return logins.use_code(body.code)
        return self._ring.find((body.token or "").encode()) if self._ring else None

    async def logout(self, request: Request) -> Response:
        """Log a browser out; one that is not logged in stays so."""
        if self._log_in is None:
            raise HttpError(403, "login", "this server has another login: log out there")
        return _empty({"set-cookie": self._log_in.log_out(request.scope)})

    # -- what is served ----------------------------------------------------------------------------

    async def page(self, request: Request) -> Response:
        """Say who the page is, what it may do and which agents are served."""
        access = access_of(request.scope)
        limits = self._agents.limits
        found = {
            "version": __version__,
            "principal": access.principal,
            "scopes": [scope for scope in sorted(ALL_SCOPES) if scope in access.scopes],
            "login": self._log_in is not None,
            "agents": _tell_apart(await asyncio.gather(*map(self._describe, self._agents.by_name.values()))),
            "limits": {"body_bytes": limits.body_bytes, "keep_alive_seconds": limits.keep_alive_seconds},
        }
        return json_response(found)

    async def _describe(self, served: ServedAgent) -> dict[str, Any]:
        """Describe an agent; one that does not say in time what it is has a placeholder, and is not ready."""
        hub = await self._agents.hub(served.name)
        ready, failure = await self._prepare(served.name, hub)
        card = served.agent.card
        prompt = card.prompt
        return {
            "name": served.name,
            "title": card.title or served.name,
            "description": card.description,
            "commands": card.commands,
            "options": card.options,
            "prompt": {"image": prompt.image, "audio": prompt.audio, "embedded": prompt.embedded_context},
            "ready": ready,
            "error": failure,
        }

    async def _prepare(self, name: str, hub: Hub) -> tuple[bool, str | None]:
        """Wait a while for an agent's real card; give whether it is there, and what went wrong."""
        task = self._preparing.get(name)
        if task is None:
            task = asyncio.create_task(hub.prepare_agent(), name=f"trunkline prepares {name}")
            self._preparing[name] = task
        await asyncio.wait({task}, timeout=self._agents.limits.open_seconds)
        if not task.done():
            return False, None
        # One that failed is asked again with the next request.
        self._preparing.pop(name, None)
        error = task.exception()
        if error is None:
            return True, None
        return False, refusal_of(error if isinstance(error, Exception) else Exception()).message

    async def _close(self) -> None:
        tasks = list(self._preparing.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def _tell_apart(agents: Sequence[dict[str, Any]]) -> Sequence[dict[str, Any]]:
    """Add their names to the titles that several agents have."""
    titles = Counter(agent["title"] for agent in agents)
    return [
        {**agent, "title": f"{agent['title']} ({agent['name']})"} if titles[agent["title"]] > 1 else agent
        for agent in agents
    ]


_WRONG_CODE = (
    "this link was used or is older than ten minutes: /page in `trunkline chat --page` prints another, "
    "so does the next start of `trunkline serve`; or log in with a token"
)
_WRONG_TOKEN = "this token is not known: `trunkline serve` printed it at its start, or its operator has it"


def _empty(headers: dict[str, str]) -> Response:
    return Response(status_code=204, headers={**headers, **NO_STORE})
