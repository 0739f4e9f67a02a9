"""A transport without an editor: it records what an agent sends, and answers from a queue."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import Any, NamedTuple, cast

import msgspec

from trunkline.frontends.acp.manual import Unhandled
from trunkline.protocols.jsonrpc.messages import METHOD_NOT_FOUND, Id, RpcError
from trunkline.testing.validation import validate_acp_update


class Sent(NamedTuple):
    """A message that was sent."""

    method: str
    params: dict[str, Any]


def select_option(params: dict[str, Any], answer: str) -> dict[str, Any]:
    """Answer a permission request by the id or the kind of an option, or with ``cancelled``."""
    if answer == "cancelled":
        return {"outcome": {"outcome": "cancelled"}}
    options = cast("list[dict[str, Any]]", params["options"])
    for option in options:
        if answer in (option["optionId"], option["kind"]):
            return {"outcome": {"outcome": "selected", "optionId": option["optionId"]}}
    offered = ", ".join(f"{option['optionId']} ({option['kind']})" for option in options)
    raise ValueError(f"the answer {answer!r} was queued, but the options are {offered}")


class RecordingTransport:
    """Stands in for the object that ``stdio_transport`` makes.

    Updates are checked as they are emitted. ``permissions`` answers ``session/request_permission`` in
    this order: each is the id or the kind of an option, or ``cancelled``.
    """

    def __init__(self, *, session_id: str | None = None, permissions: Iterable[str] = ()) -> None:
        self.emitted: list[Sent] = []
        self.requested: list[Sent] = []
        self.answered: dict[Id, Any] = {}
        """Results by the id of their request."""
        self.errors: list[tuple[Id, dict[str, Any]]] = []
        self.started = False
        self._session_id = session_id
        self._permissions = deque(permissions)
        self._answers: dict[str, deque[Any]] = {}
        self._messages: deque[Unhandled] = deque()

    # -- the test's side ---------------------------------------------------------------------------

    @property
    def updates(self) -> list[dict[str, Any]]:
        """The updates among what was emitted."""
        return [sent.params["update"] for sent in self.emitted if sent.method == "session/update"]

    def queue_permission(self, answer: str) -> None:
        """Answer one more permission request."""
        self._permissions.append(answer)

    def queue_answer(self, method: str, result: Any) -> None:
        """Answer one more request of a method; an exception is raised."""
        self._answers.setdefault(method, deque()).append(result)

    def queue_message(self, message: Unhandled) -> None:
        """Let ``read_message`` give this."""
        self._messages.append(message)

    # -- the agent's side --------------------------------------------------------------------------

    async def start(self) -> None:
        """Begin."""
        self.started = True

    async def close(self) -> None:
        """End."""
        self.started = False

    def emit(self, method: str, params: Any = None) -> None:
        """Keep a notification; an update that is not legal raises ValueError."""
        sent = self._send(method, params)
        if method == "session/update":
            validate_acp_update(sent.params.get("update"))
        self.emitted.append(sent)

    async def request(self, method: str, params: Any = None, timeout: float | None = None) -> Any:
        """Keep a request and give its queued answer; without one it is an error."""
        sent = self._send(method, params)
        self.requested.append(sent)
        if method == "session/request_permission" and self._permissions:
            return select_option(sent.params, self._permissions.popleft())
        queued = self._answers.get(method)
        if not queued:
            raise RpcError(METHOD_NOT_FOUND, f"no answer to {method} was queued")
        answer = queued.popleft()
        if isinstance(answer, BaseException):
            raise answer
        return answer

    async def read_message(self) -> Unhandled:
        """Give the next queued message; without one the editor is gone."""
        if not self._messages:
            raise EOFError("no more messages were queued")
        return self._messages.popleft()

    def respond(self, request_id: Id, result: Any = None) -> None:
        """Keep a result."""
        self.answered[request_id] = {} if result is None else msgspec.to_builtins(result)

    def send_error(self, request_id: Id, error: dict[str, Any]) -> None:
        """Keep an error."""
        self.errors.append((request_id, error))

    def _send(self, method: str, params: Any) -> Sent:
        plain = cast("dict[str, Any]", {} if params is None else msgspec.to_builtins(params))
        return Sent(method, plain if self._session_id is None else {"sessionId": self._session_id, **plain})
