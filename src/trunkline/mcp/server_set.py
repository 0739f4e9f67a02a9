"""The MCP servers of one session: opened side by side, held until the session is closed."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

from mcp import types
from trunkline import events as ev
from trunkline.mcp.server_connection import Server
from trunkline.mcp.server_settings import Servers, read_connections
from trunkline.mcp.tool_names import name_tools


class ServerSet:
    """Servers by name; one that fails is reported, and the others work."""

    def __init__(self, servers: Servers, folders: Sequence[str] = ()) -> None:
        """Read the servers; ``start`` opens them."""
        self._folders = tuple(folders)
        self._connections, wrong = read_connections(servers)
        self._servers: dict[str, Server] = {}
        self._reported: set[Server] = set()
        self._failures = [_notice(name, why) for name, why in wrong.items()]

    def start(self) -> None:
        """Begin to open every server; one that was up and died is opened again."""
        for name, connection in self._connections.items():
            server = self._servers.get(name)
            # One that never came up is not tried again: it would fail in every turn.
            if server is None or (server.failure is not None and server.was_up):
                self._servers[name] = Server(name, connection, folders=self._folders)
                self._servers[name].start()

    async def ready(self) -> None:
        """Wait until every server is up or has failed, which takes no longer than the slowest may."""
        await asyncio.gather(*(server.started() for server in self._servers.values()))

    def named_tools(self, *, prefix_tool_name: bool = True) -> Mapping[str, tuple[Server, types.Tool]]:
        """The tools of the servers that came up, by the names that a model gets."""
        listed = ((server, tool) for server in self._servers.values() for tool in server.tools)
        return name_tools(listed, prefix_tool_name)

    def failures(self) -> list[ev.Notice]:
        """Notices of the servers that failed since the last call."""
        failures, self._failures = self._failures, []
        for server in self._servers.values():
            if server.failure is not None and server not in self._reported:
                self._reported.add(server)
                failures.append(_notice(server.name, server.failure))
        return failures

    def begin_close(self) -> None:
        """Tell every server to end, without waiting."""
        for server in self._servers.values():
            server.begin_close()

    async def close(self) -> None:
        """End every server; idempotent."""
        self.begin_close()  # First: the gathered closes may be cancelled before they begin.
        servers, self._servers = self._servers, {}
        await asyncio.gather(*(server.close() for server in servers.values()))


def _notice(name: str, why: str) -> ev.Notice:
    title = f"MCP server {name!r} is not available"
    return ev.Notice(title=title, description=why, severity="warning", code="mcp_server_failed")
