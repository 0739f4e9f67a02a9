"""A server whose result does not fit its own schema; with EMPTY set it offers no tools."""

import asyncio
import os
from typing import Any

from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.types import CallToolResult, ErrorData, ServerResult, TextContent, Tool

from mcp import McpError

server: Server[Any, Any] = Server("invalid")
NUMBER = {"type": "object", "properties": {"number": {"type": "integer"}}, "required": ["number"]}


if not os.environ.get("EMPTY"):

    @server.list_tools()
    async def list_tools() -> list[Tool]:
        plain: dict[str, Any] = {"type": "object"}
        return [
            Tool(name="count", inputSchema=plain, outputSchema=NUMBER),
            Tool(name="vanish", inputSchema=plain),
        ]

    async def call(request: Any) -> ServerResult:
        if request.params.name == "vanish":
            raise McpError(ErrorData(code=-32602, message="no such tool"))
        told = TextContent(type="text", text="many")
        return ServerResult(CallToolResult(content=[told], structuredContent={"number": "many"}))

    from mcp.types import CallToolRequest

    server.request_handlers[CallToolRequest] = call


async def main() -> None:
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


asyncio.run(main())
