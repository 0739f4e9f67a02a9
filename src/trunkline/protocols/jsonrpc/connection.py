"""A JSON-RPC connection in an event loop: the peer's state machine with tasks and waiting around it.

Above is a handler that carries methods out; below is a transport that moves bytes. Requests of the
other side begin in the order they came, each in a task of its own, so that a long prompt holds up
nothing; a notification is handled once the requests before it have begun. What is sent within one
tick is written in one piece.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine
from typing import Any, Protocol

import msgspec

from trunkline.errors import TrunklineError
from trunkline.protocols.jsonrpc.framing import MAX_LINE
from trunkline.protocols.jsonrpc.messages import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    Id,
    Malformed,
    Message,
    Notification,
    Params,
    Request,
    RpcError,
)
from trunkline.protocols.jsonrpc.peer import CANCEL_METHOD, Cancelled, Peer, Settled

log = logging.getLogger("trunkline.acp")

_UNKNOWN = "unknown error"


class Reply(msgspec.Struct, frozen=True):
    """A result, and what to do right after it was sent."""

    result: Any
    then: Callable[[], None]


class Handler(Protocol):
    """Carries out what the other side asks."""

    async def handle(self, method: str, params: Params) -> Any:
        """Give the result of a request, or raise the error to answer with."""
        ...

    def handle_notification(self, method: str, params: Params) -> None:
        """Take a notification; it is never answered."""

    def withdraw(self, method: str, params: Params) -> bool:
        """The other side no longer waits for a request: False lets its task be cancelled."""
        ...


class Transport(Protocol):
    """Moves bytes."""

    def write(self, data: bytes) -> None:
        """Send bytes; never blocks."""

    @property
    def congested(self) -> bool:
        """Whether the other side reads so slowly that we should wait."""
        ...

    async def drained(self) -> None:
        """Wait until the other side has caught up, or is gone."""


class Connection:
    """One end of a JSON-RPC connection."""

    def __init__(
        self,
        transport: Transport,
        *,
        max_line: int = MAX_LINE,
        max_requests: int = 1024,
        cancel_method: str = CANCEL_METHOD,
        answers_cancelled: bool = True,
    ) -> None:
        """Speak through a transport; ``handler`` must be set before bytes come in.

        More than ``max_requests`` of the other side at once are refused. ``answers_cancelled`` is False for a
        protocol in which a request that was withdrawn by ``cancel_method`` gets no answer.
        """
        self._answers_cancelled = answers_cancelled
        self.handler: Handler | None = None
        self._transport = transport
        self._peer = Peer(max_line=max_line, max_open=max_requests, cancel_method=cancel_method)
        self._waiting: dict[int, asyncio.Future[Any]] = {}
        self._not_begun = 0
        self._serving: dict[Id, tuple[asyncio.Task[None], Request]] = {}
        self._tasks: set[asyncio.Task[Any]] = set()
        self._flush_scheduled = False
        self.closed = False
        self.input_closed = False
        """Whether the other side will answer nothing any more."""

    # -- receiving ---------------------------------------------------------------------------------

    def receive(self, data: bytes) -> None:
        """Take bytes from the other side."""
        self._dispatch(self._peer.receive(data))

    def receive_message(self, message: Message | Malformed) -> None:
        """Take one message from a transport that has frames of its own."""
        self._dispatch(self._peer.receive_message(message))

    def receive_messages(self, messages: list[Message | Malformed]) -> None:
        """Take messages that were cut out and parsed elsewhere, in their order."""
        self._dispatch(self._peer.receive_messages(messages))

    def receive_eof(self) -> None:
        """The other side will send nothing more."""
        self._dispatch(self._peer.receive_eof())

    def _dispatch(self, incoming: list[Any]) -> None:
        for item in incoming:
            if isinstance(item, Request):
                self._begin(item)
            elif self._not_begun:
                # A task begins a tick later; what came after the request may refer to it, so it waits too.
                asyncio.get_running_loop().call_soon(self._take, item)
            else:
                self._take(item)
        self._flush_soon()

    def _begin(self, request: Request) -> None:
        self._not_begun += 1
        self._serving[request.id] = (self.spawn(self._serve(request)), request)

    def _take(self, item: Notification | Settled | Cancelled) -> None:
        if isinstance(item, Notification):
            self._notice(item)
        elif isinstance(item, Settled):
            self._settle(item)
        else:
            self._withdraw(item)

    def _notice(self, item: Notification) -> None:
        assert self.handler is not None
        try:
            self.handler.handle_notification(item.method, item.params)
        except Exception:
            log.exception("the notification %s could not be handled", item.method)

    def _withdraw(self, item: Cancelled) -> None:
        found = self._serving.get(item.request_id)
        if found is None or self.handler is None:
            return
        task, request = found
        try:
            kept = self.handler.withdraw(request.method, request.params)
        except Exception:
            log.exception("%s could not be withdrawn; it is stopped", request.method)
            kept = False
        if not kept:
            task.cancel()

    async def _serve(self, request: Request) -> None:
        assert self.handler is not None
        self._not_begun -= 1
        try:
            result = await self.handler.handle(request.method, request.params)
            if isinstance(result, Reply):
                self._peer.respond(request.id, result.result)
                result.then()
            else:
                self._peer.respond(request.id, result)
        except asyncio.CancelledError:
            if self._answers_cancelled or self.closed:
                self._peer.fail_cancelled(request.id)
            else:
                self._peer.discard(request.id)
        except RpcError as error:
            self._refuse(request, error)
        except msgspec.ValidationError as error:
            self._refuse(request, error_with_details(INVALID_PARAMS, f"invalid params: {error}"))
        except TrunklineError as error:
            log.info("%s: %s, fault: %s", request.method, error.code, error.fault)
            self._refuse(request, error_with_details(error.hint.jsonrpc, str(error)))
        except Exception as error:
            log.exception("%s failed", request.method)
            reason = f"internal error: {type(error).__name__}: {error}"
            self._refuse(request, error_with_details(INTERNAL_ERROR, reason))
        finally:
            self._serving.pop(request.id, None)
            self._flush_soon()

    def _refuse(self, request: Request, error: RpcError) -> None:
        self._peer.fail(request.id, error.rpc_code, _one_line(error.message), error.data)

    def _settle(self, item: Settled) -> None:
        future = self._waiting.pop(item.id, None)
        if future is None or future.done():
            return
        if item.error is not None:
            future.set_exception(item.error)
        else:
            future.set_result(item.result)

    # -- sending -----------------------------------------------------------------------------------

    def ask(self, method: str, params: Params) -> tuple[int, asyncio.Future[Any]]:
        """Send a request; the future is its answer, and the id is for ``withdraw_request``."""
        request_id = self._peer.request(method, params)
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._waiting[request_id] = future
        self._flush_soon()
        return request_id, future

    async def request(self, method: str, params: Params, timeout: float | None = None) -> Any:
        """Send a request and wait for its answer; an answer that does not come raises TimeoutError."""
        request_id, future = self.ask(method, params)
        try:
            async with asyncio.timeout(timeout):
                return await future
        except (TimeoutError, asyncio.CancelledError):
            self.withdraw_request(request_id)
            raise

    def withdraw_request(self, request_id: int) -> None:
        """Say that the answer to a request of ours is no longer needed."""
        self._peer.cancel(request_id)
        self._flush_soon()

    def notify(self, method: str, params: Params) -> None:
        """Tell the other side something."""
        self._peer.notify(method, params)
        self._flush_soon()

    def send_lines(self, lines: list[bytes]) -> None:
        """Send messages that are encoded already."""
        self._peer.send_lines(lines)
        if not self._flush_scheduled:
            self._flush_soon()

    @property
    def congested(self) -> bool:
        """Whether the producer should wait."""
        return self._transport.congested

    async def drained(self) -> None:
        """Wait until the other side has caught up."""
        await self._transport.drained()

    def flush(self) -> None:
        """Write everything now."""
        self._flush_scheduled = False
        data = self._peer.drain()
        if data:
            self._transport.write(data)

    def _flush_soon(self) -> None:
        if not self._flush_scheduled and not self.closed:
            asyncio.get_running_loop().call_soon(self.flush)
            self._flush_scheduled = True

    # -- life --------------------------------------------------------------------------------------

    def spawn(self, work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        """Run something for as long as the connection lives."""
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def idle(self, grace: float = 5.0) -> None:
        """Wait, for a while, until every request of the other side is answered."""
        serving = [task for task, _ in self._serving.values()]
        if serving:
            await asyncio.wait(serving, timeout=grace)

    async def close(self, reason: str, *, grace: float = 5.0) -> None:
        """Fail what waits, cancel what runs, and write what is left; idempotent."""
        if self.closed:
            return
        for settled in self._peer.close(reason):
            self._settle(settled)
        self.flush()
        self.closed = True
        tasks = [task for task in self._tasks if task is not asyncio.current_task()]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=grace)


def error_with_details(code: int, reason: str) -> RpcError:
    """An error that says why something failed, in each of the places where editors look for it.

    Most show ``message``. Toad shows ``data.details`` only; Zed shows all of ``data`` as JSON, unless
    ``details`` is all there is.
    """
    return RpcError(code, reason, {"details": reason or _UNKNOWN})


def _one_line(text: str) -> str:
    """Errors on this wire are one line, never empty."""
    return " ".join(text.split()) or _UNKNOWN
