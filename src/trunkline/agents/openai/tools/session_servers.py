"""The MCP servers that a client names for its session: opened with it, closed with it.

Our own connections hold them, as processes that do not outlive us. The SDK gets them as servers of its own
kind, one set for each turn, on the copies of the session's agents.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from typing import Any

from agents.mcp import MCPServer
from typing_extensions import override

from mcp import types
from trunkline import events as ev
from trunkline.agents.openai.calls import CALL, PARENT, Calls
from trunkline.mcp.connections import Servers, read_connections
from trunkline.mcp.server import Server
from trunkline.mcp.tool_names import name_tools
from trunkline.session.context import TurnContext


class SessionServers:
    """The servers of one session; one that fails is reported, and the others work."""

    def __init__(self, given: Servers, folders: Sequence[str]) -> None:
        """Read the settings; ``start`` opens the servers."""
        self.settings = (given, tuple(folders))
        self._connections, wrong = read_connections(given)
        self._folders = tuple(folders)
        self._servers: dict[str, Server] = {}
        self._reported: set[Server] = set()
        self._failures = [_notice(name, why) for name, why in wrong.items()]

    def start(self) -> None:
        """Begin to open every server; one that was up and died is opened again."""
        for name, connection in self._connections.items():
            server = self._servers.get(name)
            if server is None or (server.failure is not None and server.was_up):
                self._servers[name] = Server(name, connection, folders=self._folders)
                self._servers[name].start()

    async def ready(self) -> None:
        """Wait until every server is up or has failed, which takes no longer than the slowest may."""
        await asyncio.gather(*(server.started() for server in self._servers.values()))

    def failures(self) -> list[ev.Notice]:
        """Notices of the servers that failed since the last call."""
        failures, self._failures = self._failures, []
        for server in self._servers.values():
            if server.failure is not None and server not in self._reported:
                self._reported.add(server)
                failures.append(_notice(server.name, server.failure))
        return failures

    def for_turn(self, ctx: TurnContext, calls: Calls, taken: Iterable[str] = ()) -> list[MCPServer]:
        """The servers that are up, as the SDK's; tools whose names are ``taken`` are left out."""
        listed = ((server, tool) for server in self._servers.values() for tool in server.tools)
        named = name_tools(listed, prefix_tool_name=True)
        own = set(taken)
        return [
            SessionServer(
                server,
                {name: tool for name, (of, tool) in named.items() if of is server and name not in own},
                ctx,
                calls,
            )
            for server in self._servers.values()
            if server.tools
        ]

    async def close(self) -> None:
        """End every server; idempotent."""
        servers, self._servers = self._servers, {}
        for server in servers.values():
            server.begin_close()  # First: the gathered closes may be cancelled before they begin.
        await asyncio.gather(*(server.close() for server in servers.values()))


class SessionServer(MCPServer):
    """One server of a session, for one turn."""

    def __init__(self, server: Server, tools: dict[str, types.Tool], ctx: TurnContext, calls: Calls) -> None:
        super().__init__()
        self._server = server
        self._tools = tools
        self._ctx = ctx
        self._calls = calls

    @property
    @override
    def name(self) -> str:
        return self._server.name

    @override
    async def connect(self) -> None:
        """Nothing to do: the session holds the connection."""

    @override
    async def cleanup(self) -> None:
        """Nothing to do: the session holds the connection."""

    @override
    async def list_tools(self, run_context: Any = None, agent: Any = None) -> list[types.Tool]:
        return [tool.model_copy(update={"name": name}) for name, tool in self._tools.items()]

    @override
    async def call_tool(
        self, tool_name: str, arguments: dict[str, Any] | None, meta: dict[str, Any] | None = None
    ) -> types.CallToolResult:
        call = _RunningCall(self._ctx, self._calls)
        result = await self._server.call(self._tools[tool_name].name, arguments or {}, call)
        if result.isError and call.native_id is not None:
            texts = [block.text for block in result.content if isinstance(block, types.TextContent)]
            self._calls.fail(call.native_id, " ".join(texts)[:500] or "the server says that it failed")
        return result

    @override
    async def list_prompts(self) -> types.ListPromptsResult:
        return types.ListPromptsResult(prompts=[])

    @override
    async def get_prompt(self, name: str, arguments: dict[str, Any] | None = None) -> types.GetPromptResult:
        raise ValueError(f"{self.name} has no prompt {name!r} here: a session uses its tools only")


class _RunningCall:
    """The call that a server works on, for its progress and its questions."""

    def __init__(self, ctx: TurnContext, calls: Calls) -> None:
        self.channel = ctx
        self.native_id = CALL.get()
        self._parent = PARENT.get()
        self._calls = calls

    @property
    def event_id(self) -> str | None:
        """The id of the event that shows this call."""
        return None if self.native_id is None else self._calls.find(self.native_id, self._parent)

    @property
    def lane(self) -> str | None:
        """The lane that it runs in."""
        return self._calls.lane_of(self.event_id or "")

    def progress(self, output: str) -> None:
        """Append to the output that is shown of this call."""
        if self.native_id is not None:
            self._calls.progress(self.native_id, output, self._parent)


def _notice(name: str, why: str) -> ev.Notice:
    title = f"MCP server {name!r} is not available"
    return ev.Notice(title=title, description=why, severity="warning", code="mcp_server_failed")
