"""The MCP servers of one session: opened side by side, held until the session is closed."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from langchain_core.tools import BaseTool

from mcp import types
from trunkline import events as ev
from trunkline.agents.langchain.tools.mcp_tools import make_tool
from trunkline.mcp.connections import Servers, read_connections
from trunkline.mcp.server import Server
from trunkline.mcp.tool_names import name_tools


class McpServers:
    """Servers by name; one that fails is reported, and the others work."""

    def __init__(
        self,
        servers: Servers,
        *,
        folders: Sequence[str] = (),
        prefix_tool_name: bool = True,
        standard_content_blocks: bool = True,
    ) -> None:
        """Read the servers; ``start`` opens them."""
        self._prefix_tool_name = prefix_tool_name
        self._standard_content_blocks = standard_content_blocks
        self._folders = tuple(folders)
        self._connections, wrong = read_connections(servers)
        self._servers: dict[str, Server] = {}
        self._made: dict[tuple[Server, str], BaseTool] = {}
        self._reported: set[Server] = set()
        self._failures = [_notice(name, why) for name, why in wrong.items()]

    def start(self) -> None:
        """Begin to open every server; those that run already are left alone."""
        for name, connection in self._connections.items():
            server = self._servers.get(name)
            if server is None or (server.failure is not None and server.was_up):
                # One that never came up is not tried again: it would fail in every turn.
                self._made = {key: made for key, made in self._made.items() if key[0] is not server}
                self._servers[name] = Server(name, connection, folders=self._folders)
                self._servers[name].start()

    async def ready(self) -> None:
        """Wait until every server is up or has failed, which takes no longer than the slowest may."""
        await asyncio.gather(*(server.started() for server in self._servers.values()))

    @property
    def tools(self) -> list[BaseTool]:
        """The tools of the servers that came up; a tool of a server that died fails with that reason."""
        listed = ((server, tool) for server in self._servers.values() for tool in server.tools)
        return [
            self._tool(name, server, tool)
            for name, (server, tool) in name_tools(listed, self._prefix_tool_name).items()
        ]

    def _tool(self, name: str, server: Server, tool: types.Tool) -> BaseTool:
        made = self._made.get((server, name))
        if made is None:
            made = self._made[server, name] = make_tool(
                name,
                server.name,
                tool,
                server.call,
                server.loop,
                standard_content_blocks=self._standard_content_blocks,
            )
        return made

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
