"""AG-UI over a WebSocket: a RunAgentInput in, one frame per event out, then the next run.

Frames are JSON text. ``{"type": "cancel"}`` cancels the present run; an input that comes meanwhile waits.
What cannot be run is answered with RUN_ERROR, and the socket stays open for the next input.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import aclosing, suppress

import msgspec
from starlette.routing import BaseRoute, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from trunkline.frontends.agui.decoder import read_input
from trunkline.frontends.agui.endpoint import AguiRun
from trunkline.protocols.agui import wire
from trunkline.server.routes.agui_runs import AguiRuns, run_error
from trunkline.server.routes.websocket_frames import Close, Stalled, receive_text, send_text
from trunkline.server.security.bodies import check_json
from trunkline.server.security.tokens import access_of


class _Control(msgspec.Struct, frozen=True):
    """The type of a frame that is not an input."""

    type: str = ""


class AguiWebSocketRoutes:
    """The routes of AG-UI clients on a WebSocket."""

    def __init__(self, runs: AguiRuns) -> None:
        self._runs = runs

    def routes(self) -> Sequence[BaseRoute]:
        """Give the addresses, with and without the name of an agent."""
        return [WebSocketRoute("/agui/ws", self.serve), WebSocketRoute("/agui/{agent}/ws", self.serve)]

    async def serve(self, websocket: WebSocket) -> None:
        """Accept, and run what comes in."""
        agents = self._runs.agents
        agent = agents.resolve_name(websocket.path_params.get("agent"))
        await agents.open()
        await websocket.accept("trunkline" if "trunkline" in websocket.scope["subprotocols"] else None)
        await _AguiWebSocket(websocket, self._runs, agent).serve()


class _AguiWebSocket:
    """One accepted WebSocket and the runs it carries, one after another."""

    def __init__(self, websocket: WebSocket, runs: AguiRuns, agent: str) -> None:
        self._websocket = websocket
        self._runs = runs
        self._limits = runs.agents.limits
        self._agent = agent
        self._access = access_of(websocket.scope)
        self._inputs: asyncio.Queue[bytes] = asyncio.Queue(self._limits.waiting_frames)
        self._run: AguiRun | None = None
        self._cancel_next = False
        self._cancelling: set[asyncio.Task[bool]] = set()

    async def serve(self) -> None:
        """Run what comes in until the client leaves, may not stay, or takes nothing for too long."""
        receiving, running = asyncio.create_task(self._receive()), asyncio.create_task(self._run_inputs())
        try:
            await asyncio.wait((receiving, running), return_when=asyncio.FIRST_COMPLETED)
        finally:
            tasks = (receiving, running, *self._cancelling)
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        # The gate reports an error of ours; a client that left is no error.
        with suppress(WebSocketDisconnect):
            try:
                if not running.cancelled():
                    running.result()
            except Stalled:
                await self._websocket.close(1008, "nothing was read for too long: connect again")
                return
            if not receiving.cancelled() and (close := receiving.result()) is not None:
                await self._websocket.close(*close)

    async def _receive(self) -> Close | None:
        """Take frames; give the code and the reason to close with, unless the client has closed."""
        while True:
            text = await receive_text(self._websocket, self._limits)
            if not isinstance(text, str):
                return text
            frame = text.encode()
            if len(frame) < 256 and _is_cancel(frame):
                if "prompt" not in self._access.scopes:
                    return Close(1008, "this token may not cancel")
                self._cancel()
                continue
            try:
                self._inputs.put_nowait(frame)
            except asyncio.QueueFull:
                return Close(1008, "too many inputs wait already")

    def _cancel(self) -> None:
        run = self._run
        if run is None:
            # A run may be about to begin; it is cancelled then.
            self._cancel_next = True
            return
        task = asyncio.create_task(run.session.cancel(by=f"agui:{self._access.principal}"))
        self._cancelling.add(task)
        task.add_done_callback(self._cancelling.discard)

    async def _run_inputs(self) -> None:
        while True:
            frame = await self._inputs.get()
            self._cancel_next = False
            try:
                run = await self._open(frame)
            except Exception as error:
                await self._send([run_error(error)])
                continue
            self._run = run
            self._runs.agents.add_run(run)
            if self._cancel_next:
                self._cancel()
            try:
                async with aclosing(aiter(run)) as batches:
                    async for _, events in batches:
                        await self._send(events)
            finally:
                self._run = None
                self._runs.agents.remove_run(run)
                await run.close()

    async def _open(self, frame: bytes) -> AguiRun:
        check_json(frame, self._limits)
        wanted = read_input(frame, most=self._limits.messages)
        return await self._runs.open(wanted, self._agent, self._websocket, self._runs.options)

    async def _send(self, events: list[wire.AguiEvent]) -> None:
        for event in events:
            await send_text(self._websocket, wire.encode(event).decode(), self._limits)


def _is_cancel(frame: bytes) -> bool:
    try:
        return msgspec.json.decode(frame, type=_Control).type == "cancel"
    except msgspec.DecodeError:
        return False
