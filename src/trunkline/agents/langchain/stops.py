"""How a LangChain run ended: stop reasons, errors and tokens, whatever the provider calls them."""

from __future__ import annotations

from typing import Any, cast

from trunkline import content as c
from trunkline import events as ev

__all__ = ["explain", "map_error_to_content", "map_to_stop_reason", "usage_of"]

_LENGTH = frozenset(
    {"length", "max_tokens", "max_output_tokens", "model_length", "model_context_window_exceeded"}
)
_REFUSAL = frozenset(
    {
        "content_filter",
        "content_filtered",
        "refusal",
        "safety",
        "recitation",
        "blocklist",
        "prohibited_content",
        "spii",
        "guardrail_intervened",
        "image_safety",
    }
)


def map_to_stop_reason(outcome: Any) -> ev.StopReason:
    """Give the stop reason for a final message, its metadata, or an exception."""
    if isinstance(outcome, BaseException):
        return _of_error(outcome)
    metadata = getattr(outcome, "response_metadata", outcome)
    if not isinstance(metadata, dict):
        return "end_turn"
    told = cast("dict[str, Any]", metadata)
    details = cast("dict[str, Any]", told.get("incomplete_details") or {})
    for reason in (
        told.get("finish_reason"),
        told.get("stop_reason"),
        told.get("stopReason"),
        told.get("done_reason"),
        details.get("reason"),
    ):
        word = str(reason or "").lower().rpartition(".")[2]
        if word in _LENGTH:
            return "max_tokens"
        if word in _REFUSAL:
            return "refusal"
    return "end_turn"


def _of_error(error: BaseException) -> ev.StopReason:
    import asyncio

    if isinstance(error, asyncio.CancelledError):
        return "cancelled"
    names = {kind.__name__ for kind in type(error).__mro__}
    if names & {"GraphRecursionError", "ModelCallLimitExceededError", "ToolCallLimitExceededError"}:
        return "max_turn_requests"
    if names & {"ContentFilterFinishReasonError", "ModelRefusalError"}:
        return "refusal"
    if names & {"LengthFinishReasonError", "ContextOverflowError"}:
        return "max_tokens"
    return "end_turn"


def explain(error: BaseException) -> str:
    """Say what went wrong in the provider's own words, on one line."""
    body: Any = getattr(error, "body", None)
    if isinstance(body, dict):
        inner: Any = cast("dict[str, Any]", body).get("error", body)
        said: Any = cast("dict[str, Any]", inner).get("message") if isinstance(inner, dict) else None
        if said:
            return f"{type(error).__name__}: {said}"
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def map_error_to_content(error: BaseException) -> list[c.Content]:
    """Give an error as content that a person can read."""
    return [c.TextBlock(text=explain(error), meta={"error": type(error).__name__})]


def usage_of(message: Any) -> ev.TokenUsage | None:
    """Read the tokens a message cost."""
    usage: Any = getattr(message, "usage_metadata", None)
    if not usage:
        return None
    metadata = cast("dict[str, Any]", getattr(message, "response_metadata", None) or {})
    into = cast("dict[str, int]", usage.get("input_token_details") or {})
    out = cast("dict[str, int]", usage.get("output_token_details") or {})
    return ev.TokenUsage(
        provider=metadata.get("model_provider"),
        model=metadata.get("model_name") or metadata.get("model"),
        input_tokens=int(usage.get("input_tokens") or 0),
        output_tokens=int(usage.get("output_tokens") or 0),
        reasoning_tokens=int(out.get("reasoning") or 0),
        cached_input_tokens=int(into.get("cache_read") or 0),
        cache_write_tokens=int(into.get("cache_creation") or 0),
    )
