"""Why a turn ended as one of the error codes of a UnifiedMessage."""

from __future__ import annotations

from trunkline import events as ev
from trunkline.protocols.unified.wire import UnifiedErrorCode

__all__ = ["code_of_failure", "code_of_stop", "needs_login"]

_FAILURES: dict[str, UnifiedErrorCode] = {
    "agent_exited": "execution_error",
    "agent_failed": "execution_error",
    "agent_handshake": "execution_error",
    "agent_not_found": "execution_error",
    "agent_protocol": "execution_error",
    "authentication_failed": "provider_auth",
    "authentication_required": "provider_auth",
    "cancelled": "aborted",
    "closed": "aborted",
    "context_overflow": "context_overflow",
    "input_refused": "api_error",
    "interrupted": "aborted",
    "model_failed": "api_error",
    "model_not_found": "api_error",
    "model_timeout": "api_error",
    "model_unreachable": "api_error",
    "rate_limited": "rate_limit",
    "request_refused": "api_error",
}
_STOPS: dict[str, UnifiedErrorCode] = {
    "cancelled": "aborted",
    "max_tokens": "output_length",
    "max_turn_requests": "max_turns",
}


def code_of_failure(failed: ev.TurnFailed) -> UnifiedErrorCode:
    """Give the code of a turn that failed; one of an agent's own that we do not know is its execution."""
    known = _FAILURES.get(failed.code)
    if known is not None:
        return known
    return "execution_error" if failed.fault == "agent" else "unknown"


def code_of_stop(stop_reason: str) -> UnifiedErrorCode | None:
    """Give the code of a turn that stopped before its answer was whole; None for one that is whole."""
    return _STOPS.get(stop_reason)


def needs_login(failed: ev.TurnFailed) -> bool:
    """Whether the turn failed for want of a login: ACP's -32000, or a provider that wants another key."""
    return code_of_failure(failed) == "provider_auth"
