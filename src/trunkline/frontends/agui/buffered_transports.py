"""Transports whose reader may be slow, silent, or gone."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine
from typing import Any, Self, cast

from trunkline.errors import ConfigurationError, TrunklineError
from trunkline.frontends.agui.decoder import read_input
from trunkline.frontends.agui.event_queue import EventQueue
from trunkline.frontends.agui.options import AguiOptions
from trunkline.protocols.agui import wire
from trunkline.protocols.agui.codes import ErrorCode, code_for
from trunkline.transports.event_loops import running_loop

log = logging.getLogger("trunkline.agui")

_GOODBYE = 5.0  # seconds for the last words
_MOST_UNREAD = 16  # messages of a client that wait to be read

# Whoever started a run may have forgotten it by now: the loop alone does not keep a task.
_RUNNING: set[asyncio.Future[Any]] = set()


class BufferedTransport:
    """What transports with a reader have in common."""

    def __init__(
        self, frame: Callable[[wire.AguiEvent], bytes], options: AguiOptions, *, runs: bool = False
    ) -> None:
        """Frame events; ``runs`` is for a transport that carries one run after the other."""
        self._queue = EventQueue(
            frame, high_water_mark=options.high_water_mark, coalesce=options.coalesce, runs=runs
        )
        self._options = options
        self._listeners: dict[Callable[[], object], asyncio.AbstractEventLoop] = {}
        self._gone = False
        self._complained = False

    def emit(self, event: wire.AguiEvent, /) -> None:
        """Take an event, from any thread; never waits and never raises."""
        try:
            self._queue.put(event)
        except Exception as error:
            if not self._complained:
                self._complained = True
                log.warning("an event could not be written: %s", error)
        if self._queue.dropped:
            self._leave("it does not read")

    def is_connected(self) -> bool:
        """Whether more can be sent."""
        return not (self._gone or self._queue.closed)

    async def drained(self) -> None:
        """Wait for a reader that is behind, for a while."""
        await self._queue.drained()

    def when_gone(self, listener: Callable[[], object]) -> Callable[[], None]:
        """Call back, in this loop, when the client leaves; give a function that takes this back.

        With the policy ``continue`` it is not called: the run goes on without a reader.
        """
        loop = asyncio.get_running_loop()
        self._listeners[listener] = loop
        if self._gone:
            # The client left before this call: without it the run would go on to its end.
            loop.call_soon(self._tell)
        return lambda: cast("None", self._listeners.pop(listener, None))

    def attach(self, run: Awaitable[Any]) -> Self:
        """Run this for the client: it is cancelled when the client leaves, if that is the policy.

        What it raises is logged, and told to the client if the run itself could not.
        """
        self._follow(run)
        return self

    def _follow(self, run: Awaitable[Any]) -> asyncio.Future[Any]:
        task: asyncio.Future[Any] = asyncio.ensure_future(run)
        _RUNNING.add(task)
        ends = self._queue.ends
        forget = self.when_gone(lambda: cancel_once(task))

        def conclude(task: asyncio.Future[Any]) -> None:
            _RUNNING.discard(task)
            forget()
            self._conclude(task, has_ended=self._queue.ends > ends)

        task.add_done_callback(conclude)
        return task

    def _conclude(self, task: asyncio.Future[Any], *, has_ended: bool) -> None:
        error = None if task.cancelled() else task.exception()
        if error is not None:
            log.warning("a run failed: %s", error, exc_info=error)
        if has_ended:
            return
        if task.cancelled():
            self.emit(wire.RunError(message="the run was cancelled", code=ErrorCode.CANCELLED))
        elif isinstance(error, TrunklineError):
            self.emit(wire.RunError(message=str(error), code=code_for(error.code)))
        elif error is not None:
            message = "the run failed; the server's log says why"
            self.emit(wire.RunError(message=message, code=ErrorCode.AGENT_EXECUTION_ERROR))
        else:
            self._end_silently()

    def _end_silently(self) -> None:
        """A run is over that never said a word."""

    def _leave(self, why: str) -> None:
        """Call the listeners, once: the client is gone."""
        if self._gone:
            return
        self._gone = True
        log.debug("an AG-UI client is gone: %s", why)
        self._tell()

    def _tell(self) -> None:
        listeners, self._listeners = self._listeners, {}
        if self._options.on_disconnect == "cancel":
            for listener, loop in listeners.items():
                with contextlib.suppress(RuntimeError):  # Its loop is closed, and with it all that ran there.
                    loop.call_soon_threadsafe(listener)


class StreamTransport(BufferedTransport):
    """The body of a response: iterate it for bytes until the run is over."""

    def __init__(
        self, media_type: str, frame: Callable[[wire.AguiEvent], bytes], silence: bytes, options: AguiOptions
    ) -> None:
        """Made by ``sse_transport`` and ``http_transport``; ``silence`` is a sign of life, or empty."""
        super().__init__(frame, options)
        self.media_type = media_type
        self.headers = {"cache-control": "no-cache", "x-accel-buffering": "no"}
        self._silence = silence
        self._has_reader = False

    async def __aiter__(self) -> AsyncGenerator[bytes]:
        """Give the frames as they come, and a sign of life when there are none for a while."""
        if self._has_reader:
            raise RuntimeError("a stream has one reader: make a transport for each run")
        self._has_reader = True
        outbox = self._queue
        try:
            while not outbox.over:
                if frames := outbox.take():
                    yield b"".join(frames)
                elif not await outbox.wait(self._options.keep_alive) and self._silence:
                    yield self._silence
        finally:
            if not outbox.over:
                outbox.detach()
                self._leave("it left")

    async def disconnect(self) -> None:
        """End the stream; whatever was said before can still be read."""
        if not self._queue.closed:
            self._queue.close()
            self._leave("it was disconnected")

    def _end_silently(self) -> None:
        self._queue.close()


class WebSocketTransport(BufferedTransport):
    """Sends events on a WebSocket, one run after the other.

    With the policy ``continue`` a run goes on when the socket is closed, and its events wait for the next
    socket of the client: ``reconnect``.
    """

    def __init__(self, websocket: Any, options: AguiOptions) -> None:
        """Made by ``websocket_transport``."""
        self._use(websocket)
        try:
            self.loop = asyncio.get_running_loop()
        except RuntimeError:
            raise ConfigurationError(
                "make the transport in the function that serves the WebSocket: no event loop runs here"
            ) from None
        super().__init__(wire.encode, options, runs=True)
        self._pump: asyncio.Task[None] | None = None

    def _use(self, websocket: Any) -> None:
        send: Any = getattr(websocket, "send_text", None) or getattr(websocket, "send", None)
        if not callable(send):
            raise ConfigurationError(
                "a WebSocket has an async send_text or send, and this object has neither"
            )
        self._send = cast("Callable[[str], Coroutine[Any, Any, Any]]", send)
        self._receive: Any = getattr(websocket, "receive_text", None) or getattr(websocket, "recv", None)
        self._away = False

    def reconnect(self, websocket: Any) -> None:
        """Go on with another socket of the same client: it gets what waits, and everything from here on."""
        self._use(websocket)
        self._start()

    async def serve(self, run: Callable[[wire.RunAgentInput], Awaitable[Any]]) -> None:
        """Call ``run`` with each request of the client, one after the other, until the client leaves.

        A frame that is no request, or a run that raises, is logged and is a RUN_ERROR for the client; the
        socket stays open.
        """

        async def answer(message: str | bytes) -> None:
            await run(read_input(message))

        async for message in self.messages():
            task = self._follow(answer(message))
            try:
                await asyncio.wait({task})
            except asyncio.CancelledError:
                cancel_once(task)
                raise

    async def messages(self) -> AsyncGenerator[str | bytes]:
        """Give what the client sends, until it leaves; ``serve`` carries it out, too.

        It reads on while a run goes on: a closed socket is noticed at once, and cancels the run if that is
        the policy.
        """
        receive = self._receive
        if receive is None:
            raise ConfigurationError("a WebSocket that is read has an async receive_text or recv")
        received: asyncio.Queue[str | bytes | None] = asyncio.Queue(_MOST_UNREAD)
        reading = asyncio.ensure_future(self._read(receive, received))
        try:
            while (message := await received.get()) is not None:
                yield message
        finally:
            reading.cancel()

    async def _read(self, receive: Any, received: asyncio.Queue[str | bytes | None]) -> None:
        try:
            while True:
                await received.put(await receive())
        except Exception as error:
            if receive == self._receive:  # Another socket may have taken its place.
                self._lose(error)
            await received.put(None)

    def emit(self, event: wire.AguiEvent, /) -> None:
        """Take an event, from any thread; never waits and never raises."""
        super().emit(event)
        if running_loop() is self.loop:
            self._start()
        else:
            with contextlib.suppress(RuntimeError):  # The loop is closed, and the socket with it.
                self.loop.call_soon_threadsafe(self._start)

    async def drained(self) -> None:
        """Wait for a reader that is behind, for a while; nobody waits for one that is away."""
        if not self._away:
            await super().drained()

    def _start(self) -> None:
        if self._pump is None and not self._away and not self._queue.empty:
            self._pump = self.loop.create_task(self._send_all(self._send))

    async def _send_all(self, send: Callable[[str], Coroutine[Any, Any, Any]]) -> None:
        frames: list[bytes] = []
        lost: Exception | None = None
        try:
            while send == self._send and (frames := frames or self._queue.take()):
                await send(frames[0].decode())
                del frames[0]
        except Exception as error:
            lost = error
        self._pump = None
        self._queue.put_back(frames)
        if lost is not None and send == self._send:
            self._lose(lost)
        self._start()

    def _lose(self, error: Exception) -> None:
        """Note that the socket is closed."""
        self._away = True
        if self._options.on_disconnect == "cancel":
            self._queue.detach()
            self._leave(str(error) or type(error).__name__)

    async def disconnect(self) -> None:
        """Send the last words, and take no more; a run that is on its way has lost its reader."""
        self._queue.close()
        self._leave("it was disconnected")
        if self._pump is not None:
            await asyncio.wait({self._pump}, timeout=_GOODBYE)


def cancel_once(task: asyncio.Future[Any]) -> None:
    """Cancel a task, unless it is on its way out already: a second cancel would cut its last words off."""
    if not (isinstance(task, asyncio.Task) and task.cancelling()):
        task.cancel()
