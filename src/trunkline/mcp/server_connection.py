"""One MCP server, held open by a task of its own.

The scopes of an MCP client must be entered and left by the same task, and a transport that breaks
cancels the task that holds it. So this task does nothing else. A caller waits for its call and for the
task at once: when the server dies, the call fails and does not hang.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncGenerator, Sequence
from pathlib import Path
from typing import Any

import anyio
from pydantic import ValidationError

from mcp import McpError, types
from trunkline._version import __version__
from trunkline.errors import AgentError
from trunkline.mcp.client import Client, explain_failure, open_connection
from trunkline.mcp.running_calls import RunningCall, RunningCalls, show_progress
from trunkline.mcp.server_settings import Connection, Site
from trunkline.transports.process.line_process import LineProcess

log = logging.getLogger("trunkline.mcp")

_START_WITHIN = 20.0
CLOSE_WITHIN = 4.0
PING_EVERY = 5.0
_BROKEN = (anyio.ClosedResourceError, anyio.BrokenResourceError)
_CLIENT_INFO = types.Implementation(name="trunkline", version=__version__)


class CallFailed(AgentError):
    """A server did not answer a call, or answered with something that is no result."""


class Server:
    """One server: ``start`` it once, ``call`` its tools, ``close`` it."""

    def __init__(
        self,
        name: str,
        connection: Connection,
        *,
        folders: Sequence[str] = (),
        start_within: float = _START_WITHIN,
    ) -> None:
        """Prepare a server; ``folders`` are the roots that the server may ask for."""
        self.name = name
        self.tools: list[types.Tool] = []
        """The tools that the server offers, under its own names."""
        self.was_up = False
        self.failure: str | None = None
        """Why the server is not available."""
        self._connection = connection
        self._folders = tuple(folders)
        self._start_within = start_within
        self._calls = RunningCalls(name)
        self._pipes = LineProcess()
        self._client: Client | None = None
        self._started = asyncio.Event()
        self._closing = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self.loop = asyncio.get_running_loop()

    def start(self) -> None:
        """Begin to connect, without waiting."""
        self._task = asyncio.create_task(self._hold(), name=f"trunkline mcp {self.name}")

    async def started(self) -> None:
        """Wait until the server is up or has failed."""
        await self._started.wait()

    @contextlib.asynccontextmanager
    async def opened(self) -> AsyncGenerator[Server]:
        """Hold the server open inside a block."""
        self.start()
        try:
            await self.started()
            yield self
        finally:
            await self.close()

    def begin_close(self) -> None:
        """Tell the server's task to end, without waiting for it."""
        self._closing.set()

    async def close(self) -> None:
        """End the server; also a close that is cancelled leaves nothing running."""
        self.begin_close()
        task = self._task
        if task is None:
            return
        try:
            await asyncio.wait({task}, timeout=CLOSE_WITHIN)
        finally:
            task.cancel()  # The task then kills the process at once.

    # -- calling -----------------------------------------------------------------------------------

    async def call(self, tool: str, arguments: dict[str, Any], call: RunningCall) -> types.CallToolResult:
        """Call a tool; raises CallFailed when the server does not answer it."""
        await self.started()
        client, holder = self._client, self._task
        if client is None or holder is None:
            raise self._gone()
        work = asyncio.create_task(client.call(tool, arguments, show_progress(call)))
        pings = asyncio.create_task(self._ping(client))
        try:
            with self._calls.running(call):
                await asyncio.wait({work, holder}, return_when=asyncio.FIRST_COMPLETED)
            if not work.done():
                raise self._gone()
            return work.result()
        except (McpError, *_BROKEN) as error:
            if client.lost.is_set():
                await asyncio.wait({holder}, timeout=CLOSE_WITHIN)
                raise self._gone() from None
            raise CallFailed(f"MCP server {self.name!r} refused the call: {error}") from None
        except (RuntimeError, ValidationError) as error:
            # The answer is no result, or does not fit the schema that the server gave for it.
            raise CallFailed(f"MCP server {self.name!r} gave an invalid result: {error}") from None
        finally:
            pings.cancel()
            work.cancel()
            await asyncio.wait({work, pings})

    async def _ping(self, client: Client) -> None:
        """Find out that a server on the web is gone: nothing else ends a stream that stays silent."""
        while isinstance(self._connection, Site):
            await asyncio.sleep(PING_EVERY)
            with contextlib.suppress(McpError, *_BROKEN):
                await client.send_ping()

    def _gone(self) -> CallFailed:
        return CallFailed(f"MCP server {self.name!r} is gone: {self.failure or 'it was closed'}")

    # -- the task ----------------------------------------------------------------------------------

    async def _hold(self) -> None:
        try:
            await self._connect()
        except Exception as error:
            self._fail(error)
        finally:
            self._client = None
            self._started.set()

    async def _connect(self) -> None:
        folder = self._folders[0] if self._folders else None
        async with (
            asyncio.timeout(self._start_within) as limit,
            open_connection(self._connection, self._pipes, folder) as (received, sent),
            Client(
                received,
                sent,
                elicitation_callback=self._calls.elicit,
                logging_callback=self._calls.log,
                list_roots_callback=self._roots if self._folders else None,
                client_info=_CLIENT_INFO,
            ) as client,
        ):
            initialized = await client.initialize()
            if initialized.capabilities.tools is not None:
                self.tools = await client.list_all_tools()
            limit.reschedule(None)
            self._client, self.was_up = client, True
            self._started.set()
            await _first(self._closing, client.lost)
        if not self._closing.is_set():
            self._fail(None)

    def _fail(self, error: Exception | None) -> None:
        if not self._closing.is_set():
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
