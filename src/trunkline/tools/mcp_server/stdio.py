"""The MCP server on standard input and output."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import Callable

from trunkline.protocols.jsonrpc.connection import Connection
from trunkline.tools.mcp_server.server import McpServer, ServerInfo
from trunkline.tools.registry import ToolRegistry
from trunkline.transports.process.own_exit_processes import end_descendants
from trunkline.transports.stdio import StdioTransport
from trunkline.workspace.policy import Policy

_SERVED_WITHIN = 5.0


def serve_mcp(load: Callable[[], tuple[ToolRegistry, ServerInfo]], *, policy: Policy | None = None) -> None:
    """Serve tools to the MCP client that started this process, until it closes our input.

    ``load`` imports the tools; whatever they print, now or later, goes to stderr.
    """
    transport = StdioTransport.claim()
    registry, info = load()
    asyncio.run(_serve(transport, registry, info, policy))


async def _serve(
    transport: StdioTransport, registry: ToolRegistry, info: ServerInfo, policy: Policy | None
) -> None:
    connection = Connection(transport, cancel_method="notifications/cancelled", answers_cancelled=False)
    server = connection.handler = McpServer(registry, connection, info=info, policy=policy)
    serving = asyncio.current_task()
    assert serving is not None
    for name in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        asyncio.get_running_loop().add_signal_handler(name, serving.cancel)
    try:
        with contextlib.suppress(asyncio.CancelledError):
            await transport.run(connection.receive)
            connection.receive_eof()
            # The client may have written its last requests and closed its end: they are answered.
            await connection.idle(_SERVED_WITHIN)
        await server.close()
        await connection.close("the client closed the connection")
        end_descendants()
    finally:
        await transport.close()
