"""The AI SDK over a WebSocket, for its ``WebSocketChatTransport``: several responses on one connection.

A client sends ``send``, ``resume`` and ``abort`` with a ``requestId``, and gets ``start``, ``chunk`` with a
``sequence``, and ``end``, ``no-active`` or ``error`` with the same one
(https://github.com/vercel/ai/blob/main/packages/ai/src/ui/websocket-chat-transport.ts, 7.0.169). To abort is
to leave: the turn goes on, as it does when the connection is lost.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import aclosing, suppress
from typing import Any, Literal, NamedTuple

import msgspec
from starlette.routing import BaseRoute, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from trunkline.errors import InvalidCommand
from trunkline.frontends.aisdk.decoder import read_chat_request
from trunkline.frontends.aisdk.run import AisdkResponse
from trunkline.protocols.aisdk.wire import Chunk, VersionNumber, encode
from trunkline.server.errors import refusal_of
from trunkline.server.routes.aisdk_chats import AisdkChats
from trunkline.server.routes.aisdk_sequences import ChatKey, SequenceLog, SequenceLogs
from trunkline.server.routes.websocket_frames import Close, Stalled, close_reason, receive_text, send_text
from trunkline.server.security.bodies import check_json
from trunkline.server.security.tokens import access_of

_LONGEST_ID = 256
_STALLED = Close(1008, "nothing was read for too long: resume")


class _Frame(msgspec.Struct, frozen=True, rename="camel"):
    """A frame of a client; what is in a message is read by the decoder."""

    type: Literal["send", "resume", "abort"]
    request_id: str
    id: str = ""
    trigger: Any = "submit-message"
    message_id: Any = None
    messages: list[Any] = []
    body: dict[str, Any] = {}
    last_sequence: int | None = None


class _Opened(NamedTuple):
    """What a request is shown: chunks that were sent before, and the rest; and the first one's number."""

    shown: AisdkResponse | None
    rest: list[Chunk]
    first: int
    log: SequenceLog


class AisdkWebSocketRoutes:
    """The routes of pages on a WebSocket."""

    def __init__(self, chats: AisdkChats) -> None:
        self._chats = chats
        self._logs = SequenceLogs()

    def routes(self) -> Sequence[BaseRoute]:
        """Give the addresses, with and without the name of an agent."""
        return [
            WebSocketRoute("/api/chat/ws", self.serve),
            WebSocketRoute("/api/chat/{agent}/ws", self.serve),
        ]

    async def serve(self, websocket: WebSocket) -> None:
        """Accept, and answer what comes in."""
        agents = self._chats.agents
        agent = agents.resolve_name(websocket.path_params.get("agent"))
        version = self._chats.version_for(websocket)
        await agents.open()
        await websocket.accept("trunkline" if "trunkline" in websocket.scope["subprotocols"] else None)
        await _AisdkWebSocket(websocket, self._chats, self._logs, agent, version).serve()


class _AisdkWebSocket:
    """One accepted WebSocket and the responses it carries, side by side."""

    def __init__(
        self,
        websocket: WebSocket,
        chats: AisdkChats,
        logs: SequenceLogs,
        agent: str,
        version: VersionNumber,
    ) -> None:
        self._websocket = websocket
        self._chats = chats
        self._logs = logs
        self._limits = chats.agents.limits
        self._agent = agent
        self._version: VersionNumber = version
        self._access = access_of(websocket.scope)
        self._requests: dict[str, asyncio.Task[None]] = {}
        self._sending = asyncio.Lock()
        self._stalled = asyncio.Event()

    async def serve(self) -> None:
        """Answer until the client leaves, may not stay, or takes nothing for too long."""
        receiving = asyncio.create_task(self._receive())
        stalling = asyncio.create_task(self._stalled.wait())
        try:
            await asyncio.wait({receiving, stalling}, return_when=asyncio.FIRST_COMPLETED)
            close = receiving.result() if receiving.done() else _STALLED
        finally:
            tasks: list[asyncio.Task[Any]] = [receiving, stalling, *self._requests.values()]
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        if close is not None:
            with suppress(WebSocketDisconnect, RuntimeError):
                await self._websocket.close(*close)

    async def _receive(self) -> Close | None:
        """Take frames; give the code and the reason to close with, unless the client has closed."""
        while True:
            text = await receive_text(self._websocket, self._limits)
            if not isinstance(text, str):
                return text
            try:
                frame = self._read(text.encode())
            except Exception as error:
                return Close(1007, close_reason(refusal_of(error).message))
            if frame.type == "abort":
                if (task := self._requests.get(frame.request_id)) is not None:
                    task.cancel()
            elif frame.request_id in self._requests:
                return Close(1007, "a request with this requestId is under way")
            elif len(self._requests) >= self._limits.waiting_frames:
                await self._send({"type": "error", "errorText": "too many requests are under way"}, frame)
            else:
                task = asyncio.create_task(self._answer(frame), name="trunkline response")
                self._requests[frame.request_id] = task
                task.add_done_callback(lambda _, name=frame.request_id: self._requests.pop(name, None))

    def _read(self, text: bytes) -> _Frame:
        check_json(text, self._limits)
        try:
            frame = msgspec.json.decode(text, type=_Frame)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise InvalidCommand(f"the frame is none of send, resume and abort: {error}") from None
        if not 0 < len(frame.request_id) <= _LONGEST_ID:
            raise InvalidCommand(f"requestId must be a text of 1 to {_LONGEST_ID} characters")
        return frame

    async def _answer(self, frame: _Frame) -> None:
        with suppress(WebSocketDisconnect):
            try:
                opened = await self._open(frame)
            except Exception as error:
                await self._send({"type": "error", "errorText": refusal_of(error).message}, frame)
                return
            if opened is None:
                await self._send({"type": "no-active"}, frame)
                return
            try:
                await self._send({"type": "start"}, frame)
                sequence = await self._send_chunks(opened.rest, frame, opened.first)
                if opened.shown is not None:
                    await self._show(opened.shown, opened.log, frame, sequence)
            finally:
                if opened.shown is not None:
                    await opened.shown.close()
            await self._send({"type": "end"}, frame)

    async def _open(self, frame: _Frame) -> _Opened | None:
        """Open what a frame asks for; None when there is nothing to show."""
        chats, websocket = self._chats, self._websocket
        if frame.type == "send":
            given = {**frame.body, "id": frame.id, "messages": frame.messages, "trigger": frame.trigger}
            if frame.message_id is not None:
                given["messageId"] = frame.message_id
            wanted = read_chat_request(given, most=self._limits.messages)
            opening = chats.open(wanted, self._agent, websocket, version=self._version)
            shown = await chats.opened(opening)
        else:
            self._access.need("follow")
            if frame.last_sequence is not None:
                return await self._go_on(frame, frame.last_sequence)
            lacks = frame.body.get("turnId")
            if lacks is not None and not isinstance(lacks, str):
                raise InvalidCommand("turnId must be a text: the id of the assistant's message")
            shown = await chats.resume(self._agent, frame.id, websocket, version=self._version, lacks=lacks)
        if shown is None:
            return None
        return _Opened(shown, [], 0, self._logs.begin(self._key(frame), shown.turn_id))

    async def _go_on(self, frame: _Frame, last: int) -> _Opened:
        """Go on after a chunk that the client has."""
        place = self._logs.find(self._key(frame), last)
        if place is None:
            raise InvalidCommand(f"what followed chunk {last} is not known any more: leave lastSequence out")
        shown = await self._chats.go_on(
            self._agent, frame.id, self._websocket, place.start, version=self._version
        )
        return _Opened(shown, place.rest, last + 1, place.log)

    async def _show(self, shown: AisdkResponse, log: SequenceLog, frame: _Frame, sequence: int) -> None:
        agents = self._chats.agents
        agents.add_run(shown)
        try:
            async with aclosing(aiter(shown)) as batches:
                async for batch in batches:
                    # Noted first: of a batch that is lost on its way the client has less than we know.
                    log.add(shown.turn_id, batch)
                    sequence = await self._send_chunks(batch[1], frame, sequence)
        finally:
            agents.remove_run(shown)

    async def _send_chunks(self, chunks: list[Chunk], frame: _Frame, sequence: int) -> int:
        for chunk in chunks:
            await self._send({"type": "chunk", "sequence": sequence, "chunk": chunk}, frame)
            sequence += 1
        return sequence

    async def _send(self, answer: dict[str, Any], frame: _Frame) -> None:
        async with self._sending:
            text = encode({**answer, "requestId": frame.request_id}).decode()
            try:
                await send_text(self._websocket, text, self._limits)
            except Stalled as error:
                self._stalled.set()
                raise WebSocketDisconnect from error
            except RuntimeError as error:
                # Starlette's word for a connection that we have closed already.
                raise WebSocketDisconnect from error

    def _key(self, frame: _Frame) -> ChatKey:
        return self._access.principal, frame.id
