"""The calls that run on a server, and how what the server says meanwhile reaches their people.

Progress belongs to one call and is shown there. A server's questions and its log name no call: they
go to the voice of those that run, and to the call itself when there is only one. When the running
calls belong to different people nobody is asked, for it could be the wrong one.
"""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any, Literal, cast

from mcp.shared.session import ProgressFnT

from mcp import types
from trunkline import events as ev
from trunkline.agents.langchain.channel import Channel
from trunkline.agents.langchain.tools.current_call import Call
from trunkline.errors import SessionError
from trunkline.questions import Form, Link, Question

__all__ = ["Listeners", "progress_of"]

log = logging.getLogger("trunkline.mcp")

_BURST = 50
_PER_SECOND = 10
_NOTICES = 20
_LONGEST = 2000


class Pace:
    """Lets a burst through, and after that so many a second."""

    def __init__(self, burst: int = _BURST, per_second: float = _PER_SECOND) -> None:
        """Begin with a whole burst."""
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


def progress_of(call: Call) -> ProgressFnT:
    """Make what shows a call's progress: every line once, and no more than people can read."""
    pace = Pace()
    shown = ""

    async def show(progress: float, total: float | None, message: str | None) -> None:
        nonlocal shown
        line = _how_far(progress, total, message)
        if line != shown and pace.allows():
            shown = line
            call.progress(f"{line}\n")

    return show


class Listeners:
    """The calls that run on one server now."""

    def __init__(self, server: str) -> None:
        """Nobody listens yet."""
        self._server = server
        self._calls: list[Call] = []
        self._told: tuple[Channel | None, int] = (None, 0)

    @contextmanager
    def joined(self, call: Call) -> Generator[None]:
        """Listen for as long as a call runs."""
        self._calls.append(call)
        try:
            yield
        finally:
            self._calls.remove(call)

    def _voice(self) -> Channel | None:
        voices = {id(call.voice): call.voice for call in self._calls}
        return next(iter(voices.values())) if len(voices) == 1 else None

    async def elicit(self, context: Any, params: types.ElicitRequestParams) -> types.ElicitResult:
        """Put a server's question to the person whose call runs; with nobody to ask it is declined."""
        voice = self._voice()
        if voice is None:
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
            return _result(await voice.ask(question, lane=lane), question)
        except SessionError:
            return types.ElicitResult(action="cancel")
        except Exception:
            # A server that is not answered would wait for ever.
            log.warning("a question of MCP server %s got no answer", self._server, exc_info=True)
            return types.ElicitResult(action="cancel")

    async def log(self, params: types.LoggingMessageNotificationParams) -> None:
        """Tell whoever listens; what is for nobody, or too much, is in our own log only."""
        data: Any = params.data
        text = data if isinstance(data, str) else json.dumps(data, ensure_ascii=False, default=str)
        log.debug("%s: %s: %s", self._server, params.level, text)
        voice = self._voice()
        severity = _SEVERITIES.get(params.level)
        if voice is None or severity is None:
            return
        known, told = self._told
        told = told + 1 if known is voice else 1
        self._told = (voice, told)
        if told < _NOTICES:
            self._notice(voice, severity, text)
        elif told == _NOTICES:
            self._notice(voice, "info", "it says more than is shown here; the rest is in the debug log")

    def _notice(self, voice: Channel, severity: Literal["info", "warning", "error"], text: str) -> None:
        voice.say(
            ev.Notice(
                title=f"MCP server {self._server!r}",
                description=text[:_LONGEST],
                severity=severity,
                code="mcp_log",
            )
        )


_SEVERITIES: dict[str, Literal["info", "warning", "error"]] = {
    "info": "info",
    "notice": "info",
    "warning": "warning",
    "error": "error",
    "critical": "error",
    "alert": "error",
    "emergency": "error",
}


def _how_far(progress: float, total: float | None, message: str | None) -> str:
    far = f"{progress / total:.0%}" if total else f"{progress:g}"
    return f"{far} {message[:_LONGEST]}" if message else far


def _result(answered: ev.Answered, question: Question) -> types.ElicitResult:
    if answered.outcome == "declined":
        return types.ElicitResult(action="decline")
    if answered.outcome != "accepted":
        return types.ElicitResult(action="cancel")
    if isinstance(question, Link):
        return types.ElicitResult(action="accept")
    return types.ElicitResult(action="accept", content=cast("dict[str, Any]", answered.content or {}))
