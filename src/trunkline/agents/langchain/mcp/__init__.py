"""MCP on the trunk: servers' tools for an agent, and servers that live as long as a session."""

from __future__ import annotations

from trunkline.agents.langchain.tools.mcp_servers import McpServers
from trunkline.agents.langchain.tools.mcp_tools import load_mcp_tools

__all__ = ["McpServers", "load_mcp_tools"]
