"""One MCP server, held by a task of its own.

The scopes of an MCP client must be entered and left by the same task, and a transport that breaks
cancels the task that holds it. So this task does nothing else; callers wait for their call and for
the task at once, and a server that dies fails their call instead of hanging it.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncGenerator, Sequence
from pathlib import Path
from typing import Any

import anyio
from langchain_core.tools import BaseTool, ToolException
from langchain_mcp_adapters.tools import load_mcp_tools as list_tools
from pydantic import ValidationError

from mcp import McpError, types
from trunkline._version import __version__
from trunkline.agents.langchain.tools.current_call import Call
from trunkline.agents.langchain.tools.mcp_calls import Listeners, progress_of
from trunkline.mcp.client import HeldClient, explain_failure, open_wire
from trunkline.mcp.connections import Connection, Site
from trunkline.transports.process.pipes import Pipes

__all__ = ["START_WITHIN", "Server"]

log = logging.getLogger("trunkline.mcp")

START_WITHIN = 20.0
CLOSE_WITHIN = 4.0
HEARTBEAT = 5.0
_BROKEN = (anyio.ClosedResourceError, anyio.BrokenResourceError)
_SELF = types.Implementation(name="trunkline", version=__version__)


class Server:
    """A server on its way, running, or gone; ``start`` it once and ``close`` it."""

    def __init__(
        self,
        name: str,
        connection: Connection,
        *,
        folders: Sequence[str] = (),
        start_within: float = START_WITHIN,
    ) -> None:
        """Prepare a server; ``folders`` are what it may ask for as its roots."""
        self.name = name
        self.tools: list[BaseTool] = []
        """What the server offers, under its own names."""
        self.was_up = False
        self.failure: str | None = None
        """Why the server is not there."""
        self._connection = connection
        self._folders = tuple(folders)
        self._start_within = start_within
        self._listeners = Listeners(name)
        self._pipes = Pipes()
        self._client: HeldClient | None = None
        self._settled = asyncio.Event()
        self._stopping = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self.loop = asyncio.get_running_loop()

    def start(self) -> None:
        """Begin to connect, beside whatever runs."""
        self._task = asyncio.create_task(self._hold(), name=f"trunkline mcp {self.name}")

    async def settled(self) -> None:
        """Wait until the server is up, or surely not."""
        await self._settled.wait()

    @contextlib.asynccontextmanager
    async def opened(self) -> AsyncGenerator[Server]:
        """Hold the server for the length of a block."""
        self.start()
        try:
            await self.settled()
            yield self
        finally:
            await self.close()

    def stop(self) -> None:
        """Let the server end by itself, and soon."""
        self._stopping.set()

    async def close(self) -> None:
        """End the server; one who cannot wait leaves nothing running either."""
        self.stop()
        task = self._task
        if task is None:
            return
        try:
            await asyncio.wait({task}, timeout=CLOSE_WITHIN)
        finally:
            task.cancel()  # It ends the process without grace, and by itself.

    # -- calling -----------------------------------------------------------------------------------

    async def call(self, tool: str, arguments: dict[str, Any], call: Call) -> types.CallToolResult:
        """Call a tool; raises ToolException when the server cannot answer."""
        await self.settled()
        client, holder = self._client, self._task
        if client is None or holder is None:
            raise self._not_there()
        work = asyncio.create_task(client.call(tool, arguments, progress_of(call)))
        heart = asyncio.create_task(self._beat(client))
        try:
            with self._listeners.joined(call):
                await asyncio.wait({work, holder}, return_when=asyncio.FIRST_COMPLETED)
            if not work.done():
                raise self._not_there()
            return work.result()
        except (McpError, *_BROKEN) as error:
            if client.lost.is_set():
                await asyncio.wait({holder}, timeout=CLOSE_WITHIN)
                raise self._not_there() from None
            raise ToolException(f"MCP server {self.name!r} refused the call: {error}") from None
        except (RuntimeError, ValidationError) as error:  # It is not an answer, or not the one it promised.
            raise ToolException(f"MCP server {self.name!r} broke its word: {error}") from None
        finally:
            heart.cancel()
            work.cancel()
            await asyncio.wait({work, heart})

    async def _beat(self, client: HeldClient) -> None:
        """Notice that a server on the web is gone: its unfinished answer would just never come."""
        while isinstance(self._connection, Site):
            await asyncio.sleep(HEARTBEAT)
            with contextlib.suppress(McpError, *_BROKEN):
                await client.send_ping()

    def _not_there(self) -> ToolException:
        return ToolException(f"MCP server {self.name!r} is gone: {self.failure or 'it was closed'}")

    # -- the task ----------------------------------------------------------------------------------

    async def _hold(self) -> None:
        try:
            await self._connect()
        except Exception as error:
            self._fail(error)
        finally:
            self._client = None
            self._settled.set()

    async def _connect(self) -> None:
        folder = self._folders[0] if self._folders else None
        async with (
            asyncio.timeout(self._start_within) as limit,
            open_wire(self._connection, self._pipes, folder) as wire,
            HeldClient(
                wire.received,
                wire.sent,
                elicitation_callback=self._listeners.elicit,
                logging_callback=self._listeners.log,
                list_roots_callback=self._roots if self._folders else None,
                client_info=_SELF,
            ) as client,
        ):
            greeting = await client.initialize()
            if greeting.capabilities.tools is not None:
                self.tools = await list_tools(client, server_name=self.name)
            limit.reschedule(None)
            self._client, self.was_up = client, True
            self._settled.set()
            await _first(self._stopping, client.lost)
        if not self._stopping.is_set():
            self._fail(None)

    def _fail(self, error: Exception | None) -> None:
        if not self._stopping.is_set():
            self.failure = explain_failure(error, self._connection, self._pipes)
            log.debug("MCP server %s: %s", self.name, self.failure, exc_info=error)

    async def _roots(self, context: Any) -> types.ListRootsResult:
        roots = [
            types.Root.model_validate({"uri": Path(folder).as_uri(), "name": Path(folder).name or folder})
            for folder in self._folders
        ]
        return types.ListRootsResult(roots=roots)


async def _first(*events: asyncio.Event) -> None:
    waits = [asyncio.create_task(event.wait()) for event in events]
    try:
        await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for wait in waits:
            wait.cancel()
