"""The MCP servers of one session, with their tools as LangChain's."""

from __future__ import annotations

from collections.abc import Sequence

from langchain_core.tools import BaseTool

from trunkline.agents.langchain.tools.mcp_tools import make_tool
from trunkline.mcp.server_connection import Server
from trunkline.mcp.server_set import ServerSet
from trunkline.mcp.server_settings import Servers


class McpServers(ServerSet):
    """The servers of a session, whose tools a graph can call."""

    def __init__(
        self,
        servers: Servers,
        *,
        folders: Sequence[str] = (),
        prefix_tool_name: bool = True,
        standard_content_blocks: bool = True,
    ) -> None:
        """Read the servers; ``start`` opens them."""
        super().__init__(servers, folders)
        self._prefix_tool_name = prefix_tool_name
        self._standard_content_blocks = standard_content_blocks
        self._made: dict[tuple[Server, str], BaseTool] = {}

    @property
    def tools(self) -> list[BaseTool]:
        """The tools of the servers that came up; a tool of a server that died fails with that reason."""
        named = self.named_tools(prefix_tool_name=self._prefix_tool_name)
        self._made = {
            (server, name): self._made.get((server, name))
            or make_tool(
                name,
                server.name,
                tool,
                server.call,
                server.loop,
                standard_content_blocks=self._standard_content_blocks,
            )
            for name, (server, tool) in named.items()
        }
        return list(self._made.values())
