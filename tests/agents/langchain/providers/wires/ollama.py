"""Ollama: a line of JSON for each piece."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from tests.agents.langchain.providers.model_server import Reply, answer
from tests.agents.langchain.providers.wires.parts import Call, End, Part, Text, Thought, Wire, load


class Ollama(Wire):
    """Ollama: lines of JSON, no ids, and calls as a whole."""

    provider, name = "ollama", "qwen3"
    proves = names_calls = pieces = caches = False

    def model(self, url: str, **options: Any) -> Any:
        return load("langchain_ollama").ChatOllama(model=self.name, base_url=url, reasoning=True, **options)

    def say(self, *parts: Part, end: End = "stop") -> Reply:
        output = [self._line(message) for part in parts for message in self._messages(part)]
        output.append(
            {
                **self._line({"content": ""}),
                "done": True,
                "done_reason": end,
                "prompt_eval_count": 12,
                "eval_count": 7,
            }
        )
        return Reply([json.dumps(one).encode() + b"\n" for one in output], "application/x-ndjson")

    def _messages(self, part: Part) -> Iterator[Any]:
        match part:
            case Text():
                yield from ({"content": piece} for piece in part.pieces)
            case Thought():
                yield from ({"content": "", "thinking": piece} for piece in part.pieces)
            case Call():
                yield {
                    "content": "",
                    "tool_calls": [{"function": {"name": part.name, "arguments": part.arguments}}],
                }

    def _line(self, message: Any) -> dict[str, Any]:
        made = {"role": "assistant", **message}
        return {"model": self.name, "created_at": "2026-01-01T00:00:00Z", "message": made, "done": False}

    def limit(self) -> Reply:
        return answer(429, {"error": "Slow down, friend."}, **{"retry-after": "30"})

    def refuse(self) -> Reply:
        return answer(400, {"error": "I take no pictures."})

    def images(self, asked: dict[str, Any]) -> list[str]:
        return [image for message in asked["messages"] for image in message.get("images") or ()]

    def results(self, asked: dict[str, Any]) -> list[str]:
        return [json.dumps(message["content"]) for message in asked["messages"] if message["role"] == "tool"]
