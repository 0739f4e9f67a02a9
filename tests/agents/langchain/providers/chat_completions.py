"""Chat completions delta by delta, as the many who copied them from OpenAI send them."""

from __future__ import annotations

from typing import Any

from tests.agents.langchain.providers.model_server import Reply
from tests.agents.langchain.providers.wires import events

__all__ = ["Delta", "check_history", "piece", "say"]

Delta = dict[str, Any]


def piece(index: int | None = None, call_id: str | None = None, **function: str) -> Delta:
    """A piece of a call: whatever a provider says of it at once."""
    output: Delta = {"function": function}
    output |= {} if index is None else {"index": index}
    output |= {} if call_id is None else {"id": call_id, "type": "function"}
    return {"tool_calls": [output]}


def say(*deltas: Delta, stop: str | None = "stop", error: Any = None) -> Reply:
    """A stream of these deltas, which may end in an error, or without a reason."""
    output = [_chunk(delta, None) for delta in deltas]
    if stop is not None:
        output.append(_chunk({}, stop))
    if error is not None:
        output.append({"error": error})
    return events(*output, done=True)


def _chunk(delta: Delta, stop: str | None) -> dict[str, Any]:
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "a-model",
        "choices": [{"index": 0, "delta": delta, "finish_reason": stop}],
    }


def check_history(asked: dict[str, Any]) -> None:
    """Find in a request what a provider would refuse it for: calls that nobody answered right behind them."""
    waiting: list[str] = []
    for message in asked["messages"]:
        if message["role"] == "tool":
            waiting.remove(message["tool_call_id"])
            continue
        assert not waiting
        waiting = [call["id"] for call in message.get("tool_calls") or ()]
        assert message.get("content") or waiting
    assert not waiting
