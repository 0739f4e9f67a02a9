"""ACP on stdin and stdout by hand, one message at a time, without sessions or a journal.

For programs that want the wire and nothing else, and for those moving over from a transport of their
own. Methods with a callback are answered by it; everything else waits for ``read_message``::

    async with stdio_transport(on_prompt=answer) as line:
        greeting = await line.read_message()
        line.respond(greeting.id, {"protocolVersion": 1})
        line.emit("session/update", {"sessionId": ..., "update": ...})
        await line.ended()

For an agent that should be able to do more than that there is ``serve_acp``.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Any, Union, cast

import msgspec

from trunkline.protocols.acp import wire
from trunkline.protocols.acp.lossless import decode
from trunkline.protocols.jsonrpc import INTERNAL_ERROR, Id, Notification, Params, Request
from trunkline.protocols.jsonrpc.connection import Connection
from trunkline.transports.stdio import StdioTransport

__all__ = ["ManualConnection", "Unhandled", "stdio_transport"]

log = logging.getLogger("trunkline.acp")

_MOST_UNREAD = 1024

Unhandled = Union[Request, Notification]
"""A message without a callback; a request among them wants ``respond`` or ``send_error``."""

Callback = Callable[[Any], Awaitable[Any]]


def stdio_transport(
    *,
    session_id: str | None = None,
    on_prompt: Callable[[wire.PromptRequest], Awaitable[Any]] | None = None,
    on_cancel: Callable[[wire.CancelNotification], Awaitable[Any]] | None = None,
    on_set_mode: Callable[[wire.SetSessionModeRequest], Awaitable[Any]] | None = None,
    on_load_session: Callable[[wire.LoadSessionRequest], Awaitable[Any]] | None = None,
) -> ManualConnection:
    """Make a connection to the editor that started this process; ``start`` takes stdin and stdout.

    A callback gets the request and gives its result, as a wire type, as a dict or as None for ``{}``;
    what it raises is answered as an error. ``session_id`` is put into whatever is sent without one.
    """
    callbacks: dict[str, tuple[Any, Callback | None]] = {
        "session/prompt": (wire.PromptRequest, on_prompt),
        "session/cancel": (wire.CancelNotification, on_cancel),
        "session/set_mode": (wire.SetSessionModeRequest, on_set_mode),
        "session/load": (wire.LoadSessionRequest, on_load_session),
    }
    given = {method: (kind, call) for method, (kind, call) in callbacks.items() if call is not None}
    return ManualConnection(given, session_id)


class ManualConnection:
    """One editor's line; use it as an async context manager, or by ``start`` and ``close``."""

    def __init__(self, callbacks: dict[str, tuple[Any, Callback]], session_id: str | None) -> None:
        """Answer these methods by callback."""
        self._callbacks = callbacks
        self._session_id = session_id
        self._transport: StdioTransport | None = None
        self._connection: _Line | None = None
        self._reading: asyncio.Task[None] | None = None

    # -- life --------------------------------------------------------------------------------------

    @property
    def loop(self) -> asyncio.AbstractEventLoop | None:
        """The loop that reads the editor's words; None before it starts."""
        return None if self._reading is None else self._reading.get_loop()

    async def start(self) -> None:
        """Take stdin and stdout; from now on what this process prints goes to stderr."""
        if self._connection is not None:
            raise RuntimeError("this transport was started already; a process has one stdin and stdout")
        self._transport = StdioTransport.claim()
        self._connection = _Line(self._transport, self._callbacks)
        self._reading = asyncio.create_task(self._read(self._transport, self._connection))

    async def _read(self, transport: StdioTransport, connection: _Line) -> None:
        try:
            await transport.run(connection.receive)
            connection.receive_eof()
        finally:
            connection.hang_up()

    async def ended(self) -> None:
        """Wait until the editor has closed its side."""
        await self._line.hung_up.wait()

    async def close(self) -> None:
        """Write the last words and let go of stdin and stdout; idempotent."""
        reading, self._reading = self._reading, None
        if reading is None or self._transport is None:
            return
        reading.cancel()
        await asyncio.wait({reading})
        await self._line.close("the agent closed the connection")
        await self._transport.close()

    async def __aenter__(self) -> ManualConnection:
        """Start."""
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        """Close."""
        await self.close()

    # -- speaking and listening --------------------------------------------------------------------

    def emit(self, method: str, params: Any = None) -> None:
        """Tell the editor something; ``params`` is a wire type or a dict."""
        self._line.notify(method, self._params(params))

    async def request(self, method: str, params: Any = None, timeout: float | None = None) -> Any:
        """Ask the editor and give its result.

        Raises RpcError when it answers with an error or is gone, TimeoutError when it takes longer than
        ``timeout`` seconds; it is then told that the answer is no longer needed.
        """
        return await self._line.request(method, self._params(params), timeout)

    async def read_message(self) -> Unhandled:
        """Give the next message that no callback took; raises EOFError once the editor is gone."""
        return await self._line.next()

    def respond(self, request_id: Id, result: Any = None) -> None:
        """Answer a request that ``read_message`` gave."""
        self._line.respond(request_id, _plain(result))

    def send_error(self, request_id: Id, error: dict[str, Any]) -> None:
        """Answer a request with an error: ``code``, ``message`` and perhaps ``data``.

        Without an id it is about a message that could not be understood.
        """
        self._line.fail(request_id, error["code"], error["message"], error.get("data"))

    @property
    def _line(self) -> _Line:
        if self._connection is None:
            raise RuntimeError("this transport was not started: call start() first")
        return self._connection

    def _params(self, params: Any) -> Params:
        plain = cast("dict[str, Any]", _plain(params))
        return plain if self._session_id is None else {"sessionId": self._session_id, **plain}


class _Line(Connection):
    """A connection that keeps what no callback takes."""

    def __init__(self, transport: StdioTransport, callbacks: dict[str, tuple[Any, Callback]]) -> None:
        super().__init__(transport)
        self.handler = self
        self.hung_up = asyncio.Event()
        self._callbacks = callbacks
        self._unread: deque[Unhandled] = deque()
        self._news = asyncio.Event()

    # -- callbacks --

    def _begin(self, request: Request) -> None:
        if request.method in self._callbacks:
            super()._begin(request)
        elif not self._keep(request):
            self.fail(request.id, INTERNAL_ERROR, f"{_MOST_UNREAD} messages wait to be read by the agent")

    async def handle(self, method: str, params: Params) -> Any:
        kind, call = self._callbacks[method]
        return _plain(await call(decode(kind, {} if params is None else params)))

    def handle_notification(self, method: str, params: Params) -> None:
        if method in self._callbacks:
            self.spawn(self._tell(method, params))
        elif not self._keep(Notification(method, params)):
            log.warning("%s was dropped: %d messages wait to be read", method, _MOST_UNREAD)

    async def _tell(self, method: str, params: Params) -> None:
        try:
            await self.handle(method, params)
        except Exception:
            log.exception("the notification %s could not be handled", method)

    def withdraw(self, method: str, params: Params) -> bool:
        return False

    # -- messages without a callback --

    def _keep(self, message: Unhandled) -> bool:
        if len(self._unread) >= _MOST_UNREAD:
            return False
        self._unread.append(message)
        self._news.set()
        return True

    async def next(self) -> Unhandled:
        while not self._unread:
            if self.hung_up.is_set():
                raise EOFError("the editor closed the connection")
            self._news.clear()
            await self._news.wait()
        return self._unread.popleft()

    def hang_up(self) -> None:
        self.hung_up.set()
        self._news.set()

    # -- answers by hand --

    def respond(self, request_id: Id, result: Any) -> None:
        if not self._peer.respond(request_id, result):
            raise ValueError(f"no request {request_id!r} is open: it was answered, or it never came")
        self._flush_soon()

    def fail(self, request_id: Id, code: int, message: str, data: Any = None) -> None:
        if not self._peer.fail(request_id, code, message, data):
            if request_id is not None:
                raise ValueError(f"no request {request_id!r} is open: it was answered, or it never came")
            self._peer.complain(code, message, data)
        self._flush_soon()


def _plain(value: Any) -> Any:
    """Give a wire type as JSON values; nothing is an empty object."""
    return {} if value is None else msgspec.to_builtins(value)
