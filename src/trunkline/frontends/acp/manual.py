"""ACP on stdin and stdout by hand, one message at a time, without sessions or a journal.

For programs that want the wire and nothing else, and for those moving over from a transport of their
own. Methods with a callback are answered by it::

    editor = stdio_transport(on_prompt=answer)
    asyncio.run(editor.serve())

``serve`` answers ``initialize`` and ``session/new`` itself. Whoever wants to answer them starts the
connection and reads what has no callback::

    async with editor:
        first = await editor.read_message()
        editor.respond(first.id, {"protocolVersion": 1})

For an agent that should be able to do more than that there is ``serve_acp``.
"""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import logging
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Any, Union, cast, get_args

import msgspec

from trunkline.errors import ConfigurationError, TurnCancelled
from trunkline.frontends.acp.initialize import PROTOCOL_VERSION
from trunkline.protocols.acp import wire
from trunkline.protocols.acp.lossless import decode
from trunkline.protocols.jsonrpc.connection import Connection
from trunkline.protocols.jsonrpc.messages import (
    INTERNAL_ERROR,
    METHOD_NOT_FOUND,
    Id,
    Notification,
    Params,
    Request,
)
from trunkline.session.ids import new_id
from trunkline.transports.stdio import StdioTransport

__all__ = ["ManualConnection", "Unhandled", "stdio_transport"]

log = logging.getLogger("trunkline.acp")

_MOST_UNREAD = 1024
_STOP_REASONS: tuple[Any, ...] = get_args(wire.StopReason)

Unhandled = Union[Request, Notification]
"""A message without a callback; a request among them wants ``respond`` or ``send_error``."""

Callback = Callable[[Any], Awaitable[Any]]


def stdio_transport(
    *,
    session_id: str | None = None,
    on_new_session: Callable[[wire.NewSessionRequest], Awaitable[Any]] | None = None,
    on_prompt: Callable[[wire.PromptRequest], Awaitable[Any]] | None = None,
    on_cancel: Callable[[wire.CancelNotification], Awaitable[Any]] | None = None,
    on_set_mode: Callable[[wire.SetSessionModeRequest], Awaitable[Any]] | None = None,
    on_load_session: Callable[[wire.LoadSessionRequest], Awaitable[Any]] | None = None,
) -> ManualConnection:
    """Make a connection to the editor that started this process; ``start`` takes stdin and stdout.

    A callback gets the request and gives its result, as a wire type, as a dict or as None for ``{}``;
    what it raises is answered as an error. ``on_prompt`` may give the stop reason alone, and None is
    ``end_turn``. ``session_id`` is put into whatever is sent without one. The
    result of ``on_new_session`` needs no id. A prompt that is cancelled, by ``cancel_prompt`` or by the
    person who was asked for a permission, is answered with the stop reason ``cancelled``.
    """
    callbacks: dict[str, tuple[Any, Callback | None]] = {
        "session/new": (wire.NewSessionRequest, on_new_session),
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
        self._callbacks = callbacks
        self._session_id = session_id
        self._transport: StdioTransport | None = None
        self._connection: _Line | None = None
        self._reading: asyncio.Task[None] | None = None
        self.client_capabilities: wire.ClientCapabilities | None = None
        """What the editor can do; ``serve`` learns it."""

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
            connection.finish_reading()

    async def serve(self) -> None:
        """Serve the editor until it closes its side.

        Without a callback ``session/new`` gets a new id, and ``session/cancel`` cancels the session's prompt.
        """
        usual: dict[str, tuple[Any, Callback]] = {
            "initialize": (wire.InitializeRequest, self._initialize),
            "session/new": (wire.NewSessionRequest, _give_nothing),
            "session/cancel": (wire.CancelNotification, self._cancel),
        }
        self._callbacks = {**usual, **self._callbacks}
        async with self:
            with contextlib.suppress(EOFError):
                while True:
                    message = await self.read_message()
                    if isinstance(message, Request):
                        error = {"code": METHOD_NOT_FOUND, "message": f"there is no method {message.method}"}
                        self.send_error(message.id, error)

    async def _initialize(self, request: wire.InitializeRequest) -> dict[str, Any]:
        self.client_capabilities = request.client_capabilities
        blocks = {"image": True, "audio": True, "embeddedContext": True}
        able = {"loadSession": "session/load" in self._callbacks, "promptCapabilities": blocks}
        return {"protocolVersion": PROTOCOL_VERSION, "agentCapabilities": able, "authMethods": []}

    async def _cancel(self, request: wire.CancelNotification) -> None:
        self.cancel_prompt(request.session_id)

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
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
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

    def cancel_prompt(self, session_id: str) -> None:
        """Cancel the callback that answers a prompt of this session, if one runs."""
        for prompt in self._line.prompts.get(session_id, ()):
            prompt.cancel()

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
        self.prompts: dict[str, set[asyncio.Future[Any]]] = {}
        self._cancelled: set[asyncio.Future[Any]] = set()
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
        request = decode(kind, {} if params is None else params)
        if method == "session/cancel":
            self._cancelled.update(self.prompts.get(request.session_id, ()))
        answer = call(request)
        if not inspect.isawaitable(answer):
            raise ConfigurationError(f"the callback for {method} is not async: write it with async def")
        if method == "session/prompt":
            return await self._answer_prompt(request.session_id, answer)
        result = _object(method, await answer)
        return {"sessionId": new_id("sess"), **result} if method == "session/new" else result

    async def _answer_prompt(self, session_id: str, answer: Awaitable[Any]) -> Any:
        prompt = asyncio.ensure_future(answer)
        running = self.prompts.setdefault(session_id, set())
        running.add(prompt)
        try:
            given = await prompt
            reason = "end_turn" if given is None else given
            result = {"stopReason": reason} if reason in _STOP_REASONS else _object("session/prompt", given)
            return {**result, "stopReason": "cancelled"} if prompt in self._cancelled else result
        except BaseException as error:
            task = asyncio.current_task()
            withdrawn = task is not None and task.cancelling()  # by $/cancel_request, or at the end
            # "This stop reason MUST be returned when the client sends a session/cancel notification, even if
            # the cancellation causes exceptions in underlying operations."
            # (https://agentclientprotocol.com/protocol/v1/schema#stopreason)
            ended = isinstance(error, asyncio.CancelledError | TurnCancelled) or prompt in self._cancelled
            if withdrawn or not ended:
                raise
            return {"stopReason": "cancelled"}
        finally:
            self._cancelled.discard(prompt)
            running.discard(prompt)
            if not running:
                self.prompts.pop(session_id, None)

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

    def finish_reading(self) -> None:
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


async def _give_nothing(request: Any) -> None:
    """Answer with an empty object."""


def _object(method: str, value: Any) -> dict[str, Any]:
    """Give the result of a callback, which is an object in every method of ACP."""
    result = _plain(value)
    if not isinstance(result, dict):
        raise ConfigurationError(
            f"the callback for {method} gave {value!r}: give a wire type, a dict, or None for an empty result"
        )
    return cast("dict[str, Any]", result)


def _plain(value: Any) -> Any:
    """Give a wire type as JSON values; nothing is an empty object."""
    return {} if value is None else msgspec.to_builtins(value)
