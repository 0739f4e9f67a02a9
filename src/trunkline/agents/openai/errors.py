"""What went wrong in a run: a stop reason or a code for programs, the provider's own text for people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, cast

from trunkline import events as ev
from trunkline.errors import TrunklineError

_MAX_LENGTH = 500
_TRIPWIRES = frozenset({
    "InputGuardrailTripwireTriggered", "OutputGuardrailTripwireTriggered",
    "ToolInputGuardrailTripwireTriggered", "ToolOutputGuardrailTripwireTriggered",
})  # fmt: skip
"""A guardrail of an agent or of a tool forbade to go on; one that only rejects a call raises nothing."""
_STOP_REASONS: dict[str, ev.StopReason] = {
    "MaxTurnsExceeded": "max_turn_requests",
    "ModelRefusalError": "refusal",
    **dict.fromkeys(_TRIPWIRES, "refusal"),
    "ContentFilterFinishReasonError": "refusal",
    "LengthFinishReasonError": "max_tokens",
}
_CODES_BY_NAME = {
    "RateLimitError": "rate_limited",
    "AuthenticationError": "authentication_failed",
    "PermissionDeniedError": "authentication_failed",
    "NotFoundError": "model_not_found",
    "ContextWindowExceededError": "context_overflow",
    "APITimeoutError": "model_timeout",
    "ModelTimeoutError": "model_timeout",
    "APIConnectionError": "model_unreachable",
    "ModelBehaviorError": "model_failed",
    "APIError": "model_failed",
    "ToolTimeoutError": "tool_timeout",
}
_CODES_BY_PROVIDER_CODE = {
    "context_length_exceeded": "context_overflow",
    "string_above_max_length": "context_overflow",
    "rate_limit_exceeded": "rate_limited",
    "insufficient_quota": "rate_limited",
    "invalid_api_key": "authentication_failed",
    "model_not_found": "model_not_found",
}
_FILTERED = frozenset({"content_filter", "content_policy_violation"})
_LENGTH = "finish_reason='length'"
"""In the text of the SDK's error when a chat-completions model ran out of tokens before it said anything."""
_NOT_CONNECTED = "Server not initialized"
_NO_KEY = "api_key client option must be set"


def stop_reason_of(error: BaseException) -> ev.StopReason | None:
    """The reason why a run stopped with this exception, where that is no failure; else None."""
    for one in _causes(error):
        if provider_code(one) in _FILTERED:
            return "refusal"
        if _LENGTH in str(one):
            return "max_tokens"
        for name in _names(one):
            if name in _STOP_REASONS:
                return _STOP_REASONS[name]
    return None


def tripwire_of(error: BaseException) -> BaseException | None:
    """The exception of the guardrail that stopped a run; None if none did."""
    return next((one for one in _causes(error) if not _TRIPWIRES.isdisjoint(_names(one))), None)


def code_of(error: BaseException) -> str:
    """The code under which a turn that failed with this error is reported."""
    for one in _causes(error):
        if isinstance(one, TrunklineError):
            return one.code
        if (code := _CODES_BY_PROVIDER_CODE.get(provider_code(one))) is not None:
            return code
        if getattr(one, "status_code", None) == 413:
            return "context_overflow"
        for name in _names(one):
            if name in _CODES_BY_NAME:
                return _CODES_BY_NAME[name]
        if _NO_KEY in str(one):
            return "authentication_failed"
    return "agent_failed"


def explain(error: BaseException) -> str:
    """Describe an error in the provider's own text, on one line."""
    text = " ".join((_provider_text(error) or str(error)).split())
    if _NO_KEY in text:
        return "the model's API key is missing: set OPENAI_API_KEY, or give the agent a model with a client"
    if text.startswith(_NOT_CONNECTED):
        return (
            "an MCP server of the agent is not connected: make the agent in a function under "
            "@asynccontextmanager that yields it inside `async with` the server, and name that as the TARGET"
        )
    name = type(error).__name__
    if not isinstance(error, TrunklineError) and not text.startswith(name):
        text = f"{name}: {text}" if text else name
    wait = _wait_of(error)
    room = _MAX_LENGTH - len(wait)
    return (text if len(text) <= room else f"{text[: room - 1]}…") + wait


def provider_code(error: BaseException) -> str:
    """The code that the provider sent, in lower case; empty if it sent none."""
    code: Any = getattr(error, "code", None)
    if not isinstance(code, str):
        body = _body(error)
        code = body.get("code") or body.get("type")
    return str(code or "").lower()


def _provider_text(error: BaseException) -> str | None:
    message: Any = _body(error).get("message")
    return message if isinstance(message, str) and message.strip() else None


def _body(error: BaseException) -> dict[str, Any]:
    """What the provider sent: OpenAI's client gives the inner error, others the whole body."""
    body: Any = getattr(error, "body", None)
    if not isinstance(body, dict):
        return {}
    inner: Any = cast("dict[str, Any]", body).get("error")
    return cast("dict[str, Any]", inner if isinstance(inner, dict) else body)


def _wait_of(error: BaseException) -> str:
    headers: Any = getattr(getattr(error, "response", None), "headers", None)
    if not isinstance(headers, Mapping):
        return ""
    after = cast("Mapping[str, str]", headers).get("retry-after")
    if not after:
        return ""
    return f" (try again in {after} s)" if after.isdigit() else f" (try again after {after})"


def _causes(error: BaseException) -> Iterator[BaseException]:
    """An error and its causes, nearest first; at most eight."""
    one: BaseException | None = error
    for _ in range(8):
        if one is None:
            return
        yield one
        one = one.__cause__


def _names(error: BaseException) -> list[str]:
    return [kind.__name__ for kind in type(error).__mro__]
