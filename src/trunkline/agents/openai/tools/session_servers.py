"""The MCP servers that a client names for its session: opened with it, closed with it.

Our own connections hold them, as processes that do not outlive us. The SDK gets them as servers of its own
kind, one set for each turn, on the copies of the session's agents.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from agents.mcp import MCPServer
from typing_extensions import override

from mcp import types
from trunkline.agents.openai.running_calls import CALL, PARENT, Calls
from trunkline.agents.openai.tools.own_servers import note_failure
from trunkline.mcp.server_connection import Server
from trunkline.mcp.server_set import ServerSet
from trunkline.mcp.server_settings import Servers
from trunkline.session.context import TurnContext


class SessionServers(ServerSet):
    """The servers of a session, which the SDK gets for each turn."""

    def __init__(self, given: Servers, folders: Sequence[str]) -> None:
        """Read the settings; ``start`` opens the servers."""
        super().__init__(given, folders)
        self.settings = (given, tuple(folders))

    def for_turn(self, ctx: TurnContext, calls: Calls, taken: Iterable[str] = ()) -> list[MCPServer]:
        """The servers that are up, as the SDK's; tools whose names are ``taken`` are left out."""
        named, own = self.named_tools(), set(taken)
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
        note_failure(self._calls, call.native_id, result)
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
