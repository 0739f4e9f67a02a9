"""Accounts: the tokens of a turn, added up by provider and model."""

from __future__ import annotations

from trunkline import events as ev

Account = dict[tuple[str | None, str | None], ev.TokenUsage]
"""The tokens that were spent, by provider and model."""


def add_usage(account: Account, usage: ev.TokenUsage) -> None:
    """Add tokens to an account."""
    key = (usage.provider, usage.model)
    known = account.get(key)
    if known is not None:
        usage = ev.TokenUsage(
            provider=usage.provider,
            model=usage.model,
            input_tokens=known.input_tokens + usage.input_tokens,
            output_tokens=known.output_tokens + usage.output_tokens,
            reasoning_tokens=known.reasoning_tokens + usage.reasoning_tokens,
            cached_input_tokens=known.cached_input_tokens + usage.cached_input_tokens,
            cache_write_tokens=known.cache_write_tokens + usage.cache_write_tokens,
        )
    account[key] = usage
