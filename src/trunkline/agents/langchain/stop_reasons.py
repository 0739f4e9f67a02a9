"""How a LangChain run ended: stop reasons, in the words of every provider.

Providers are recognised by the names they use; none of their packages is imported.
"""

from __future__ import annotations

import concurrent.futures
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, cast

from trunkline import events as ev
from trunkline.agents.langchain.errors import as_dict, causes_of, names, names_of, provider_code
from trunkline.agents.langchain.messages.history import split_turn
from trunkline.errors import TurnCancelled

_FINISH_REASONS: dict[ev.StopReason, frozenset[str]] = {
    "max_tokens": names(
        "length max_tokens max_output_tokens model_length error_limit model_context_window_exceeded"
    ),
    "refusal": names(
        "content_filter content_filtered refusal safety recitation blocklist prohibited_content spii "
        "language image_safety image_prohibited_content image_recitation guardrail_intervened "
        "error_toxic"
    ),
    "max_turn_requests": frozenset({"max_turns", "max_iterations"}),
    "cancelled": frozenset({"user_cancel", "cancelled"}),
}
_FAILURES = names(
    "error malformed_function_call malformed_response unexpected_tool_call too_many_tool_calls "
    "missing_thought_signature"
)
_REASON_KEYS = ("finish_reason", "stop_reason", "stopReason", "done_reason", "completion_reason")
_LIMITS = (
    "Model call limits exceeded: ",
    "Tool call limit reached: ",
    "' tool call limit reached: ",
    "Sorry, need more steps to process this request.",
)
"""Texts of LangChain's limit middlewares and of LangGraph's prebuilt agent when they stop a run."""
_CANCELLED = (TurnCancelled, concurrent.futures.CancelledError)
_ERRORS: dict[ev.StopReason, frozenset[str]] = {
    "max_turn_requests": names(
        "GraphRecursionError ModelCallLimitExceededError ToolCallLimitExceededError MaxTurnsExceeded"
    ),
    "refusal": names(
        "ContentFilterFinishReasonError ModelRefusalError OpenAIRefusalError BlockedPromptException "
        "StopCandidateException"
    ),
    "max_tokens": frozenset({"LengthFinishReasonError"}),
}


def map_to_stop_reason(outcome: Any) -> ev.StopReason:
    """Give the stop reason for what a run gave or raised: the result of ``ainvoke``, or an exception.

    A message, its metadata and a model's finish reason are taken as well.
    """
    if isinstance(outcome, BaseException):
        return _stop_of_error(outcome)
    if isinstance(outcome, str):
        return _stop_of_reasons([outcome])
    if isinstance(outcome, Mapping):
        metadata = cast("Mapping[str, Any]", outcome)
        if "messages" in metadata:
            answers = [one for one in split_turn(metadata)[1] if one.type == "ai"]
            return map_to_stop_reason(answers[-1] if answers else None)
        return _stop_of_reasons(_reasons_in(metadata.get("response_metadata") or metadata))
    if _was_refused(outcome):
        return "refusal"
    metadata: Any = getattr(outcome, "response_metadata", None) or {}
    if not metadata:
        return "max_turn_requests" if _was_stopped(outcome) else "end_turn"
    return _stop_of_reasons(_reasons_in(metadata))


def _reasons_in(metadata: Mapping[str, Any]) -> Iterator[Any]:
    yield from (metadata.get(key) for key in _REASON_KEYS)
    yield as_dict(metadata.get("incomplete_details")).get("reason")
    blocked = as_dict(metadata.get("prompt_feedback")).get("block_reason")
    if blocked and "unspecified" not in _word(blocked):
        yield "safety"


def _stop_of_reasons(reasons: Iterable[Any]) -> ev.StopReason:
    for word in (_word(reason) for reason in reasons if reason):
        for reason, known in _FINISH_REASONS.items():
            # LangChain concatenates the metadata of chunks: STOPSTOP.
            if word and any(not word.replace(one, "") for one in known):
                return reason
    return "end_turn"


def _word(reason: Any) -> str:
    return str(getattr(reason, "name", None) or reason or "").lower().rpartition(".")[2]


def failure_in_message(message: Any) -> str | None:
    """Why a model stopped, if it stopped because of a failure; else None."""
    metadata = as_dict(getattr(message, "response_metadata", None))
    word = next((str(reason) for reason in _reasons_in(metadata) if _word(reason) in _FAILURES), None)
    return word and f"the model stopped with {word}: try again, or ask in other words"


def _was_refused(message: Any) -> bool:
    if as_dict(getattr(message, "additional_kwargs", None)).get("refusal"):
        return True
    content: Any = getattr(message, "content", None)
    blocks = [as_dict(block) for block in cast("list[Any]", content)] if isinstance(content, list) else []
    # LangChain's standard content wraps it in a non_standard block.
    return any("refusal" in (block.get("type"), as_dict(block.get("value")).get("type")) for block in blocks)


def _was_stopped(message: Any) -> bool:
    text: Any = getattr(message, "content", None)
    return isinstance(text, str) and any(limit in text[:200] for limit in _LIMITS)


def _stop_of_error(error: BaseException) -> ev.StopReason:
    for one in causes_of(error):
        if isinstance(one, _CANCELLED) or not isinstance(one, Exception):
            return "cancelled"
        class_names = names_of(one)
        for reason, known in _ERRORS.items():
            if class_names & known:
                return reason
        # A StructuredOutputError has the message that lacks the structure.
        if _was_refused(getattr(one, "ai_message", None)):
            return "refusal"
        if provider_code(one) in ("content_filter", "content_policy_violation"):
            return "refusal"
    return "end_turn"
