"""Chat completions: the deltas of OpenAI, and what others made of them."""

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
    events,
    inner_blocks,
    load,
)

Delta = dict[str, Any]
_USAGE = {
    "prompt_tokens": 12,
    "completion_tokens": 7,
    "total_tokens": 19,
    "prompt_tokens_details": {"cached_tokens": 5},
}


def piece(index: int | None = None, call_id: str | None = None, **function: str) -> Delta:
    """A piece of a call: whatever a provider says of it at once."""
    output: Delta = {"function": function}
    output |= {} if index is None else {"index": index}
    output |= {} if call_id is None else {"id": call_id, "type": "function"}
    return {"tool_calls": [output]}


def say(*deltas: Delta, stop: str | None = "stop", error: Any = None, model: str = "a-model") -> Reply:
    """A stream of these deltas, which may end in an error, or without a reason."""
    output = [_chunk(delta, None, model) for delta in deltas]
    if stop is not None:
        output += [_chunk({}, stop, model), {**_chunk({}, None, model), "choices": [], "usage": _USAGE}]
    if error is not None:
        output.append({"error": error})
    return events(*output, done=True)


def _chunk(delta: Delta, stop: str | None, model: str) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "finish_reason": stop}
    about = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": model}
    return {**about, "choices": [choice]}


class OpenAiChat(Wire):
    """Chat completions of OpenAI, and of all who copied them."""

    provider, name = "openai", "gpt-4.1"
    thinks = proves = False

    def model(self, url: str, **options: Any) -> Any:
        given = {"model": self.name, "api_key": "none", "base_url": f"{url}/v1", "max_retries": 0}
        return load("langchain_openai").ChatOpenAI(**given | {"use_responses_api": False} | options)

    def say(self, *parts: Part, end: End = "stop") -> Reply:
        calls = [part for part in parts if isinstance(part, Call)]
        stop = "tool_calls" if calls else {"refusal": "content_filter"}.get(end, end)
        deltas = [delta for part in parts for delta in self._deltas(part, calls)]
        return say({"role": "assistant", "content": ""}, *deltas, stop=stop, model=self.name)

    def _deltas(self, part: Part, calls: list[Call]) -> Iterator[Delta]:
        match part:
            case Text():
                yield from ({"content": text} for text in part.pieces)
            case Thought():
                yield from ({"reasoning_content": text} for text in part.pieces)
            case Call():
                index = calls.index(part)
                yield piece(index, part.id, name=part.name, arguments="")
                yield from (piece(index, arguments=text) for text in part.pieces)

    def limit(self) -> Reply:
        error = {"message": "Slow down, friend.", "type": "requests", "code": "rate_limit_exceeded"}
        return answer(429, {"error": error}, **{"retry-after": "30"})

    def refuse(self) -> Reply:
        return answer(400, {"error": {"message": "I take no pictures.", "type": "invalid_request_error"}})

    def attached(self, asked: dict[str, Any]) -> Any:
        return asked["messages"][0]["content"][1]

    def images(self, asked: dict[str, Any]) -> list[str]:
        urls = [block["image_url"]["url"] for block in inner_blocks(asked) if block["type"] == "image_url"]
        return [url.partition("base64,")[2] for url in urls]

    def results(self, asked: dict[str, Any]) -> list[str]:
        return [json.dumps(message["content"]) for message in asked["messages"] if message["role"] == "tool"]

    def check(self, asked: dict[str, Any]) -> None:
        waiting: list[str] = []
        for message in asked["messages"]:
            if message["role"] == "tool":
                waiting.remove(message["tool_call_id"])
                continue
            assert not waiting
            waiting = [call["id"] for call in message.get("tool_calls") or ()]
            assert message.get("content") or waiting
        assert not waiting


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

    def _deltas(self, part: Part, calls: list[Call]) -> Iterator[Delta]:
        if isinstance(part, Call):
            yield piece(calls.index(part), part.id, name=part.name, arguments="".join(part.pieces))
        else:
            yield from super()._deltas(part, calls)
