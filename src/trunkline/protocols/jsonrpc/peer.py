"""The peer: one end of a JSON-RPC connection as a state machine.

The shell around it reads as feed, drain, write::

    for item in peer.receive(chunk):
        ...
    write(peer.drain())

A ``Peer`` knows which requests of the other side are still open and which of its own are still
unanswered, so nothing is answered twice and nothing waits for ever once the connection is closed.
What comes in is given in order; what is malformed it answers itself.
"""

from __future__ import annotations

from typing import Any, TypeAlias, Union

import msgspec
import orjson

from trunkline.protocols.jsonrpc.framing import MAX_LINE, LineFramer, Oversize
from trunkline.protocols.jsonrpc.long_message_id import refuse_oversize
from trunkline.protocols.jsonrpc.messages import (
    INTERNAL_ERROR,
    INVALID_REQUEST,
    REQUEST_CANCELLED,
    Id,
    Malformed,
    Message,
    NoAnswer,
    Notification,
    Params,
    Request,
    Response,
    RpcError,
    is_id,
    parse,
    written,
)

CANCEL_METHOD = "$/cancel_request"


class Settled(msgspec.Struct, frozen=True, gc=False):
    """A request of ours has its answer; ``error`` is None when it went well."""

    id: int
    result: Any = None
    error: RpcError | None = None


class Cancelled(msgspec.Struct, frozen=True, gc=False):
    """The other side no longer needs this answer, but one must still be given."""

    request_id: Id


Incoming: TypeAlias = Union[Request, Notification, Settled, Cancelled]


class Peer:
    """One end of a connection."""

    def __init__(
        self,
        *,
        max_line: int = MAX_LINE,
        max_open: int = 1024,
        max_outstanding: int = 1024,
        cancel_method: str = CANCEL_METHOD,
    ) -> None:
        """Limit the length of a line, the requests we serve at once, and those we wait for.

        ``cancel_method`` is the notification that withdraws a request; its ``requestId`` says which.
        """
        self._cancel_method = cancel_method
        self._framer = LineFramer(max_line)
        self._max_open = max_open
        self._max_outstanding = max_outstanding
        # The requests we serve; the value says whether the other side cancelled it.
        self._serving: dict[Id, bool] = {}
        # The requests we wait for, in the order they were sent.
        self._waiting: dict[int, str] = {}
        self._last_id = 0
        self._outgoing: list[bytes] = []
        self._closed: str | None = None

    # -- receiving --

    def receive(self, chunk: bytes) -> list[Incoming]:
        """Take bytes from the other side and give their messages, in order."""
        return self._receive_lines(self._framer.feed(chunk))

    def receive_eof(self) -> list[Incoming]:
        """Take the end of the other side's bytes; a last line may lack its newline."""
        return self._receive_lines(self._framer.close())

    def receive_message(self, message: Message | Malformed) -> list[Incoming]:
        """Take one message that a transport with frames of its own has cut out and parsed."""
        return self.receive_messages([message])

    def _receive_lines(self, lines: list[bytes | Oversize]) -> list[Incoming]:
        return self.receive_messages(
            [parse(line) if isinstance(line, bytes) else refuse_oversize(line) for line in lines]
        )

    def receive_messages(self, messages: list[Message | Malformed]) -> list[Incoming]:
        """Take messages that were cut out and parsed elsewhere."""
        incoming: list[Incoming] = []
        if self._closed is not None:
            return incoming
        for message in messages:
            if isinstance(message, Notification):
                cancels = message.method == self._cancel_method
                item = self._cancelled(message.params) if cancels else message
            elif isinstance(message, Request):
                item = self._opened(message)
            elif isinstance(message, Response):
                item = self._settled(message)
            else:
                item = self._refused(message)
            if item is not None:
                incoming.append(item)
        return incoming

    def _opened(self, request: Request) -> Request | None:
        if request.id in self._serving:
            self._send_error(request.id, INVALID_REQUEST, "a request with this id is still open")
        elif len(self._serving) >= self._max_open:
            self._send_error(request.id, INTERNAL_ERROR, "too many open requests")
        else:
            self._serving[request.id] = False
            return request
        return None

    def _settled(self, response: Response) -> Settled | None:
        # Our ids are ints: a str cannot equal one, but the lookup must not see 1.0 or null as ours.
        if type(response.id) is not int or self._waiting.pop(response.id, None) is None:
            return None
        return Settled(response.id, response.result, response.error)

    def _cancelled(self, params: Params) -> Cancelled | None:
        request_id: Any = params.get("requestId") if isinstance(params, dict) else object()
        if not is_id(request_id) or self._serving.get(request_id, True):
            return None
        self._serving[request_id] = True
        return Cancelled(request_id)

    def _refused(self, message: Malformed) -> Settled | None:
        # A broken answer fails its request, which would wait for ever; its sender has no use for an error.
        if message.is_answer and type(message.id) is int and message.id in self._waiting:
            return self._settled(Response(message.id, None, RpcError(message.code, message.message)))
        self._send_error(message.id, message.code, message.message)
        return None

    # -- sending --

    def request(self, method: str, params: Params = None) -> int:
        """Ask the other side and give the id that its ``Settled`` will carry.

        Raises RpcError when the connection is closed or too many requests are unanswered.
        """
        if self._closed is not None:
            raise NoAnswer(self._closed)
        if len(self._waiting) >= self._max_outstanding:
            raise RpcError(INTERNAL_ERROR, f"the other side left {len(self._waiting)} requests unanswered")
        id = self._last_id + 1
        self._send(_with_params({"jsonrpc": "2.0", "id": id, "method": method}, params))
        self._last_id = id
        self._waiting[id] = method
        return id

    def notify(self, method: str, params: Params = None) -> None:
        """Send a notification."""
        self._send(_with_params({"jsonrpc": "2.0", "method": method}, params))

    def cancel(self, id: int) -> bool:
        """Tell the other side that an answer is no longer needed; it still settles. False if it has."""
        if id not in self._waiting:
            return False
        self.notify(self._cancel_method, {"requestId": id})
        return True

    def respond(self, id: Id, result: Any) -> bool:
        """Answer a request; False if it is not open (any more).

        A result that JSON cannot carry raises TypeError and leaves the request open.
        """
        if id not in self._serving:
            return False
        self._send({"jsonrpc": "2.0", "id": written(id), "result": result})
        del self._serving[id]
        return True

    def fail(self, id: Id, code: int, message: str, data: Any = None) -> bool:
        """Answer a request with an error; False if it is not open (any more)."""
        if id not in self._serving:
            return False
        del self._serving[id]
        self._send_error(id, code, message, data)
        return True

    def fail_cancelled(self, id: Id) -> bool:
        """Answer a request that the other side cancelled.

        Who gets ``$/cancel_request`` "MUST send one of these responses for the original request: A valid
        response with appropriate data", or "An error response with code -32800 (Request Cancelled)".
        (https://agentclientprotocol.com/protocol/v1/cancellation)
        """
        return self.fail(id, REQUEST_CANCELLED, "request cancelled")

    def discard(self, id: Id) -> bool:
        """Forget a request that the other side cancelled, in a protocol that wants no answer then."""
        return self._serving.pop(id, None) is not None

    def complain(self, code: int, message: str, data: Any = None) -> None:
        """Send an error that answers no request.

        "If there was an error in detecting the id in the Request object (e.g. Parse error/Invalid Request),
        it MUST be Null." (https://www.jsonrpc.org/specification#response_object)
        """
        self._send_error(None, code, message, data)

    def send_line(self, line: bytes) -> None:
        """Queue a message that is encoded already, without its newline."""
        if self._closed is None:
            self._outgoing.append(line)

    def send_lines(self, lines: list[bytes]) -> None:
        """Queue messages that are encoded already, without their newlines."""
        if self._closed is None:
            self._outgoing += lines

    def drain(self) -> bytes:
        """Give everything that waits to be written, as one piece."""
        if not self._outgoing:
            return b""
        self._outgoing.append(b"")
        data = b"\n".join(self._outgoing)
        self._outgoing.clear()
        return data

    def close(self, reason: str = "the connection is closed") -> list[Settled]:
        """Fail what still waits for an answer; from now on nothing is taken in or sent.

        What was queued before can still be drained. A second call gives nothing.
        """
        if self._closed is None:
            self._closed = reason
        settled = [
            Settled(id, None, NoAnswer(f"{method} got no answer: {self._closed}"))
            for id, method in self._waiting.items()
        ]
        self._waiting.clear()
        self._serving.clear()
        return settled

    def _send(self, message: dict[str, Any]) -> None:
        self.send_line(orjson.dumps(message))

    def _send_error(self, id: Id, code: int, message: str, data: Any = None) -> None:
        error: dict[str, Any] = {"code": code, "message": message}
        answer = {"jsonrpc": "2.0", "id": written(id), "error": error}
        try:
            line = orjson.dumps(answer if data is None else answer | {"error": error | {"data": data}})
        except TypeError:
            # An error must get through, whatever it quotes: a file name may hold a lone surrogate.
            error["message"] = message.encode(errors="replace").decode()
            line = orjson.dumps(answer)
        self.send_line(line)


def _with_params(message: dict[str, Any], params: Params) -> dict[str, Any]:
    if params is not None:
        message["params"] = params
    return message
