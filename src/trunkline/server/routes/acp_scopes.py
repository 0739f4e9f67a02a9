"""What a client of ``/acp`` may ask: by the scopes of its token, and which MCP servers it may name."""

from __future__ import annotations

from typing import Any, cast
from urllib.parse import urlsplit

import msgspec

from trunkline.errors import TrunklineError
from trunkline.mcp.allowed_hosts import Outbound
from trunkline.protocols.jsonrpc.connection import Handler, error_with_details
from trunkline.protocols.jsonrpc.messages import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    INVALID_REQUEST,
    Params,
    RpcError,
)
from trunkline.server.agents import ServedAgents
from trunkline.server.errors import refusal_of
from trunkline.server.security.tokens import Access, PermissionScope

_NEEDS: dict[str, PermissionScope] = {
    # An agent has one login for all clients.
    "authenticate": "admin",
    "logout": "admin",
    "session/delete": "admin",
    # Titles are the first words of a session, and a fork can be read.
    "session/fork": "follow",
    "session/list": "follow",
    "session/load": "follow",
    "session/set_mode": "answer",
    "session/set_config_option": "answer",
}
_PORTS = {"http": 80, "https": 443}


class ScopeCheck:
    """Refuses what a token has no scope for, and what no client may do over the network."""

    def __init__(self, handler: Handler, agents: ServedAgents, access: Access) -> None:
        self._handler = handler
        self._agents = agents
        self._access = access

    async def handle(self, method: str, params: Params) -> Any:
        """Handle a request, or refuse it; the details of our own errors are in the log only."""
        try:
            return await self._checked(method, params)
        except (RpcError, msgspec.ValidationError):
            raise
        except Exception as error:
            refusal = refusal_of(error)
            ours = isinstance(error, TrunklineError)
            if ours and refusal.message == str(error):
                raise
            rpc_code = error.hint.jsonrpc if ours else INTERNAL_ERROR
            raise error_with_details(rpc_code, refusal.message) from error

    async def _checked(self, method: str, params: Params) -> Any:
        self._check(method, params)
        if method == "initialize":
            return self._mark_mcp(await self._handler.handle(method, params))
        if method != "session/prompt":
            return await self._handler.handle(method, params)
        run = object()
        self._agents.add_run(run)
        try:
            return await self._handler.handle(method, params)
        finally:
            self._agents.remove_run(run)

    def _check(self, method: str, params: Params) -> None:
        if self._agents.closing:
            raise error_with_details(INVALID_REQUEST, "the server is going down: try again later")
        needed = _NEEDS.get(method, "prompt")
        if needed not in self._access.scopes:
            why = f"this token may not do that: it takes one with the scope {needed!r}"
            raise error_with_details(INVALID_REQUEST, why)
        for server in _mcp_servers_in(params):
            if "command" in server and not self._agents.limits.client_programs:
                raise error_with_details(
                    INVALID_PARAMS,
                    "this server starts no programs for its clients: allow it with "
                    "Limits(client_programs=True), or give the agent its MCP servers itself",
                )
            if "url" in server and not _is_allowed(server["url"], self._agents.outbound):
                raise error_with_details(
                    INVALID_PARAMS,
                    "this server calls no MCP servers for its clients but those that its operator allows: "
                    "allow the host with --allow-mcp HOST (allow_mcp in asgi())",
                )

    def _mark_mcp(self, result: Any) -> Any:
        """Do not offer MCP over HTTP where no host is allowed for it."""
        if isinstance(result, dict) and not self._agents.outbound:
            initialized = cast("dict[str, Any]", result)
            initialized["agentCapabilities"]["mcpCapabilities"] = {"http": False, "sse": False}
        return cast("Any", result)

    def handle_notification(self, method: str, params: Params) -> None:
        """Handle a notification."""
        self._handler.handle_notification(method, params)

    def withdraw(self, method: str, params: Params) -> bool:
        """The client no longer waits for a request."""
        return self._handler.withdraw(method, params)


def _mcp_servers_in(params: Params) -> list[dict[str, Any]]:
    servers: Any = params.get("mcpServers") if isinstance(params, dict) else None
    named = cast("list[Any]", servers) if isinstance(servers, list) else []
    return [cast("dict[str, Any]", server) for server in named if isinstance(server, dict)]


def _is_allowed(url: Any, outbound: Outbound) -> bool:
    try:
        parts = urlsplit(str(url))
        host, port = parts.hostname, parts.port or _PORTS[parts.scheme]
    except (KeyError, ValueError):
        return False
    return host is not None and outbound.allows_host(host, port)
