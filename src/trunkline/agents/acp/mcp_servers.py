"""The client's MCP servers as an agent is given them: only of the kinds that it can use.

An agent process calls whatever it is given, so that servers which a remote client named are held against the
hosts that may be called for it, and none is started for it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import urlsplit

from trunkline.agents.acp.initialize import capability
from trunkline.mcp.allowed_hosts import Outbound

Json = dict[str, Any]


def usable_servers(
    servers: Iterable[Mapping[str, Any]], initialize: Mapping[str, Any]
) -> tuple[list[Json], list[str]]:
    """Give the servers for session/new, and why others are not among them."""
    usable: list[Json] = []
    notes: list[str] = []
    for server in servers:
        kind = server.get("type") or ("http" if server.get("url") else "stdio")
        name = str(server.get("name") or "?")
        if why := _refusal(server, kind, initialize):
            notes.append(f"the MCP server {name!r} is not used: {why}")
        elif kind == "stdio":
            env = list(server.get("env") or ())
            args = list(server.get("args") or ())
            usable.append({"name": name, "command": str(server.get("command")), "args": args, "env": env})
        else:
            headers = list(server.get("headers") or ())
            usable.append({"type": kind, "name": name, "url": str(server.get("url")), "headers": headers})
    return usable, notes


def _refusal(server: Mapping[str, Any], kind: Any, initialize: Mapping[str, Any]) -> str | None:
    reach = server.get("reach")
    if kind == "stdio":
        return "a remote client may not start programs" if reach is not None else None
    if kind not in ("http", "sse"):
        return f"its type is {kind!r}"
    # An agent says in mcpCapabilities which transports besides stdio it supports
    # (https://agentclientprotocol.com/protocol/v1/session-setup#mcp-servers).
    if not capability(initialize, "mcpCapabilities", kind):
        return f"the agent does not speak {kind} with MCP servers"
    if reach is not None:
        parts = urlsplit(str(server.get("url")))
        port = parts.port or (443 if parts.scheme == "https" else 80)
        if not Outbound(reach).allows_host(parts.hostname or "", port):
            return f"the host {parts.hostname!r} may not be called for a remote client"
    return None
