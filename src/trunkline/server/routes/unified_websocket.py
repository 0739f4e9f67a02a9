"""UnifiedMessage over a WebSocket: ``/unified/{session}``, any number of clients on one session.

Frames are JSON text. Every message that a client sends is answered with one ``control_response``. A client
that leaves leaves the turn running; it comes back with ``?from=N`` (a record) or ``?after=CURSOR``.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from contextlib import aclosing, suppress

from starlette.routing import BaseRoute, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from trunkline.commands import Cancel, Prompt, SetConfig
from trunkline.cursor import Cursor
from trunkline.errors import PeerError, SessionNotFound
from trunkline.frontends.unified.client_messages import read_frame
from trunkline.frontends.unified.decoder import Initialize, Request
from trunkline.frontends.unified.endpoint import UnifiedConnection, new_message_id
from trunkline.frontends.unified.options import UnifiedOptions
from trunkline.protocols.unified.wire import UnifiedMessage, encode
from trunkline.server.agents import ServedAgents
from trunkline.server.errors import HttpError, refusal_of
from trunkline.server.routes.error_details import redacted_options
from trunkline.server.routes.websocket_frames import Close, Stalled, close_reason, receive_text, send_text
from trunkline.server.security.bodies import find_fault
from trunkline.server.security.command_scopes import COMMAND_SCOPES
from trunkline.server.security.tokens import access_of
from trunkline.session.session import Session

_CAPABILITIES = {
    "streaming": True,
    "permissions": True,
    "slashCommands": True,
    "availability": "both",
    "teams": False,
}


class UnifiedRoutes:
    """The route of clients that speak UnifiedMessage."""

    def __init__(self, agents: ServedAgents, options: UnifiedOptions | None = None) -> None:
        self._agents = agents
        self._options = options or UnifiedOptions()

    def routes(self) -> Sequence[BaseRoute]:
        """Give the address."""
        return [WebSocketRoute("/unified/{session_id:path}", self.serve)]

    async def serve(self, websocket: WebSocket) -> None:
        """Find the session and the place, accept, and serve until either side closes."""
        access_of(websocket.scope).need("follow")
        opening = asyncio.create_task(
            self._open(websocket, *_place(websocket)), name="trunkline opens a session"
        )
        try:
            # Clients give up a handshake that takes long. What is refused in time has a status of its own.
            await asyncio.wait({opening}, timeout=self._agents.limits.open_seconds)
            if opening.done():
                opening.result()
            await websocket.accept("trunkline" if "trunkline" in websocket.scope["subprotocols"] else None)
            try:
                connection = await opening
            except Exception as error:
                with suppress(WebSocketDisconnect, RuntimeError):
                    await websocket.close(1011, close_reason(refusal_of(error).message))
                return
        finally:
            opening.cancel()
        self._agents.add_run(connection)
        try:
            await _UnifiedWebSocket(websocket, connection, self._agents).serve()
        finally:
            self._agents.remove_run(connection)

    async def _open(
        self, websocket: WebSocket, from_seq: int | None, after: Cursor | None
    ) -> UnifiedConnection:
        """Find the session and the place; its agent may have to be started first."""
        return await UnifiedConnection.open(
            await self._session(websocket),
            from_seq=from_seq,
            after=after,
            by=f"unified:{access_of(websocket.scope).principal}",
            options=redacted_options(self._options, websocket),
            capabilities=_CAPABILITIES,
        )

    async def _session(self, websocket: WebSocket) -> Session:
        """Give the session; ``?create=1`` makes one that does not exist, for the agent of ``?agent=``."""
        access = access_of(websocket.scope)
        session_id: str = websocket.path_params["session_id"]
        query = websocket.query_params
        if not session_id:
            raise SessionNotFound("the address names no session: use /unified/SESSION")
        if query.get("create") not in ("1", "true"):
            try:
                hub, _ = await self._agents.hub_of_session(session_id, access.principal)
                return await hub.session(session_id, principal=access.principal)
            except SessionNotFound as error:
                raise SessionNotFound(f"{error}: add ?create=1 to the address to make it") from None
        access.need("prompt")
        hub = await self._agents.hub_for(query.get("agent"), session_id, access.principal)
        try:
            return await hub.session(session_id, principal=access.principal)
        except SessionNotFound:
            return await hub.create(session_id, principal=access.principal)


def _place(websocket: WebSocket) -> tuple[int | None, Cursor | None]:
    query = websocket.query_params
    wanted, last = query.get("from"), query.get("after") or websocket.headers.get("last-event-id")
    if wanted is not None and last is not None:
        raise PeerError("from and after name two places: send one of them")
    if last is not None:
        return None, Cursor.parse(last)
    if wanted is None:
        return None, None
    if not (wanted.isascii() and wanted.isdecimal() and len(wanted) < 19):
        raise PeerError(f"from is {wanted[:40]!r}: give the seq of a message, a whole number")
    return int(wanted), None


class _UnifiedWebSocket:
    """One accepted WebSocket."""

    def __init__(self, websocket: WebSocket, connection: UnifiedConnection, agents: ServedAgents) -> None:
        self._websocket = websocket
        self._connection = connection
        self._limits = agents.limits
        self._agents = agents
        self._access = access_of(websocket.scope)
        self._waiting: asyncio.Queue[tuple[UnifiedMessage, Request]] = asyncio.Queue(
            self._limits.waiting_frames
        )
        self._beside: set[asyncio.Task[None]] = set()
        """Answers and interrupts, which do not wait for what came before them."""
        self._starting: Prompt | None = None
        self._interrupted = False

    async def serve(self) -> None:
        """Show and carry out, until either side closes."""
        main = (
            asyncio.create_task(self._send()),
            asyncio.create_task(self._receive()),
            asyncio.create_task(self._carry_out_waiting()),
        )
        try:
            done, _ = await asyncio.wait(main, return_when=asyncio.FIRST_COMPLETED)
        finally:
            tasks = (*main, *self._beside)
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        # The gate reports an error of ours; a client that left is no error.
        with suppress(WebSocketDisconnect):
            for task in done:
                if (close := task.result()) is not None:
                    await self._websocket.close(*close)
                    return

    # -- out ---------------------------------------------------------------------------------------

    async def _send(self) -> Close:
        """Send what the client is shown; a client that takes nothing for too long is dropped."""
        limits = self._limits
        batches = self._connection.messages(keep_alive=limits.keep_alive_seconds)
        async with aclosing(batches):
            async for batch in batches:
                for message in batch:
                    try:
                        await send_text(self._websocket, encode(message).decode(), limits)
                    except Stalled:
                        return Close(1008, "nothing was read for too long: come back with after=CURSOR")
        return Close(1001, "the session was closed here: come back with after=CURSOR")

    # -- in ----------------------------------------------------------------------------------------

    async def _receive(self) -> Close | None:
        """Take frames; give the code and the reason to close with, unless the client has closed."""
        while True:
            text = await receive_text(self._websocket, self._limits)
            if not isinstance(text, str):
                return text
            if (close := await self._take(text.encode())) is not None:
                return close

    async def _take(self, frame: bytes) -> Close | None:
        connection = self._connection
        message: UnifiedMessage | None = None
        try:
            if (fault := find_fault(frame, self._limits)) is not None:
                raise HttpError(*fault)
            message = read_frame(frame, id=new_message_id(), at=int(time.time() * 1000))
            if message is None:
                return None
            request = connection.read(message)
            self._access.need("follow" if isinstance(request, Initialize) else COMMAND_SCOPES[type(request)])
        except (PeerError, HttpError) as error:
            refused = PeerError(error.message) if isinstance(error, HttpError) else error
            await connection.tell(*connection.failure(message, refused))
            return None
        if isinstance(request, Prompt | SetConfig):
            try:
                self._waiting.put_nowait((message, request))
            except asyncio.QueueFull:
                return Close(1008, "too many messages wait already")
            return None
        if len(self._beside) >= self._limits.waiting_frames:
            return Close(1008, "too many messages wait already")
        if isinstance(request, Cancel) and self._starting is not None:
            # Its agent is still being started: the turn is cancelled as soon as it begins.
            self._interrupted = True
        task = asyncio.create_task(self._carry_out(message, request))
        self._beside.add(task)
        task.add_done_callback(self._beside.discard)
        return None

    async def _carry_out_waiting(self) -> None:
        """Carry out messages and changes of options one after another, in their order."""
        while True:
            message, request = await self._waiting.get()
            self._interrupted = False
            self._starting = request if isinstance(request, Prompt) else None
            try:
                await self._carry_out(message, request)
            finally:
                self._starting = None

    async def _carry_out(self, message: UnifiedMessage, request: Request) -> None:
        connection = self._connection
        try:
            result = await connection.carry_out(request)
            if isinstance(request, Prompt) and self._interrupted and result.get("turn_id"):
                await connection.carry_out(Cancel(turn_id=result["turn_id"]))
        except Exception as error:
            await connection.tell(*connection.failure(message, error))
        else:
            await connection.tell(connection.success(message, result))
