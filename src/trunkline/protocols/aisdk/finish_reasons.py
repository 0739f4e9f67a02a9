"""Maps why a turn ended to the ``finishReason`` of a stream."""

from __future__ import annotations

from trunkline.protocols.aisdk.wire import StreamVersion

_REASONS = {
    "end_turn": "stop",
    "max_tokens": "length",
    "max_turn_requests": "other",
    "refusal": "content-filter",
    "cancelled": "interrupted",
}


def finish_reason(stop_reason: str, version: StreamVersion) -> str:
    """Give the reason that a stream finishes with; the raw one belongs into the metadata."""
    reason = _REASONS.get(stop_reason, "other")
    return reason if reason in version.finish_reasons else "other"
