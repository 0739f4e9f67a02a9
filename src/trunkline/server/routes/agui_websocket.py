"""AG-UI over a WebSocket: a RunAgentInput in, one frame per event out, then the next run.

Frames are JSON text. ``{"type": "cancel"}`` stops the run that goes on; an input that comes meanwhile waits
its turn. What cannot be run is answered with RUN_ERROR, and the socket stays open for the next one.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import aclosing, suppress

import msgspec
from starlette.routing import BaseRoute, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from trunkline.errors import SessionBusy
from trunkline.frontends.agui.decoder import read_input
from trunkline.frontends.agui.endpoint import AguiRun
from trunkline.protocols.agui import wire
from trunkline.protocols.agui.codes import ErrorCode
from trunkline.server.agents import ServedAgents
from trunkline.server.errors import refusal_of
from trunkline.server.routes.agui import check_scope, options_for
from trunkline.server.security.bodies import check_json
from trunkline.server.security.tokens import access_of

__all__ = ["SocketRoutes"]


class _Control(msgspec.Struct, frozen=True):
    """What a frame says of itself, if it is not an input."""

    type: str = ""


class SocketRoutes:
    """The routes of AG-UI clients on a WebSocket."""

    def __init__(self, exchange: ServedAgents) -> None:
        """Serve the agents of an exchange."""
        self._exchange = exchange

    def routes(self) -> Sequence[BaseRoute]:
        """The addresses, with and without the name of an agent."""
        return [WebSocketRoute("/agui/ws", self.serve), WebSocketRoute("/agui/{agent}/ws", self.serve)]

    async def serve(self, websocket: WebSocket) -> None:
        """Accept, and run what comes in."""
        agent = self._exchange.find(websocket.path_params.get("agent"))
        await self._exchange.open()
        await websocket.accept("trunkline" if "trunkline" in websocket.scope["subprotocols"] else None)
        await _Socket(websocket, self._exchange, agent).serve()


class _Socket:
    """One accepted WebSocket and the runs it carries, one after another."""

    def __init__(self, websocket: WebSocket, exchange: ServedAgents, agent: str) -> None:
        """Run an agent for whoever is at the other end."""
        self._websocket = websocket
        self._exchange = exchange
        self._agent = agent
        self._access = access_of(websocket.scope)
        self._inputs: asyncio.Queue[bytes] = asyncio.Queue(exchange.limits.waiting_frames)
        self._run: AguiRun | None = None
        self._stop = False
        self._stopping: set[asyncio.Task[bool]] = set()

    async def serve(self) -> None:
        """Run what comes in until the other end leaves, or may not stay."""
        listening, working = asyncio.create_task(self._listen()), asyncio.create_task(self._work())
        try:
            await asyncio.wait((listening, working), return_when=asyncio.FIRST_COMPLETED)
        finally:
            tasks = (listening, working, *self._stopping)
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        # An error of ours is the gate's to report; that the other end left is none.
        with suppress(WebSocketDisconnect):
            if not working.cancelled():
                working.result()
            if not listening.cancelled() and (farewell := listening.result()) is not None:
                await self._websocket.close(*farewell)

    async def _listen(self) -> tuple[int, str] | None:
        """Take frames; give why the socket is to be closed, unless the other end did that."""
        while True:
            message = await self._websocket.receive()
            if message["type"] == "websocket.disconnect":
                return None
            text: str | None = message.get("text")
            if text is None:
                return 1003, "send JSON as text"
            if len(text) > self._exchange.limits.body_bytes:
                return 1009, "the frame is too large"
            frame = text.encode()
            if len(frame) < 256 and _is_cancel(frame):
                if "prompt" not in self._access.scopes:
                    return 1008, "this token may not cancel"
                self._cancel()
                continue
            try:
                self._inputs.put_nowait(frame)
            except asyncio.QueueFull:
                return 1008, "too many inputs wait already"

    def _cancel(self) -> None:
        run = self._run
        if run is None:
            # It may be about to begin; then it ends at once.
            self._stop = True
            return
        task = asyncio.create_task(run.session.cancel(by=f"agui:{self._access.principal}"))
        self._stopping.add(task)
        task.add_done_callback(self._stopping.discard)

    async def _work(self) -> None:
        while True:
            frame = await self._inputs.get()
            self._stop = False
            try:
                run = await self._open(frame)
            except Exception as error:
                await self._send([_refused(error)])
                continue
            self._run = run
            self._exchange.begin(run)
            if self._stop:
                self._cancel()
            try:
                async with aclosing(aiter(run)) as batches:
                    async for _, events in batches:
                        await self._send(events)
            finally:
                self._run = None
                self._exchange.end(run)
                await run.close()

    async def _open(self, frame: bytes) -> AguiRun:
        limits = self._exchange.limits
        check_json(frame, limits)
        told = read_input(frame, most=limits.messages)
        check_scope(told, self._access)
        principal = self._access.principal
        endpoint = await self._exchange.agui(self._agent, told.thread_id, principal)
        options = options_for(self._websocket, self._exchange.options)
        return await endpoint.open(told, principal=principal, options=options, starter=self._access.starter)

    async def _send(self, events: list[wire.AguiEvent]) -> None:
        for event in events:
            await self._websocket.send_text(wire.encode(event).decode())


def _is_cancel(frame: bytes) -> bool:
    try:
        return msgspec.json.decode(frame, type=_Control).type == "cancel"
    except msgspec.DecodeError:
        return False


def _refused(error: Exception) -> wire.RunError:
    refusal = refusal_of(error)
    if isinstance(error, SessionBusy):
        code = ErrorCode.SESSION_BUSY
    else:
        code = ErrorCode.INTERNAL_ERROR if refusal.status >= 500 else ErrorCode.INVALID_INPUT
    return wire.RunError(message=refusal.message, code=code)
