"""Anthropic: blocks that begin, grow and stop."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from tests.agents.langchain.providers.model_server import Reply, answer
from tests.agents.langchain.providers.wires.parts import (
    Call,
    End,
    Part,
    Text,
    Thought,
    Wire,
    blocks_of,
    events,
    load,
)


class Anthropic(Wire):
    """Messages of Anthropic."""

    provider, name = "anthropic", "claude-sonnet-5"

    def model(self, url: str, **options: Any) -> Any:
        return load("langchain_anthropic").ChatAnthropic(
            model=self.name,
            api_key="none",
            base_url=url,
            max_retries=0,
            max_tokens=2048,
            thinking={"type": "enabled", "budget_tokens": 1024},
            **options,
        )

    def say(self, *parts: Part, end: End = "stop") -> Reply:
        stops = {"stop": "end_turn", "length": "max_tokens", "refusal": "refusal"}
        stop = "tool_use" if any(isinstance(part, Call) for part in parts) else stops[end]
        usage = {"input_tokens": 7, "cache_read_input_tokens": 5, "output_tokens": 1}
        begun: Any = {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": self.name,
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": usage,
        }
        output: list[Any] = [{"type": "message_start", "message": begun}]
        for index, part in enumerate(parts):
            output += self._block(index, part)
        output.append(
            {
                "type": "message_delta",
                "delta": {"stop_reason": stop, "stop_sequence": None},
                "usage": {**usage, "output_tokens": 7},
            }
        )
        return events(*output, {"type": "message_stop"}, named=True)

    def _block(self, index: int, part: Part) -> Iterator[Any]:
        match part:
            case Text():
                begun: dict[str, Any] = {"type": "text", "text": ""}
                deltas = [{"type": "text_delta", "text": piece} for piece in part.pieces]
            case Thought():
                begun = {"type": "thinking", "thinking": "", "signature": ""}
                deltas = [{"type": "thinking_delta", "thinking": piece} for piece in part.pieces]
                deltas.append({"type": "signature_delta", "signature": part.proof})
            case Call():
                begun = {"type": "tool_use", "id": part.id, "name": part.name, "input": {}}
                deltas = [{"type": "input_json_delta", "partial_json": piece} for piece in ("", *part.pieces)]
        yield {"type": "content_block_start", "index": index, "content_block": begun}
        for delta in deltas:
            yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}

    def limit(self) -> Reply:
        error = {"type": "rate_limit_error", "message": "Slow down, friend."}
        return answer(429, {"type": "error", "error": error}, **{"retry-after": "30"})

    def refuse(self) -> Reply:
        error = {"type": "invalid_request_error", "message": "I take no pictures."}
        return answer(400, {"type": "error", "error": error})

    def images(self, asked: dict[str, Any]) -> list[str]:
        return [block["source"]["data"] for block in blocks_of(asked) if block["type"] == "image"]

    def results(self, asked: dict[str, Any]) -> list[str]:
        return [json.dumps(block["content"]) for block in blocks_of(asked) if block["type"] == "tool_result"]
