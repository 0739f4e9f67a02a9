"""A trace as a fake agent: a client's requests are answered with the lines that were recorded.

Requests are matched by their session and method, in the order of the trace; what a client leaves out is left
out here too, with all that it had brought about. Sessions are played apart from each other, so a client may
go through them in another order. Ids of the client's requests become those that it uses now. No I/O: ``feed``
a message, send what it gives.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from trunkline.traces.trace import Message, TraceLine

_NOT_RECORDED = -32603


class AgentPlayer:
    """Plays the agent of a trace."""

    def __init__(self, trace: Sequence[TraceLine]) -> None:
        parts: dict[str | None, list[TraceLine]] = {None: []}
        for line, session_id in zip(trace, _sessions(trace), strict=True):
            parts.setdefault(session_id, []).append(line)
        self._parts = {session_id: _Part(line) for session_id, line in parts.items()}

    def feed(self, message: Message) -> list[Message]:
        """Take a message of the client; give what the agent says then."""
        own = self._parts.get(_session_of(message))
        parts = [own, *self._parts.values()] if own is not None else list(self._parts.values())
        for part in parts:
            output = part.feed(message)
            if output is not None:
                return [one for line in output for one in (line, *self._greet(line))]
        return [_refuse(message)] if "method" in message and "id" in message else []

    def _greet(self, message: Message) -> list[Message]:
        """What is said in a session as soon as it is there, after the answer that names it."""
        result: Any = message.get("result")
        session_id: Any = cast("Message", result).get("sessionId") if isinstance(result, dict) else None
        part = self._parts.get(session_id) if isinstance(session_id, str) else None
        return part.play() if part is not None else []


class _Part:
    """The lines of one session, or those of none."""

    def __init__(self, trace: Sequence[TraceLine]) -> None:
        self._trace = list(trace)
        self._at = 0
        self._met: set[int] = set()
        """Lines of the client that came."""
        self._left_out: set[int] = set()
        """Lines that are not played: of requests that this client did not send."""
        self._ids: dict[str, Any] = {}
        """The id that this client uses, by that of the trace."""

    def feed(self, message: Message) -> list[Message] | None:
        """Take a message of the client; give what the agent says then, None where it is none of ours."""
        index = self._find(message)
        if index is None:
            return None
        self._met.add(index)
        recorded = self._trace[index]
        if recorded.is_request and recorded.message is not None:
            self._ids[_key(recorded.message["id"])] = message["id"]
        for earlier in range(self._at, index):
            self._leave_out(earlier)
        return self.play()

    def _find(self, message: Message) -> int | None:
        """The place of the client's line in the trace that this one stands for."""
        for index, line in enumerate(self._trace):
            if line.by != "client->agent" or index in self._met or line.message is None:
                continue
            if "method" not in message:
                if line.is_answer and line.message["id"] == message.get("id"):
                    return index
            elif (
                line.method == message["method"]
                and line.is_request == ("id" in message)
                and (index >= self._at or line.is_request)
            ):
                return index
        return None

    def _leave_out(self, index: int) -> None:
        """Leave out a request that was not sent, and what it had brought about up to its answer."""
        line = self._trace[index]
        if line.by != "client->agent" or index in self._met or index in self._left_out:
            return
        self._left_out.add(index)
        if not line.is_request or line.message is None:
            return
        for later in range(index + 1, len(self._trace)):
            follows = self._trace[later]
            if follows.by == "agent->client":
                self._left_out.add(later)
                if follows.is_answer and (follows.message or {}).get("id") == line.message["id"]:
                    break

    def play(self) -> list[Message]:
        """Give the agent's lines up to the next line of the client that has not come."""
        output: list[Message] = []
        while self._at < len(self._trace):
            line = self._trace[self._at]
            if line.by == "client->agent" and self._at not in self._met | self._left_out and line.message:
                break
            if line.by == "agent->client" and self._at not in self._left_out and line.message is not None:
                output.append(self._translate(line))
            self._at += 1
        return output

    def _translate(self, line: TraceLine) -> Message:
        message = dict(line.message or {})
        if line.is_answer and _key(message["id"]) in self._ids:
            message["id"] = self._ids[_key(message["id"])]
        return message


def _refuse(message: Message) -> Message:
    why = f"the trace has no further {message['method']}"
    return {"jsonrpc": "2.0", "id": message["id"], "error": {"code": _NOT_RECORDED, "message": why}}


def _session_of(message: Message | None) -> str | None:
    """The session that a request or a notification names."""
    params: Any = (message or {}).get("params")
    session_id: Any = cast("Message", params).get("sessionId") if isinstance(params, dict) else None
    return session_id if isinstance(session_id, str) else None


def _sessions(trace: Sequence[TraceLine]) -> list[str | None]:
    """The session of each line: an answer is of that of its request."""
    found: list[str | None] = []
    asked: dict[tuple[str, str], str | None] = {}
    for line in trace:
        session_id = _session_of(line.message)
        if line.is_request and line.message is not None:
            asked[line.by, _key(line.message["id"])] = session_id
        elif line.is_answer and line.message is not None:
            asker = "agent->client" if line.by == "client->agent" else "client->agent"
            session_id = asked.get((asker, _key(line.message["id"])))
        found.append(session_id)
    return found


def _key(request_id: Any) -> str:
    return f"{type(request_id).__name__} {request_id}"
