"""Routes: every address of the server, in one list."""

from __future__ import annotations

from starlette.routing import BaseRoute

from trunkline.server.acp import AcpRoutes
from trunkline.server.agui import AguiRoutes
from trunkline.server.copilotkit import CopilotKitRoutes
from trunkline.server.exchange import Exchange
from trunkline.server.health import HealthRoutes
from trunkline.server.sessions import SessionRoutes
from trunkline.server.sockets import SocketRoutes

__all__ = ["routes_of"]


def routes_of(exchange: Exchange) -> list[BaseRoute]:
    """Give the routes of an exchange; a front end adds its own here."""
    return [
        *HealthRoutes(exchange).routes(),
        *AguiRoutes(exchange).routes(),
        *SocketRoutes(exchange).routes(),
        *CopilotKitRoutes(exchange).routes(),
        *SessionRoutes(exchange).routes(),
        *AcpRoutes(exchange).routes(),
    ]
