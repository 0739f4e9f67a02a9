"""How a run ended: the terminal event for an exception, and for what the raw events said before it."""

from __future__ import annotations

from typing import Any

from trunkline import events as ev
from trunkline.agents.openai.errors import code_of, explain, stop_reason_of, tripwire_of
from trunkline.agents.openai.stream_events.fields import field, text_field
from trunkline.errors import TurnCancelled

__all__ = ["RunFacts", "notice_of", "stop_of"]

_INCOMPLETE: dict[str, ev.StopReason] = {"max_output_tokens": "max_tokens", "content_filter": "refusal"}
"""Reasons of ``incomplete_details`` (https://platform.openai.com/docs/api-reference/responses/object)."""
_REFUSED_CODES = frozenset({
    "content_filter", "content_policy_violation", "image_content_policy_violation", "bio_policy",
    "misalignment_policy_violation",
})  # fmt: skip
_CODES = {
    "rate_limit_exceeded": "rate_limited",
    "insufficient_quota": "rate_limited",
    "context_length_exceeded": "context_overflow",
    "string_above_max_length": "context_overflow",
    "invalid_api_key": "authentication_failed",
    "model_not_found": "model_not_found",
    "invalid_prompt": "request_refused",
    "vector_store_timeout": "model_timeout",
}
_ABOUT_IMAGE = ("image", "unsupported_image")


class RunFacts:
    """What the raw events say about the end of a run, before the SDK makes an exception of it."""

    __slots__ = ("error_code", "error_message", "failed", "incomplete", "length", "refusal")

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Begin a response: only the last one says how a run ended."""
        self.refusal = False
        """The model refused to answer."""
        self.incomplete: str | None = None
        """Why the response is incomplete."""
        self.length = False
        """It used as many tokens as it may: a chat-completions model does not say that it was cut off."""
        self.failed = False
        """The provider reported an error inside the stream."""
        self.error_code = ""
        self.error_message = ""


def stop_of(error: BaseException | None, facts: RunFacts) -> ev.TurnFinished | ev.TurnFailed:
    """Give the terminal of a run that ended with this exception, or without one."""
    if error is not None and (isinstance(error, TurnCancelled) or not isinstance(error, Exception)):
        return ev.TurnFinished(stop_reason="cancelled")
    if facts.incomplete is not None:
        reason = _INCOMPLETE.get(facts.incomplete)
        if reason is not None:
            return ev.TurnFinished(stop_reason=reason)
        return _failed("model_failed", f"the model stopped before its end: {facts.incomplete}", "")
    if facts.failed:
        return _provider_failure(facts)
    if error is None:
        return ev.TurnFinished(
            stop_reason="refusal" if facts.refusal else "max_tokens" if facts.length else "end_turn"
        )
    if (reason := stop_reason_of(error)) is not None:
        return ev.TurnFinished(stop_reason=reason)
    return ev.TurnFailed(code=code_of(error), message=explain(error))


def _provider_failure(facts: RunFacts) -> ev.TurnFinished | ev.TurnFailed:
    code = facts.error_code
    if code in _REFUSED_CODES:
        return ev.TurnFinished(stop_reason="refusal")
    known = _CODES.get(code)
    if known is None and any(word in code for word in _ABOUT_IMAGE):
        known = "input_refused"
    message = facts.error_message or "the provider reported an error without a text: try again"
    return _failed(known or "model_failed", message, code)


def _failed(code: str, message: str, provider_code: str) -> ev.TurnFailed:
    meta = {"provider_code": provider_code} if provider_code else None
    return ev.TurnFailed(code=code, message=message, meta=meta)


def notice_of(error: BaseException | None) -> ev.Notice | None:
    """Tell a person which guardrail stopped a run; None if none did."""
    tripwire = tripwire_of(error) if error is not None else None
    if tripwire is None:
        return None
    result = field(tripwire, "guardrail_result")
    guardrail = field(tripwire, "guardrail") or field(result, "guardrail")
    info = field(field(tripwire, "output") or field(result, "output"), "output_info")
    return ev.Notice(
        title=f"The guardrail {_name_of(guardrail)} stopped the run",
        severity="warning",
        description=info if isinstance(info, str) else None,
        code="guardrail_triggered",
    )


def _name_of(guardrail: Any) -> str:
    get_name = field(guardrail, "get_name")
    try:
        return str(get_name()) if callable(get_name) else text_field(guardrail, "name") or "of the agent"
    except Exception:
        return "of the agent"
