"""Metadata on the AI SDK's wire: what agents say in fields of their own, and tokens spent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from trunkline import events as ev
from trunkline.protocols.aisdk.wire import JsonObject

__all__ = ["OURS", "merged", "news", "provider_metadata", "usage_metadata"]

OURS = "trunkline"
"""The name under which metadata of our own stands."""


def provider_metadata(meta: Mapping[str, Any] | None) -> JsonObject:
    """Give the fields of an agent as provider metadata, which is an object of objects."""
    found: JsonObject = {}
    for name, value in (meta or {}).items():
        if isinstance(value, dict):
            found[name] = {**cast("JsonObject", value), **found.get(name, {})}
        else:
            found.setdefault(OURS, {})[name] = value
    return found


def merged(first: JsonObject, second: JsonObject) -> JsonObject:
    """Join provider metadata field by field; the second wins."""
    both = dict(first)
    for name, fields in second.items():
        both[name] = {**both.get(name, {}), **fields}
    return both


def news(metadata: JsonObject, known: JsonObject, value: Any) -> JsonObject:
    """Leave out fields that were told already, and those that say no more than this value."""
    found: JsonObject = {}
    for name, fields in metadata.items():
        sent = known.get(name, {})
        rest = {
            key: field
            for key, field in fields.items()
            if not (key in sent and sent[key] == field) and (value is None or field != value)
        }
        if rest:
            found[name] = rest
    return found


def usage_metadata(spent: tuple[ev.TokenUsage, ...]) -> JsonObject:
    """Give the tokens of a turn as the AI SDK counts them, in all and for each model."""
    if not spent:
        return {}
    found: JsonObject = {"usage": _counts(spent)}
    if any(one.model or one.provider for one in spent):
        found["usageByModel"] = [
            {
                **({"provider": one.provider} if one.provider else {}),
                **({"model": one.model} if one.model else {}),
                **_counts((one,)),
            }
            for one in spent
        ]
    return found


def _counts(spent: tuple[ev.TokenUsage, ...]) -> JsonObject:
    total_input, total_output = sum(u.input_tokens for u in spent), sum(u.output_tokens for u in spent)
    counts = {
        "inputTokens": total_input,
        "outputTokens": total_output,
        "totalTokens": total_input + total_output,
    }
    for name, count in (
        ("reasoningTokens", sum(u.reasoning_tokens for u in spent)),
        ("cachedInputTokens", sum(u.cached_input_tokens for u in spent)),
        ("cacheWriteTokens", sum(u.cache_write_tokens for u in spent)),
    ):
        if count:
            counts[name] = count
    return counts
