"""The tools of MCP servers, as LangChain's."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, cast

from langchain_core.tools import BaseTool, ToolException
from langgraph.prebuilt import ToolRuntime

from mcp import types
from trunkline.agents.langchain.tools.current_call import Call, this_call
from trunkline.agents.langchain.tools.mcp_results import ToolRefused, read_result
from trunkline.errors import AgentError, ConfigurationError
from trunkline.mcp.server_connection import CallFailed, Server
from trunkline.mcp.server_settings import Connection, Servers, read_connections
from trunkline.mcp.tool_names import name_tools
from trunkline.session.handles import in_loop
from trunkline.tools.langchain_call_id import CalledTool

CallTool = Callable[[str, dict[str, Any], Call], Awaitable[types.CallToolResult]]

_NONE: Any = None


async def load_mcp_tools(
    servers: Servers, *, prefix_tool_name: bool = True, standard_content_blocks: bool = True
) -> list[BaseTool]:
    """Load the tools of MCP servers; each call opens its server and closes it again.

    ``servers`` maps names to settings (``command``, ``args``, ``env`` or ``url``, ``headers``, with their
    ``transport``: stdio, http or sse), or is the list that ACP clients send. With ``prefix_tool_name``
    a tool is called ``server__tool``. Without ``standard_content_blocks`` a result is plain text, and
    what is not text is in its artifact. Raises AgentError, which names every server that cannot be reached.
    """
    connections, wrong = read_connections(servers)
    if wrong:
        raise ConfigurationError(_join(wrong))
    listed = await asyncio.gather(*(_list(name, connection) for name, connection in connections.items()))
    failed = {server.name: server.failure for server in listed if server.failure is not None}
    if failed:
        raise AgentError(_join(failed))
    named = name_tools(((server, tool) for server in listed for tool in server.tools), prefix_tool_name)
    return [
        make_tool(
            name,
            server.name,
            tool,
            _call_once(server.name, connections[server.name]),
            standard_content_blocks=standard_content_blocks,
        )
        for name, (server, tool) in named.items()
    ]


def _join(failures: dict[str, str]) -> str:
    return "\n".join(f"MCP server {name!r}: {why}" for name, why in failures.items())


async def _list(name: str, connection: Connection) -> Server:
    async with Server(name, connection).opened() as server:
        return server


def _call_once(name: str, connection: Connection) -> CallTool:
    async def call_tool(tool: str, arguments: dict[str, Any], call: Call) -> types.CallToolResult:
        async with Server(name, connection).opened() as server:
            return await server.call(tool, arguments, call)

    return call_tool


def make_tool(
    name: str,
    server: str,
    listed: types.Tool,
    call_tool: CallTool,
    loop: asyncio.AbstractEventLoop | None = None,
    *,
    standard_content_blocks: bool,
) -> BaseTool:
    """Make a LangChain tool that runs ``call_tool``, in ``loop`` if it must be that one."""

    async def call(tool_runtime: ToolRuntime[Any, Any] = _NONE, **arguments: Any) -> tuple[Any, Any]:
        this = this_call(tool_runtime)
        try:
            result = await call_tool(listed.name, arguments, this)
        except CallFailed as error:
            raise ToolException(str(error)) from error
        content, artifact = read_result(result, standard_content_blocks=standard_content_blocks)
        if this.tool_call_id is None:
            return content, artifact
        return this.answer(content, artifact, name), artifact

    def call_sync(tool_runtime: ToolRuntime[Any, Any] = _NONE, **arguments: Any) -> tuple[Any, Any]:
        if in_loop():
            raise ToolException(f"{listed.name} was called by a plain function in the loop: await it instead")
        work = call(tool_runtime, **arguments)
        return asyncio.run(work) if loop is None else asyncio.run_coroutine_threadsafe(work, loop).result()

    return CalledTool(
        name=name,
        description=listed.description or "",
        args_schema={"type": "object", "properties": {}, **listed.inputSchema},
        func=call_sync,
        coroutine=call,
        response_format="content_and_artifact",
        metadata=_metadata(server, listed),
        # Typed as a function that gives a str; LangChain takes any content of a message.
        handle_tool_error=cast("Any", _error_content),
    )


def _metadata(server: str, listed: types.Tool) -> dict[str, Any]:
    """The server's annotations where langchain-mcp-adapters puts them too, and where the tool comes from."""
    annotations = listed.annotations.model_dump() if listed.annotations is not None else {}
    meta = {"_meta": listed.meta} if listed.meta is not None else {}
    return {**annotations, **meta, "mcp": {"server": server, "tool": listed.name}}


def _error_content(error: ToolException) -> Any:
    return error.content if isinstance(error, ToolRefused) and error.content else str(error)
