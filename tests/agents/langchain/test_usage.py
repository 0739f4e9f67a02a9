from typing import Any

import pytest
from langchain_core.messages import AIMessage, AIMessageChunk

from trunkline import events as ev
from trunkline.agents.langchain.usage import token_usage


def test_tokens_are_read_with_their_details() -> None:
    message = AIMessageChunk(
        content="x",
        usage_metadata={
            "input_tokens": 10,
            "output_tokens": 5,
            "total_tokens": 15,
            "input_token_details": {"cache_read": 4, "cache_creation": 3},
            "output_token_details": {"reasoning": 2},
        },
        response_metadata={"model_provider": "anthropic", "model_name": "claude"},
    )
    assert token_usage(message) == ev.TokenUsage(
        provider="anthropic",
        model="claude",
        input_tokens=10,
        output_tokens=5,
        reasoning_tokens=2,
        cached_input_tokens=4,
        cache_write_tokens=3,
    )


@pytest.mark.parametrize(
    "metadata",
    [
        {"token_usage": {"prompt_tokens": 3, "completion_tokens": 2}, "model": "m"},
        {"usage": {"input_tokens": 3, "output_tokens": 2}, "model": "m"},
    ],
)
def test_tokens_are_found_in_older_metadata(metadata: dict[str, Any]) -> None:
    message = AIMessage(content="x", response_metadata=metadata)
    assert token_usage(message) == ev.TokenUsage(model="m", input_tokens=3, output_tokens=2)


def test_a_message_without_tokens_cost_nothing_we_know_of() -> None:
    assert token_usage(AIMessage(content="x")) is None
    assert token_usage(None) is None
