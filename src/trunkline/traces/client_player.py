"""A trace as a fake client: its requests are sent to an agent, and what comes back is compared."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Any, NamedTuple, cast

from trunkline.conformance.acp.stdio_client import Line, StdioClient
from trunkline.protocols.acp.fields import as_object
from trunkline.traces.trace import Message, TraceLine

_AT_ANY_TIME = frozenset(
    {
        "available_commands_update",
        "config_option_update",
        "current_mode_update",
        "session_info_update",
        "usage_update",
    }
)
"""Updates that belong to the session: they come with one request or with the next."""


class Step(NamedTuple):
    """One request of the trace: what it brought about then and now."""

    method: str
    recorded: tuple[str, ...]
    now: tuple[str, ...]

    @property
    def same(self) -> bool:
        """Whether nothing changed."""
        return self.recorded == self.now


class ClientPlayer:
    """Plays the client of a trace."""

    def __init__(self, trace: Sequence[TraceLine], client: StdioClient) -> None:
        """Drive the agent of ``client``; its requests get the answers that were recorded."""
        self._trace = list(trace)
        self._client = client
        self._names: dict[str, str] = {}
        """The ids of sessions now, by those of the trace."""
        self._asked: dict[str, str] = {}
        """The methods of the agent's requests, by their ids in the trace."""
        self._answers: dict[str, deque[Message]] = {}
        for line in self._trace:
            if line.by == "agent->client" and line.is_request and line.message is not None:
                self._asked[str(line.message["id"])] = str(line.method)
            elif line.by == "client->agent" and line.is_answer and line.message is not None:
                method = self._asked.get(str(line.message["id"]), "")
                self._answers.setdefault(method, deque()).append(line.message)
        for method in self._answers:
            client.answer[method] = lambda params, method=method: self._answer(method)

    def _answer(self, method: str) -> Message | None:
        """The next recorded answer to a method; the last one is used again."""
        queue = self._answers[method]
        message = queue.popleft() if len(queue) > 1 else queue[0]
        return self._rename(message.get("result") or {})

    def play(self) -> list[Step]:
        """Send every request and notification in its order; give what each request brought about."""
        steps: list[Step] = []
        open_requests: dict[int, tuple[Any, int]] = {}
        for index, line in enumerate(self._trace):
            if line.by == "client->agent" and line.method is not None and line.message is not None:
                params = self._rename(line.message.get("params"))
                if line.is_request:
                    start = len(self._client.log)
                    open_requests[index] = self._client.start(str(line.method), params), start
                else:
                    self._catch_up(index, open_requests)
                    self._client.notify(str(line.method), params)
            elif line.by == "agent->client" and line.is_answer:
                found = self._request_of(index)
                if found in open_requests:
                    steps.append(self._compare(found, index, *open_requests.pop(found)))
        return steps

    def _catch_up(self, index: int, open_requests: dict[int, tuple[Any, int]]) -> None:
        """Wait until the agent has said what it had said then: a cancel comes in the middle of a turn."""
        for request, (_, start) in open_requests.items():
            before = [line.message for line in self._trace[request:index] if line.by == "agent->client"]
            wanted = _summary(before)

            def is_there(_: Line | None, start: int = start, wanted: list[str] = wanted) -> bool:
                now = _summary([line.message for line in self._client.log[start:]])
                return len(now) > len(wanted) or now == wanted

            if not is_there(None):
                self._client.until(is_there)

    def _request_of(self, answer: int) -> int:
        """The place of the request that an answer of the agent is for."""
        wanted = (self._trace[answer].message or {}).get("id")
        for index in range(answer - 1, -1, -1):
            line = self._trace[index]
            if line.by == "client->agent" and line.is_request and (line.message or {}).get("id") == wanted:
                return index
        return -1

    def _compare(self, request: int, answer: int, request_id: Any, start: int) -> Step:
        reply = self._client.wait(request_id)
        recorded = self._trace[answer].message or {}
        then, now = _result(recorded), _result(reply or {})
        if isinstance(then.get("sessionId"), str) and isinstance(now.get("sessionId"), str):
            self._names[then["sessionId"]] = now["sessionId"]
        between = [line.message for line in self._trace[request:answer] if line.by == "agent->client"]
        lines = [line.message for line in self._client.log[start:] if _is_news(line)]
        before = (*_summary(between), _outcome(recorded))
        after = (*_summary(lines), _outcome(reply) if reply is not None else "no answer")
        return Step(str(self._trace[request].method), before, after)

    def _rename(self, value: Any) -> Any:
        """Put the ids of the sessions of now into a message of the trace."""
        if isinstance(value, dict):
            fields = cast("dict[Any, Any]", value)
            return {key: self._rename(one) for key, one in fields.items()}
        if isinstance(value, list):
            items = cast("list[Any]", value)
            return [self._rename(one) for one in items]
        return self._names.get(value, value) if isinstance(value, str) else value


def _is_news(line: Line) -> bool:
    return line.message is not None and "method" in line.message


def _result(message: Message) -> Message:
    return as_object(message.get("result"))


def _outcome(message: Message) -> str:
    """An answer, without what differs from run to run."""
    if "error" in message:
        return f"error {as_object(message['error']).get('code')}"
    result = _result(message)
    return f"stop reason {result['stopReason']}" if "stopReason" in result else "result"


def _summary(messages: Sequence[Message | None]) -> list[str]:
    """What an agent said, in its order: pieces of one text are joined, ids are left out."""
    found: list[str] = []
    text, kind = "", ""
    for message in messages:
        if message is None or "method" not in message:
            continue
        update = as_object(as_object(message.get("params")).get("update"))
        name = str(update.get("sessionUpdate") or message["method"])
        if name in _AT_ANY_TIME:
            continue
        value: Any = as_object(update.get("content")).get("text")
        piece = value if isinstance(value, str) else None
        if piece is not None and name == kind:
            text += piece
            found[-1] = f"{name} {text!r}"
            continue
        text, kind = (piece, name) if piece is not None else ("", "")
        status = update.get("status")
        found.append(f"{name} {text!r}" if piece is not None else f"{name} {status}" if status else name)
    return found
