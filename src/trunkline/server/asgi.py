"""``asgi()`` makes the ASGI app; here is the list of all front ends of the server."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable, Mapping
from typing import Any

from trunkline.errors import ConfigurationError
from trunkline.frontends.agui.options import AguiOptions
from trunkline.frontends.aisdk.options import AisdkOptions
from trunkline.frontends.unified.options import UnifiedOptions
from trunkline.journal import Journal
from trunkline.mcp.allowed_hosts import Outbound
from trunkline.server.agents import ServedAgents, name_agents
from trunkline.server.app import FrontEnd, Server
from trunkline.server.limits import Limits
from trunkline.server.routes import health, login, page
from trunkline.server.routes.acp import AcpRoutes
from trunkline.server.routes.agui import AguiFrontEnd
from trunkline.server.routes.aisdk import BARE_PATHS, TEXT_PATHS, AisdkFrontEnd
from trunkline.server.routes.completions import CompletionRoutes
from trunkline.server.routes.export import ExportRoutes
from trunkline.server.routes.health import HealthRoutes
from trunkline.server.routes.inspector import InspectorRoutes
from trunkline.server.routes.login import LoginRoutes
from trunkline.server.routes.page import PAGE_PATHS, PageFiles, PageRoutes
from trunkline.server.routes.session_changes import SessionChanges
from trunkline.server.routes.sessions import SessionRoutes
from trunkline.server.routes.unified_websocket import UnifiedRoutes
from trunkline.server.security.hosts import Hosts
from trunkline.server.security.login import Logins
from trunkline.server.security.origins import Origins
from trunkline.server.security.tokens import Authenticate, Token, TokenRing
from trunkline.server.session_settings import session_settings
from trunkline.session.settings import Settings
from trunkline.transports.process.secrets import take_secret
from trunkline.workspace import Policy

__all__ = ["asgi"]

log = logging.getLogger("trunkline.server")

_CLASSES: dict[str, tuple[type[Any], str]] = {
    "agui": (AguiOptions, "trunkline.frontends.agui"),
    "options": (AguiOptions, "trunkline.frontends.agui"),
    "aisdk": (AisdkOptions, "trunkline.frontends.aisdk"),
    "unified": (UnifiedOptions, "trunkline.frontends.unified"),
    "settings": (Settings, "trunkline"),
    "limits": (Limits, "trunkline.server.limits"),
}
_OF_TRANSPORTS = {
    "keep_alive": "write limits=Limits(keep_alive_seconds=...)",
    "coalesce": "leave it out, as the journal joins deltas for slow readers",
}
"""Fields of AguiOptions that a server does not read."""


def asgi(
    agents: Any,
    *,
    journal: str | os.PathLike[str] | Journal | None = "memory:",
    tokens: str | Token | Iterable[str | Token] | None = None,
    authenticate: Authenticate | None = None,
    allow_origins: str | Iterable[str] = (),
    allow_hosts: str | Iterable[str] = (),
    allow_mcp: str | Iterable[str] = (),
    agui: AguiOptions | None = None,
    options: AguiOptions | None = None,
    aisdk: AisdkOptions | None = None,
    unified: UnifiedOptions | None = None,
    settings: Settings | None = None,
    policy: Policy | str | os.PathLike[str] | None = None,
    cwd: str | os.PathLike[str] | None = None,
    limits: Limits | None = None,
    targets: Mapping[str, str] | None = None,
) -> Server:
    """Make an ASGI app of an agent, or of several as ``{name: agent}``; the first is the default.

    ``journal`` is ``memory:``, ``sqlite:PATH``, a path object or an open journal. Without ``tokens`` the one
    in TRUNKLINE_TOKEN counts, or else one is made, which is ``app.token``. ``authenticate(scope)`` replaces
    tokens where another login knows the caller. ``allow_mcp`` are the hosts of MCP servers that ACP clients
    may name; without any they may name none. ``agui`` are the options of AG-UI and CopilotKit; ``options``
    is the older name of the same argument. ``aisdk`` are those of /api/chat, for useChat, and
    ``unified`` those of /unified. ``cwd`` is the folder of sessions whose client names none, such as those of
    web pages; without it they have no files and no terminals. ``policy`` is a Policy, the name of a ready
    one, or a file; without one a person is asked only what the agent asks.
    """
    _check_types(agui=agui, options=options, aisdk=aisdk, unified=unified, settings=settings, limits=limits)
    agui = agui or options or AguiOptions()
    for name, option_of in _OF_TRANSPORTS.items():
        if getattr(agui, name) != getattr(AguiOptions(), name):
            raise ConfigurationError(f"{name} is an option of transports, not of a server: {option_of}")
    served = ServedAgents(
        name_agents(agents, targets),
        journal=journal,
        settings=settings or session_settings(reader_backlog=agui.high_water_mark),
        policy=policy,
        cwd=cwd,
        limits=limits,
        outbound=Outbound(_listed(allow_mcp)),
    )
    ring: TokenRing | None = None
    logins: Logins | None = None
    if authenticate is None:
        authenticate = ring = TokenRing.of(tokens)
        logins = Logins()
        if tokens is None and not take_secret("TRUNKLINE_TOKEN"):
            log.warning("no token was given, so this one was made: %s", ring.tokens[0].secret)
    # A front end is added here, with an argument of asgi() for its options.
    front_ends: list[FrontEnd] = [
        HealthRoutes(served),
        PageFiles(),
        PageRoutes(served, has_login=logins is not None),
        LoginRoutes(logins, ring),
        SessionChanges(served),
        CompletionRoutes(served),
        ExportRoutes(served),
        InspectorRoutes(served, agui, aisdk or AisdkOptions(), unified),
        SessionRoutes(served),
        AguiFrontEnd(served, agui),
        AisdkFrontEnd(served, aisdk or AisdkOptions()),
        AcpRoutes(served),
        UnifiedRoutes(served, unified),
    ]
    return Server(
        served,
        front_ends,
        authenticate=authenticate,
        hosts=Hosts(_listed(allow_hosts)),
        origins=Origins(_listed(allow_origins)),
        logins=logins,
        open_paths=(*health.OPEN_PATHS, *login.OPEN_PATHS, *page.OPEN_PATHS),
        page_paths=PAGE_PATHS,
        text_paths=TEXT_PATHS,
        bare_paths=(*BARE_PATHS, *login.BARE_PATHS),
    )


def _check_types(**given: Any) -> None:
    for name, value in given.items():
        kind, module = _CLASSES[name]
        if value is not None and not isinstance(value, kind):
            raise ConfigurationError(
                f"{name} is an object of type {type(value).__name__}: write {name}={kind.__name__}(...), "
                f"with from {module} import {kind.__name__}"
            )


def _listed(given: str | Iterable[str]) -> Iterable[str]:
    """Take one name for a list of one, not for its letters."""
    return [given] if isinstance(given, str) else given
