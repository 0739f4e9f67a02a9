"""How a run of an AG-UI server ended: RUN_FINISHED and RUN_ERROR."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import msgspec

from trunkline import events as ev

Json = dict[str, Any]


class RunEnd(msgspec.Struct, frozen=True, kw_only=True):
    """How a run ended."""

    error: ev.TurnFailed | None = None
    outcome: str = "success"
    interrupts: tuple[Json, ...] = ()
    as_custom: bool = False
    """Whether the interrupts came as custom events, and in no other way."""
    pending: tuple[str, ...] = ()
    stop_reason: ev.StopReason = "end_turn"
    usage: tuple[ev.TokenUsage, ...] = ()


def read_finished(event: Json, custom_interrupts: Sequence[Json], unanswered: Sequence[str]) -> RunEnd:
    """Read RUN_FINISHED; ``custom_interrupts`` came as custom events, ``unanswered`` calls have no result."""
    outcome = cast("Json", event.get("outcome") or {})
    result: Any = event.get("result")
    reason: Any = cast("Json", result).get("stopReason") if isinstance(result, dict) else None
    known = reason in ("max_tokens", "max_turn_requests", "refusal")
    interrupts = tuple(outcome.get("interrupts") or ())
    as_custom = not outcome and bool(custom_interrupts)
    return RunEnd(
        outcome=outcome.get("type") or "success",
        interrupts=tuple(custom_interrupts) if as_custom else interrupts,
        as_custom=as_custom,
        pending=tuple(outcome.get("pendingToolCallIds") or unanswered),
        stop_reason=cast("ev.StopReason", reason if known else "end_turn"),
        usage=_usage(event.get("usage")),
    )


def read_error(event: Json) -> RunEnd:
    """Read RUN_ERROR."""
    code = (event.get("code") or "agent_failed").lower()
    error = ev.TurnFailed(code=code, message=event["message"], usage=_usage(event.get("usage")))
    return RunEnd(error=error, outcome="error")


def _usage(items: Any) -> tuple[ev.TokenUsage, ...]:
    return tuple(
        ev.TokenUsage(
            provider=item.get("provider"),
            model=item.get("model"),
            input_tokens=item.get("inputTokens") or 0,
            output_tokens=item.get("outputTokens") or 0,
            reasoning_tokens=item.get("reasoningTokens") or 0,
            cached_input_tokens=item.get("cachedInputTokens") or 0,
            cache_write_tokens=item.get("cacheWriteInputTokens") or 0,
        )
        for item in cast("list[Json]", items or [])
    )
