"""The calls that run on one MCP server: where the server's progress, questions and log lines go.

Progress belongs to one call and is shown there. A server's questions and its log name no call: they go to
the channel of the running calls, and to the call itself when there is only one. While the running calls
belong to different users, a question is declined, because it could reach the wrong user.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any, Protocol, cast

from mcp.shared.session import ProgressFnT

from mcp import types
from trunkline import events as ev
from trunkline.errors import SessionError
from trunkline.mcp.log_lines import LONGEST, ServerLog, UserChannel
from trunkline.questions import Form, Link, Question

log = logging.getLogger("trunkline.mcp")

_BURST = 50
_PER_SECOND = 10


class RunningCall(Protocol):
    """One call of a tool."""

    @property
    def channel(self) -> UserChannel | None:
        """The way to its user; None in a run that has none."""
        ...

    @property
    def event_id(self) -> str | None:
        """The id of the ToolCall event that shows this call."""
        ...

    @property
    def lane(self) -> str | None:
        """The lane that it runs in."""
        ...

    def progress(self, output: str) -> None:
        """Append to the output that the user sees of this call."""


class RateLimit:
    """Lets a burst through, and after that a number per second."""

    def __init__(self, burst: int = _BURST, per_second: float = _PER_SECOND) -> None:
        self._burst = self._left = float(burst)
        self._per_second = per_second
        self._at = time.monotonic()

    def allows(self) -> bool:
        """Whether one more may pass now."""
        now = time.monotonic()
        self._left = min(self._burst, self._left + (now - self._at) * self._per_second)
        self._at = now
        if self._left < 1:
            return False
        self._left -= 1
        return True


def show_progress(call: RunningCall) -> ProgressFnT:
    """Make the function that shows a call's progress: each line once, and at a limited rate."""
    rate = RateLimit()
    shown = ""

    async def show(progress: float, total: float | None, message: str | None) -> None:
        nonlocal shown
        line = _progress_line(progress, total, message)
        if line != shown and rate.allows():
            shown = line
            call.progress(f"{line}\n")

    return show


class RunningCalls:
    """The calls that run on one server now; the server's questions and log lines go to their user."""

    def __init__(self, server: str) -> None:
        """Begin without calls; ``server`` is the server's name."""
        self._server = server
        self._calls: list[RunningCall] = []
        self._log = ServerLog(server)

    @contextmanager
    def running(self, call: RunningCall) -> Generator[None]:
        """Count a call as running inside this block."""
        self._calls.append(call)
        try:
            yield
        finally:
            self._calls.remove(call)

    def _channel(self) -> UserChannel | None:
        channels = {id(call.channel): call.channel for call in self._calls}
        return next(iter(channels.values())) if len(channels) == 1 else None

    async def elicit(self, context: Any, params: types.ElicitRequestParams) -> types.ElicitResult:
        """Ask the user of the running calls a server's question; without one user it is declined."""
        channel = self._channel()
        if channel is None:
            return types.ElicitResult(action="decline")
        only = self._calls[0] if len(self._calls) == 1 else None
        call_id, lane = (only.event_id, only.lane) if only is not None else (None, None)
        message = f"{self._server} asks: {params.message}"
        question: Question
        if isinstance(params, types.ElicitRequestURLParams):
            question = Link(message=message, url=params.url, call_id=call_id)
        else:
            question = Form(message=message, fields=dict(params.requestedSchema), call_id=call_id)
        try:
            return _elicit_result(await channel.ask(question, lane=lane), question)
        except SessionError:
            return types.ElicitResult(action="cancel")
        except Exception:
            # A server without an answer would wait for ever.
            log.warning("a question of MCP server %s got no answer", self._server, exc_info=True)
            return types.ElicitResult(action="cancel")

    async def log(self, params: types.LoggingMessageNotificationParams) -> None:
        """Show a server's log line to the user of the running calls."""
        self._log.show(params, self._channel())


def _progress_line(progress: float, total: float | None, message: str | None) -> str:
    amount = f"{progress / total:.0%}" if total else f"{progress:g}"
    return f"{amount} {message[:LONGEST]}" if message else amount


def _elicit_result(answered: ev.Answered, question: Question) -> types.ElicitResult:
    if answered.outcome == "declined":
        return types.ElicitResult(action="decline")
    if answered.outcome != "accepted":
        return types.ElicitResult(action="cancel")
    if isinstance(question, Link):
        return types.ElicitResult(action="accept")
    return types.ElicitResult(action="accept", content=cast("dict[str, Any]", answered.content or {}))
