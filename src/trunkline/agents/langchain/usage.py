"""How many tokens a message cost: the usage that LangChain and older integrations report."""

from __future__ import annotations

from typing import Any

from trunkline import events as ev
from trunkline.agents.langchain.errors import as_dict


def token_usage(message: Any) -> ev.TokenUsage | None:
    """Read how many tokens a message cost."""
    metadata = as_dict(getattr(message, "response_metadata", None))
    usage = as_dict(getattr(message, "usage_metadata", None)) or (metadata and _old_usage(metadata))
    if not usage:
        return None
    read, written = as_dict(usage.get("input_token_details")), as_dict(usage.get("output_token_details"))
    return ev.TokenUsage(
        provider=metadata.get("model_provider"),
        model=metadata.get("model_name") or metadata.get("model"),
        input_tokens=int(usage.get("input_tokens") or 0),
        output_tokens=int(usage.get("output_tokens") or 0),
        reasoning_tokens=int(written.get("reasoning") or 0),
        cached_input_tokens=int(read.get("cache_read") or 0),
        cache_write_tokens=int(read.get("cache_creation") or 0),
    )


def _old_usage(metadata: dict[str, Any]) -> dict[str, Any]:
    """Read usage that is only in the provider's metadata, as before LangChain had usage_metadata."""
    usage = as_dict(metadata.get("token_usage")) or as_dict(metadata.get("usage"))
    read = usage.get("prompt_tokens") or usage.get("input_tokens")
    written = usage.get("completion_tokens") or usage.get("output_tokens")
    return {"input_tokens": read, "output_tokens": written} if read or written else {}
