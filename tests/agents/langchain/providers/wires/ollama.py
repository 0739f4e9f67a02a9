"""Ollama: a line of JSON for each piece."""

import json
from collections.abc import Iterator
from typing import Any

from tests.agents.langchain.providers.model_server import Reply, answer
from tests.agents.langchain.providers.wires.parts import Call, End, Part, Text, Thought, Wire, load


def line(**message: Any) -> dict[str, Any]:
    """A line of a stream."""
    output = {"role": "assistant", "content": "", **message}
    return {"model": Ollama.name, "created_at": "2026-01-01T00:00:00Z", "message": output, "done": False}


def says(*lines: dict[str, Any], reason: str | None = "stop") -> Reply:
    """A stream of lines, and why it ends; one without a reason just ends."""
    last = {**line(), "done": True, "done_reason": reason, "prompt_eval_count": 12, "eval_count": 7}
    output = [*lines, last] if reason else lines
    return Reply([json.dumps(one).encode() + b"\n" for one in output], "application/x-ndjson")


def call(city: str, name: str = "weather") -> dict[str, Any]:
    """A call as Ollama sends it: whole, and without an id."""
    return {"function": {"name": name, "arguments": {"city": city}}}


class Ollama(Wire):
    """Ollama: lines of JSON, no ids, and calls as a whole."""

    provider, name = "ollama", "qwen3"
    proves = names_calls = pieces = caches = False

    def model(self, url: str, **options: Any) -> Any:
        given: dict[str, Any] = {"model": self.name, "base_url": url, "reasoning": True}
        return load("langchain_ollama").ChatOllama(**given | options)

    def say(self, *parts: Part, end: End = "stop") -> Reply:
        return says(*(line(**message) for part in parts for message in self._messages(part)), reason=end)

    def _messages(self, part: Part) -> Iterator[dict[str, Any]]:
        match part:
            case Text():
                yield from ({"content": piece} for piece in part.pieces)
            case Thought():
                yield from ({"thinking": piece} for piece in part.pieces)
            case Call():
                yield {"tool_calls": [{"function": {"name": part.name, "arguments": part.arguments}}]}

    def limit(self) -> Reply:
        return answer(429, {"error": "Slow down, friend."}, **{"retry-after": "30"})

    def refuse(self) -> Reply:
        return answer(400, {"error": "I take no pictures."})

    def attached(self, asked: dict[str, Any]) -> Any:
        return asked["messages"][0]["content"].partition("Look!")[2].strip()

    def images(self, asked: dict[str, Any]) -> list[str]:
        return [image for message in asked["messages"] for image in message.get("images") or ()]

    def results(self, asked: dict[str, Any]) -> list[str]:
        return [json.dumps(message["content"]) for message in asked["messages"] if message["role"] == "tool"]

    def check(self, asked: dict[str, Any]) -> None:
        """Ollama takes any history."""
