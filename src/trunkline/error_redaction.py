"""Leaves the text of foreign exceptions out of what goes to clients far away.

An exception that is not ours may name files, hosts and secrets. The code that turns one into an event marks
it; front ends on one's own machine show its text, front ends on the web show its type and where to look.
"""

from __future__ import annotations

from typing import Any, TypeVar, cast

import msgspec

from trunkline import events as ev
from trunkline.conversation import Call
from trunkline.errors import TrunklineError

_MARK = "trunkline"
_WHY = {
    "rate_limited": "the model's provider wants fewer requests: try again later",
    "context_overflow": "the conversation is longer than the model takes",
    "model_timeout": "the model took too long: try again",
    "model_unreachable": "the model cannot be reached: try again later",
    "model_not_found": "the model's provider does not know the model",
    "authentication_failed": "the model's provider wants another key",
    "input_refused": "the model's provider refused what it was sent",
    "request_refused": "the model's provider refused the request",
    "model_failed": "the model's provider failed",
}

_FAILED = "the turn failed"
_FIELDS: dict[type[Any], str] = {
    Call: "reason",
    ev.Answered: "reason",
    ev.Compaction: "error",
    ev.SubagentFinished: "message",
    ev.ToolUpdate: "reason",
}

AnyEvent = TypeVar("AnyEvent")


def marks_of(error: BaseException) -> dict[str, Any] | None:
    """The meta of an event that has the words of an exception; None for errors of ours."""
    return None if isinstance(error, TrunklineError) else {_MARK: {"exception": type(error).__name__}}


def exception_in(event: Any) -> str | None:
    """The type of the exception whose words an event has."""
    meta: Any = getattr(event, "meta", None)
    marks: Any = cast("dict[str, Any]", meta).get(_MARK) if isinstance(meta, dict) else None
    found: Any = cast("dict[str, Any]", marks).get("exception") if isinstance(marks, dict) else None
    return found if isinstance(found, str) else None


def without_words(event: AnyEvent) -> AnyEvent:
    """Say an event without the words of an exception that is not ours.

    What a failed turn left open ends with the words of the turn's own end, so these are left out there.
    """
    seen: Any = event
    if isinstance(seen, ev.TurnFailed):
        if (name := exception_in(seen)) is None:
            return event
        why = _WHY.get(seen.code, "the agent failed")
        message = f"{why} ({name}); the log of the server says more about {seen.turn_id or 'it'}"
        return cast("AnyEvent", msgspec.structs.replace(seen, message=message))
    field = _FIELDS.get(cast("type[Any]", type(seen)))
    if field is None or not str(getattr(seen, field) or "").startswith(f"{_FAILED}:"):
        return event
    return msgspec.structs.replace(seen, **{field: _FAILED})
