"""Tokens spent, as AG-UI counts them."""

from __future__ import annotations

from trunkline import events as ev
from trunkline.protocols.agui import wire


def usage_of(spent: tuple[ev.TokenUsage, ...]) -> tuple[wire.TokenUsage, ...] | None:
    """Give the tokens of each model of each provider; None if there are no counts."""
    return (
        tuple(
            wire.TokenUsage(
                provider=usage.provider,
                model=usage.model,
                input_tokens=usage.input_tokens,
                output_tokens=usage.output_tokens,
                total_tokens=usage.input_tokens + usage.output_tokens,
                reasoning_tokens=usage.reasoning_tokens or None,
                cached_input_tokens=usage.cached_input_tokens or None,
                cache_write_input_tokens=usage.cache_write_tokens or None,
            )
            for usage in spent
        )
        or None
    )
