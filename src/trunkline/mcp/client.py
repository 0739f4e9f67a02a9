"""The client of one server: the wire it speaks over, and what MCP's own client leaves to do.

MCP's client handles one message at a time, so a question to a person would stop the answers to every
other call; and it tells a server nothing when a call of it is given up.
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
from trunkline.mcp.connections import Connection, Program, Site
from trunkline.transports.process.pipes import Pipes

__all__ = ["HeldClient", "Wire", "explain_failure", "open_wire"]

log = logging.getLogger("trunkline.mcp")

_CONNECT = 30.0
# A question may be open for an hour, and nothing may come over the stream meanwhile.
_QUIET = 3700.0

Received = MemoryObjectReceiveStream[SessionMessage | Exception]
Sent = MemoryObjectSendStream[SessionMessage]


class HeldClient(ClientSession):
    """A client that goes on listening while it answers its server."""

    lost: asyncio.Event

    async def __aenter__(self) -> HeldClient:
        """Begin to listen."""
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
        self._task_group.start_soon(self._attend, responder)

    async def _attend(self, responder: RequestResponder[types.ServerRequest, types.ClientResult]) -> None:
        try:
            await super()._received_request(responder)
        except Exception:
            # The wire broke while a person was thinking, or the answer was not one: its call fails by itself.
            log.debug("a server's request could not be answered", exc_info=True)

    async def call(self, tool: str, arguments: dict[str, Any], progress: ProgressFnT) -> types.CallToolResult:
        """Call a tool; a call that is given up is taken back."""
        request_id = self._request_id
        try:
            return await self.call_tool(tool, arguments, progress_callback=progress)
        except asyncio.CancelledError:
            if not self.lost.is_set():
                self._task_group.start_soon(self._take_back, request_id)
            raise

    async def _take_back(self, request_id: int) -> None:
        params = types.CancelledNotificationParams(requestId=request_id, reason="the call was cancelled")
        note = types.ClientNotification(types.CancelledNotification(params=params))
        try:
            await self.send_notification(note)
        except Exception:
            log.debug("a call could not be taken back", exc_info=True)


class Wire:
    """The two streams of a connection, and the process behind them if we started it."""

    def __init__(self, received: Received, sent: Sent, pipes: Pipes | None = None) -> None:
        """Join two streams."""
        self.received = received
        self.sent = sent
        self.pipes = pipes


@asynccontextmanager
async def open_wire(connection: Connection, pipes: Pipes, folder: str | None) -> AsyncGenerator[Wire]:
    """Reach a server; a program runs behind ``pipes`` until this block is left."""
    if isinstance(connection, Program):
        async with _piped(connection, pipes, folder) as wire:
            yield wire
    elif connection.sse:
        make = partial(_make_client, connection)
        async with sse_client(connection.url, connection.headers, _CONNECT, _QUIET, make) as (received, sent):
            yield Wire(received, sent)
    else:
        async with _streamed(connection) as wire:
            yield wire


def _make_client(
    site: Site,
    headers: dict[str, str] | None = None,
    timeout: httpx.Timeout | None = None,
    auth: httpx.Auth | None = None,
) -> httpx.AsyncClient:
    if site.reach is None:
        return httpx.AsyncClient(headers=headers, timeout=timeout, auth=auth)
    # A proxy of the environment would call what we may not.
    transport = CheckedTransport(Outbound(site.reach))
    return httpx.AsyncClient(
        headers=headers, timeout=timeout, auth=auth, transport=transport, trust_env=False
    )


@asynccontextmanager
async def _streamed(site: Site) -> AsyncGenerator[Wire]:
    timeout = httpx.Timeout(_CONNECT, read=_QUIET)
    async with (
        _make_client(site, site.headers, timeout) as http,
        streamable_http_client(site.url, http_client=http) as (received, sent, _),
    ):
        yield Wire(received, sent)


@asynccontextmanager
async def _piped(program: Program, pipes: Pipes, folder: str | None) -> AsyncGenerator[Wire]:
    await pipes.start(program, folder)
    hurry = True
    try:
        into, received = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        sent, outof = anyio.create_memory_object_stream[SessionMessage](0)
        async with into, received, sent, outof, anyio.create_task_group() as pumps:
            pumps.start_soon(_read, pipes, into)
            pumps.start_soon(_write, pipes, outof)
            yield Wire(received, sent, pipes)
            pumps.cancel_scope.cancel()
        hurry = False
    finally:
        await pipes.end(0.0 if hurry else 1.0)


async def _read(pipes: Pipes, into: MemoryObjectSendStream[SessionMessage | Exception]) -> None:
    async with into:
        while (line := await pipes.receive()) is not None:
            try:
                message = SessionMessage(types.JSONRPCMessage.model_validate_json(line))
            except ValidationError:
                log.debug("a server said something that is no message: %r", line[:200])
                continue
            await into.send(message)


async def _write(pipes: Pipes, outof: MemoryObjectReceiveStream[SessionMessage]) -> None:
    async for item in outof:
        await pipes.send(item.message.model_dump_json(by_alias=True, exclude_none=True).encode())


def explain_failure(error: BaseException | None, connection: Connection, pipes: Pipes) -> str:
    """Say why a server is not there, and what to do about it."""
    error = _first_of(error)
    what = str(connection)
    if isinstance(connection, Program):
        if isinstance(error, TimeoutError):
            return f"{what} did not answer in time: run it in a terminal to see whether it speaks MCP"
        if isinstance(error, FileNotFoundError | NotADirectoryError):
            return f"{what} or its folder was not found: install it, or give its whole path"
        if isinstance(error, OSError):
            reason = (error.strerror or str(error)).lower()
            return f"{what} cannot be started ({reason}): check that it is a program you may run"
        if pipes.oversize is not None:
            return f"{what} sent a message of more than {pipes.oversize.limit} bytes: let it send less"
        if pipes.epitaph is not None:
            return f"{pipes.epitaph}; run {what} in a terminal to see more"
    if isinstance(error, httpx.HTTPStatusError):
        code = error.response.status_code
        advice = "check its headers" if code in (401, 403) else "check its address and its type (http or sse)"
        return f"{what} answered {code}: {advice}"
    if isinstance(error, httpx.TimeoutException | TimeoutError):
        return f"{what} did not answer in time: check that it runs and that its type (http or sse) is right"
    if isinstance(error, NotAllowed):
        return f"{what} may not be called: {error}"
    if isinstance(error, httpx.TransportError):
        return f"{what} cannot be reached: start it, or check its address"
    if isinstance(error, McpError):
        return f"{what} refused: {error.error.message}"
    words = f": {error}" if error is not None and str(error) else ""
    return f"the connection to {what} was lost{words}"


def _first_of(error: BaseException | None) -> BaseException | None:
    while isinstance(error, BaseExceptionGroup):
        error = cast("BaseExceptionGroup[BaseException]", error).exceptions[0]
    return error
