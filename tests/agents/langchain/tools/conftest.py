"""The MCP servers that the tests of MCP share."""

from tests.mcp.conftest import http, sse

__all__ = ["http", "sse"]
