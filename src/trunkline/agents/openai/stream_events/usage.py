"""How many tokens a response cost."""

from __future__ import annotations

from typing import Any

from trunkline import events as ev
from trunkline.agents.openai.stream_events.fields import field, number_field, text_field


def token_usage(response: Any) -> ev.TokenUsage | None:
    """Read the usage of a response; None if its provider sent none.

    A model that names its provider, as those of LiteLLM do (``anthropic/claude``), is taken at its word.
    """
    usage = field(response, "usage")
    if usage is None:
        return None
    named, apart, model = text_field(response, "model").rpartition("/")
    read, written = field(usage, "input_tokens_details"), field(usage, "output_tokens_details")
    return ev.TokenUsage(
        provider=named.rpartition("/")[2] if apart and named else None,
        model=model or None,
        input_tokens=number_field(usage, "input_tokens"),
        output_tokens=number_field(usage, "output_tokens"),
        reasoning_tokens=number_field(written, "reasoning_tokens"),
        cached_input_tokens=number_field(read, "cached_tokens"),
        cache_write_tokens=number_field(read, "cache_write_tokens"),
    )
