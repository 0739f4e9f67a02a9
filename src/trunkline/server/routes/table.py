"""Routes: every address of the server, in one list."""

from __future__ import annotations

from starlette.routing import BaseRoute

from trunkline.server.agents import ServedAgents
from trunkline.server.routes.acp import AcpRoutes
from trunkline.server.routes.agui import AguiRoutes
from trunkline.server.routes.agui_websocket import SocketRoutes
from trunkline.server.routes.copilotkit import CopilotKitRoutes
from trunkline.server.routes.health import HealthRoutes
from trunkline.server.routes.sessions import SessionRoutes

__all__ = ["routes_of"]


def routes_of(exchange: ServedAgents) -> list[BaseRoute]:
    """Give the routes of an exchange; a front end adds its own here."""
    return [
        *HealthRoutes(exchange).routes(),
        *AguiRoutes(exchange).routes(),
        *SocketRoutes(exchange).routes(),
        *CopilotKitRoutes(exchange).routes(),
        *SessionRoutes(exchange).routes(),
        *AcpRoutes(exchange).routes(),
    ]
