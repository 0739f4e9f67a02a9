"""Chat completions: the deltas of OpenAI, and what others made of them."""

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


class OpenAiChat(Wire):
    """Chat completions of OpenAI, and of all who copied them."""

    provider, name = "openai", "gpt-4.1"
    thinks = proves = False

    def model(self, url: str, **options: Any) -> Any:
        return load("langchain_openai").ChatOpenAI(
            model=self.name,
            api_key="none",
            base_url=f"{url}/v1",
            max_retries=0,
            use_responses_api=False,
            **options,
        )

    def say(self, *parts: Part, end: End = "stop") -> Reply:
        calls = [part for part in parts if isinstance(part, Call)]
        stop = "tool_calls" if calls else {"refusal": "content_filter"}.get(end, end)
        output: list[Any] = [self._chunk({"role": "assistant", "content": ""})]
        for part in parts:
            output += [self._chunk(delta) for delta in self._deltas(part, calls)]
        output.append(self._chunk({}, finish_reason=stop))
        usage = {
            "prompt_tokens": 12,
            "completion_tokens": 7,
            "total_tokens": 19,
            "prompt_tokens_details": {"cached_tokens": 5},
        }
        output.append({**self._chunk({}), "choices": [], "usage": usage})
        return events(*output, done=True)

    def _deltas(self, part: Part, calls: list[Call]) -> Iterator[Any]:
        match part:
            case Text():
                yield from ({"content": piece} for piece in part.pieces)
            case Thought():
                yield from ({"reasoning_content": piece} for piece in part.pieces)
            case Call():
                index = calls.index(part)
                function = {"name": part.name, "arguments": ""}
                yield {
                    "tool_calls": [{"index": index, "id": part.id, "type": "function", "function": function}]
                }
                for piece in part.pieces:
                    yield {"tool_calls": [{"index": index, "function": {"arguments": piece}}]}

    def _chunk(self, delta: Any, finish_reason: str | None = None) -> Any:
        return {
            "id": "chatcmpl-1",
            "object": "chat.completion.chunk",
            "created": 1,
            "model": self.name,
            "choices": [{"index": 0, "delta": delta, "finish_reason": finish_reason}],
        }

    def limit(self) -> Reply:
        error = {
            "message": "Slow down, friend.",
            "type": "requests",
            "param": None,
            "code": "rate_limit_exceeded",
        }
        return answer(429, {"error": error}, **{"retry-after": "30"})

    def refuse(self) -> Reply:
        error = {
            "message": "I take no pictures.",
            "type": "invalid_request_error",
            "param": None,
            "code": None,
        }
        return answer(400, {"error": error})

    def images(self, asked: dict[str, Any]) -> list[str]:
        urls = [block["image_url"]["url"] for block in blocks_of(asked) if block["type"] == "image_url"]
        return [url.partition("base64,")[2] for url in urls]

    def results(self, asked: dict[str, Any]) -> list[str]:
        return [json.dumps(message["content"]) for message in asked["messages"] if message["role"] == "tool"]


class DeepSeek(OpenAiChat):
    """DeepSeek, who copied them and thinks."""

    provider, name = "deepseek", "deepseek-reasoner"
    thinks = True

    def model(self, url: str, **options: Any) -> Any:
        return load("langchain_deepseek").ChatDeepSeek(
            model=self.name, api_key="none", api_base=url, max_retries=0, **options
        )


class Mistral(OpenAiChat):
    """Mistral, who copied them and sends calls as a whole."""

    provider, name = "mistralai", "mistral-large-latest"
    caches = False

    def model(self, url: str, **options: Any) -> Any:
        return load("langchain_mistralai").ChatMistralAI(
            model_name=self.name, api_key="none", endpoint=f"{url}/v1", max_retries=0, **options
        )

    def say(self, *parts: Part, end: End = "stop") -> Reply:
        *first, last, usage = [json.loads(piece[6:]) for piece in super().say(*parts, end=end).pieces[:-1]]
        return events(*first, {**last, "usage": usage["usage"]}, done=True)

    def _deltas(self, part: Part, calls: list[Call]) -> Iterator[Any]:
        if not isinstance(part, Call):
            yield from super()._deltas(part, calls)
            return
        function = {"name": part.name, "arguments": "".join(part.pieces)}
        yield {"tool_calls": [{"index": calls.index(part), "id": part.id, "function": function}]}
