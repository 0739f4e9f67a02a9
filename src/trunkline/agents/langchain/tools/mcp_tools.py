"""The tools of MCP servers, as LangChain's."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Iterable
from typing import Any, cast

from langchain_core.tools import BaseTool, ToolException
from langgraph.prebuilt import ToolRuntime

from mcp import types
from trunkline.agents.langchain.tools.current_call import Call, CalledTool, this_call
from trunkline.agents.langchain.tools.mcp_results import ToolRefused, read_result
from trunkline.agents.langchain.tools.mcp_server import Server
from trunkline.errors import AgentError, ConfigurationError
from trunkline.mcp.connections import Connection, Servers, read_connections
from trunkline.session.handles import in_loop

__all__ = ["load_mcp_tools", "make_tool", "name_tools"]

Carry = Callable[[str, dict[str, Any], Call], Awaitable[types.CallToolResult]]

_NONE: Any = None

# What providers take as the name of a tool.
_LONGEST = 64
_FOREIGN = re.compile(r"[^A-Za-z0-9_-]+")


async def load_mcp_tools(
    servers: Servers, *, prefix_tool_name: bool = True, standard_content_blocks: bool = True
) -> list[BaseTool]:
    """Load the tools of MCP servers; each call opens its server and closes it again.

    ``servers`` maps names to settings (``command``, ``args``, ``env`` or ``url``, ``headers``, with their
    ``transport``: stdio, http or sse), or is the list that ACP clients send. With ``prefix_tool_name``
    a tool is called ``server__tool``. Without ``standard_content_blocks`` a result is plain text, and
    what is not text is in its artifact. A server that
    cannot be reached raises AgentError, which names it.
    """
    connections, wrong = read_connections(servers)
    if wrong:
        raise ConfigurationError(_say(wrong))
    listed = await asyncio.gather(*(_list(name, place) for name, place in connections.items()))
    failed = {server.name: server.failure for server in listed if server.failure is not None}
    if failed:
        raise AgentError(_say(failed))
    named = name_tools(((server, tool) for server in listed for tool in server.tools), prefix_tool_name)
    return [
        make_tool(
            name,
            server.name,
            tool,
            _once(server.name, connections[server.name]),
            standard_content_blocks=standard_content_blocks,
        )
        for name, (server, tool) in named.items()
    ]


def _say(failures: dict[str, str]) -> str:
    return "\n".join(f"MCP server {name!r}: {why}" for name, why in failures.items())


async def _list(name: str, connection: Connection) -> Server:
    async with Server(name, connection).opened() as server:
        return server


def _once(name: str, connection: Connection) -> Carry:
    async def carry(tool: str, arguments: dict[str, Any], call: Call) -> types.CallToolResult:
        async with Server(name, connection).opened() as server:
            return await server.call(tool, arguments, call)

    return carry


def make_tool(
    name: str,
    server: str,
    listed: BaseTool,
    carry: Carry,
    loop: asyncio.AbstractEventLoop | None = None,
    *,
    standard_content_blocks: bool,
) -> BaseTool:
    """Make a tool that is carried out by ``carry``, in ``loop`` if it must be that one."""

    async def call(tool_runtime: ToolRuntime[Any, Any] = _NONE, **arguments: Any) -> tuple[Any, Any]:
        this = this_call(tool_runtime)
        result = await carry(listed.name, arguments, this)
        content, artifact = read_result(result, standard_content_blocks=standard_content_blocks)
        if this.tool_call_id is None:
            return content, artifact
        return this.answer(content, artifact, name), artifact

    def call_sync(tool_runtime: ToolRuntime[Any, Any] = _NONE, **arguments: Any) -> tuple[Any, Any]:
        if in_loop():
            raise ToolException(f"{listed.name} was called by a plain function in the loop: await it instead")
        work = call(tool_runtime, **arguments)
        return asyncio.run(work) if loop is None else asyncio.run_coroutine_threadsafe(work, loop).result()

    about = {**(listed.metadata or {}), "mcp": {"server": server, "tool": listed.name}}
    schema = cast("dict[str, Any]", listed.args_schema)
    return CalledTool(
        name=name,
        description=listed.description,
        args_schema={"type": "object", "properties": {}, **schema},
        func=call_sync,
        coroutine=call,
        response_format="content_and_artifact",
        metadata=about,
        # It is said to give text, but whatever it gives becomes the content of the message.
        handle_tool_error=cast("Any", _refusal),
    )


def name_tools(
    listed: Iterable[tuple[Server, BaseTool]], prefix_tool_name: bool
) -> dict[str, tuple[Server, BaseTool]]:
    """Give every tool a name of its own: the second of a name gets its server's in front, or a number."""
    named: dict[str, tuple[Server, BaseTool]] = {}
    for server, tool in listed:
        name = _prefixed(server.name, tool.name) if prefix_tool_name else tool.name[:_LONGEST]
        if name in named:
            name = whole = _prefixed(server.name, tool.name)
            number = 2
            while name in named:
                name = f"{whole[: _LONGEST - 4]}_{number}"
                number += 1
        named[name] = (server, tool)
    return named


def _prefixed(server: str, tool: str) -> str:
    return f"{_FOREIGN.sub('_', server)}__{tool}"[-_LONGEST:]


def _refusal(error: ToolException) -> Any:
    return error.content if isinstance(error, ToolRefused) and error.content else str(error)
