"""The client of one MCP server: opens its connection, and does what the SDK's own client does not.

The SDK's client (mcp 1.x, ``ClientSession``) handles one message at a time, so a question to the user would
stop the answers to every other call; and it does not tell the server when a call is cancelled.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from functools import partial
from typing import Any, cast

import anyio
import httpx
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.message import SessionMessage
from mcp.shared.session import ProgressFnT, RequestResponder
from pydantic import ValidationError

from mcp import ClientSession, McpError, types
from trunkline.mcp.allowed_hosts import Outbound
from trunkline.mcp.checked_transport import CheckedTransport, NotAllowed
from trunkline.mcp.server_settings import Connection, Program, Site
from trunkline.transports.process.line_process import LineProcess

log = logging.getLogger("trunkline.mcp")

_CONNECT = 30.0
# A question may be open for an hour, and nothing may come over the stream meanwhile.
_QUIET = 3700.0
_MOST_PAGES = 1000

Streams = tuple[MemoryObjectReceiveStream[SessionMessage | Exception], MemoryObjectSendStream[SessionMessage]]
"""What comes from the server, and what goes to it."""


class Client(ClientSession):
    """A client that goes on receiving while it answers its server."""

    lost: asyncio.Event

    async def __aenter__(self) -> Client:
        self.lost = asyncio.Event()
        return await super().__aenter__()

    async def _receive_loop(self) -> None:
        try:
            await super()._receive_loop()
        finally:
            self.lost.set()

    async def _received_request(
        self, responder: RequestResponder[types.ServerRequest, types.ClientResult]
    ) -> None:
        self._task_group.start_soon(self._answer, responder)

    async def _answer(self, responder: RequestResponder[types.ServerRequest, types.ClientResult]) -> None:
        try:
            await super()._received_request(responder)
        except Exception:
            # The connection broke before the answer, or the answer is invalid: the call itself fails then.
            log.debug("a server's request could not be answered", exc_info=True)

    async def list_all_tools(self) -> list[types.Tool]:
        """List every page: https://modelcontextprotocol.io/specification/2025-06-18/server/utilities/pagination."""
        tools: list[types.Tool] = []
        cursor: str | None = None
        for _ in range(_MOST_PAGES):
            page = await self.list_tools(params=types.PaginatedRequestParams(cursor=cursor))
            tools += page.tools
            cursor = page.nextCursor
            if not cursor:
                return tools
        raise RuntimeError(f"it lists more than {_MOST_PAGES} pages of tools")

    async def call(self, tool: str, arguments: dict[str, Any], progress: ProgressFnT) -> types.CallToolResult:
        """Call a tool; when the caller is cancelled, the server is told."""
        request_id = self._request_id
        try:
            return await self.call_tool(tool, arguments, progress_callback=progress)
        except asyncio.CancelledError:
            if not self.lost.is_set():
                self._task_group.start_soon(self._cancel_request, request_id)
            raise

    async def _cancel_request(self, request_id: int) -> None:
        # https://modelcontextprotocol.io/specification/2025-06-18/basic/utilities/cancellation
        params = types.CancelledNotificationParams(requestId=request_id, reason="the call was cancelled")
        notification = types.ClientNotification(types.CancelledNotification(params=params))
        try:
            await self.send_notification(notification)
        except Exception:
            log.debug("a server could not be told that its call is cancelled", exc_info=True)


@asynccontextmanager
async def open_connection(
    connection: Connection, pipes: LineProcess, folder: str | None
) -> AsyncGenerator[Streams]:
    """Connect to a server; a program is started in ``folder`` and runs behind ``pipes`` inside this block."""
    if isinstance(connection, Program):
        async with _piped(connection, pipes, folder) as streams:
            yield streams
    elif connection.sse:
        make = partial(_make_client, connection)
        async with sse_client(connection.url, connection.headers, _CONNECT, _QUIET, make) as (received, sent):
            yield received, sent
    else:
        async with _streamed(connection) as streams:
            yield streams


def _make_client(
    site: Site,
    headers: dict[str, str] | None = None,
    timeout: httpx.Timeout | None = None,
    auth: httpx.Auth | None = None,
) -> httpx.AsyncClient:
    if site.reach is None:
        return httpx.AsyncClient(headers=headers, timeout=timeout, auth=auth)
    # A proxy of the environment would connect to hosts that are not allowed.
    transport = CheckedTransport(Outbound(site.reach))
    return httpx.AsyncClient(
        headers=headers, timeout=timeout, auth=auth, transport=transport, trust_env=False
    )


@asynccontextmanager
async def _streamed(site: Site) -> AsyncGenerator[Streams]:
    timeout = httpx.Timeout(_CONNECT, read=_QUIET)
    async with (
        _make_client(site, site.headers, timeout) as http,
        streamable_http_client(site.url, http_client=http) as (received, sent, _),
    ):
        yield received, sent


@asynccontextmanager
async def _piped(program: Program, pipes: LineProcess, folder: str | None) -> AsyncGenerator[Streams]:
    await pipes.start(program.command, program.args, env=program.env, cwd=program.cwd or folder)
    failed = True
    try:
        into, received = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        sent, outof = anyio.create_memory_object_stream[SessionMessage](0)
        async with into, received, sent, outof, anyio.create_task_group() as pumps:
            pumps.start_soon(_read, pipes, into)
            pumps.start_soon(_write, pipes, outof)
            yield received, sent
            pumps.cancel_scope.cancel()
        failed = False
    finally:
        await pipes.close(0.0 if failed else 1.0)


async def _read(pipes: LineProcess, into: MemoryObjectSendStream[SessionMessage | Exception]) -> None:
    async with into:
        while (line := await pipes.receive()) is not None:
            try:
                message = SessionMessage(types.JSONRPCMessage.model_validate_json(line))
            except ValidationError:
                log.debug("a server sent a line that is no MCP message: %r", line[:200])
                continue
            await into.send(message)


async def _write(pipes: LineProcess, outof: MemoryObjectReceiveStream[SessionMessage]) -> None:
    async for item in outof:
        await pipes.send(item.message.model_dump_json(by_alias=True, exclude_none=True).encode())


def explain_failure(error: BaseException | None, connection: Connection, pipes: LineProcess) -> str:
    """Say why a server is not available, and what to do about it."""
    error = _first_of(error)
    server = str(connection)
    if isinstance(connection, Program):
        if isinstance(error, TimeoutError):
            return f"{server} did not answer in time: run it in a terminal to see whether it speaks MCP"
        if isinstance(error, FileNotFoundError | NotADirectoryError):
            return f"{server} or its folder was not found: install it, or give its whole path"
        if isinstance(error, OSError):
            reason = (error.strerror or str(error)).lower()
            return f"{server} cannot be started ({reason}): check that it is a program you may run"
        if pipes.oversize is not None:
            return f"{server} sent a message of more than {pipes.oversize.limit} bytes: let it send less"
        if pipes.exit_description is not None:
            return f"{pipes.exit_description}; run {server} in a terminal to see more"
    if isinstance(error, httpx.HTTPStatusError):
        code = error.response.status_code
        advice = "check its headers" if code in (401, 403) else "check its address and its type (http or sse)"
        return f"{server} answered {code}: {advice}"
    if isinstance(error, httpx.TimeoutException | TimeoutError):
        return f"{server} did not answer in time: check that it runs and that its type (http or sse) is right"
    if isinstance(error, NotAllowed):
        return f"{server} may not be called: {error}"
    if isinstance(error, httpx.TransportError):
        return f"{server} cannot be reached: start it, or check its address"
    if isinstance(error, McpError):
        return f"{server} refused: {error.error.message}"
    reason = f": {error}" if error is not None and str(error) else ""
    return f"the connection to {server} was lost{reason}"


def _first_of(error: BaseException | None) -> BaseException | None:
    while isinstance(error, BaseExceptionGroup):
        error = cast("BaseExceptionGroup[BaseException]", error).exceptions[0]
    return error
