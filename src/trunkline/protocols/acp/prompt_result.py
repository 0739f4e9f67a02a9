"""The answer to a prompt, both ways: how the turn ended, and how many tokens it used."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from trunkline import events as ev
from trunkline.protocols.acp.fields import as_list, as_object, look_up, text_in, whole_number
from trunkline.protocols.acp.profiles import STANDARD, Profile

_OURS = (("trunkline", "usage"),)
"""Where our own front end puts the usage of each model."""


def prompt_result(stop_reason: str, usage: Sequence[ev.TokenUsage]) -> dict[str, Any]:
    """Give our answer to a prompt."""
    result: dict[str, Any] = {"stopReason": stop_reason}
    if usage:
        result["_meta"] = {"trunkline": {"usage": msgspec.to_builtins(usage)}}
    return result


def turn_finished(result: Any, profile: Profile = STANDARD) -> ev.TurnFinished:
    """Read an agent's answer; a stop reason that is not known is kept as it is."""
    answer = as_object(result)
    meta = as_object(answer.get("_meta"))
    stop_reason: Any = text_in(answer, "stopReason") or "end_turn"
    return ev.TurnFinished(stop_reason=stop_reason, usage=_usage(answer, meta, profile), meta=meta or None)


def _usage(answer: Mapping[str, Any], meta: Mapping[str, Any], profile: Profile) -> tuple[ev.TokenUsage, ...]:
    """Read the tokens of each model, or else those of the whole turn."""
    try:
        ours = msgspec.convert(look_up(meta, _OURS), tuple[ev.TokenUsage, ...])
    except msgspec.ValidationError:
        ours = ()
    by_model = [
        ev.TokenUsage(
            model=text_in(item, "model"),
            input_tokens=_count(counted, "input_tokens"),
            output_tokens=_count(counted, "output_tokens"),
        )
        for item in map(as_object, as_list(look_up(meta, profile.usage_by_model)))
        if (counted := as_object(item.get("token_count")))
    ]
    total = as_object(answer.get("usage"))
    if ours or by_model or not total:
        return ours or tuple(by_model)
    whole = ev.TokenUsage(
        input_tokens=_count(total, "inputTokens"),
        output_tokens=_count(total, "outputTokens"),
        reasoning_tokens=_count(total, "thoughtTokens"),
        cached_input_tokens=_count(total, "cachedReadTokens"),
        cache_write_tokens=_count(total, "cachedWriteTokens"),
    )
    return (whole,)


def _count(given: Mapping[str, Any], name: str) -> int:
    return whole_number(given.get(name)) or 0
