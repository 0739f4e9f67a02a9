"""Gemini: parts of a candidate."""

import json
from collections.abc import Iterator
from typing import Any

from tests.agents.langchain.providers.model_server import Reply, answer
from tests.agents.langchain.providers.wires.parts import (
    PROOF,
    Call,
    End,
    Part,
    Text,
    Thought,
    Wire,
    events,
    load,
)

_USAGE = {
    "promptTokenCount": 12,
    "candidatesTokenCount": 5,
    "thoughtsTokenCount": 2,
    "cachedContentTokenCount": 5,
    "totalTokenCount": 19,
}


def chunk(*parts: dict[str, Any], stop: str | None = None, **fields: Any) -> dict[str, Any]:
    """A piece of a stream; the last one says why it ends."""
    candidate = {"content": {"role": "model", "parts": list(parts)}, "index": 0, **fields}
    ending = {"finishReason": stop} if stop else {}
    return {"candidates": [{**candidate, **ending}], "usageMetadata": _USAGE, "modelVersion": Gemini.name}


class Gemini(Wire):
    """Gemini of Google, by REST."""

    provider, name = "google_genai", "gemini-3-pro-preview"
    names_calls = pieces = False

    def model(self, url: str, **options: Any) -> Any:
        given = {"google_api_key": "none", "base_url": url, "max_retries": 1, "include_thoughts": True}
        return load("langchain_google_genai").ChatGoogleGenerativeAI(model=self.name, **given, **options)

    def say(self, *parts: Part, end: End = "stop") -> Reply:
        stops = {"stop": "STOP", "length": "MAX_TOKENS", "refusal": "SAFETY"}
        output = [chunk(piece) for part in parts for piece in self._pieces(part)]
        return events(*output, chunk({"text": ""}, stop=stops[end]))

    def _pieces(self, part: Part) -> Iterator[dict[str, Any]]:
        match part:
            case Text():
                yield from ({"text": piece} for piece in part.pieces)
            case Thought():
                yield from ({"text": piece, "thought": True} for piece in part.pieces)
            case Call():
                yield {"functionCall": {"name": part.name, "args": part.arguments}, "thoughtSignature": PROOF}

    def limit(self) -> Reply:
        error = {"code": 429, "message": "Slow down, friend.", "status": "RESOURCE_EXHAUSTED"}
        return answer(429, {"error": error}, **{"retry-after": "30"})

    def refuse(self) -> Reply:
        error = {"code": 400, "message": "I take no pictures.", "status": "INVALID_ARGUMENT"}
        return answer(400, {"error": error})

    def attached(self, asked: dict[str, Any]) -> Any:
        return asked["contents"][0]["parts"][1]

    def images(self, asked: dict[str, Any]) -> list[str]:
        parts = [part for content in asked["contents"] for part in content["parts"]]
        return [part["inlineData"]["data"] for part in parts if "inlineData" in part]

    def results(self, asked: dict[str, Any]) -> list[str]:
        parts = [part for content in asked["contents"] for part in content["parts"]]
        return [json.dumps(part["functionResponse"]) for part in parts if "functionResponse" in part]

    def check(self, asked: dict[str, Any]) -> None:
        contents: list[dict[str, Any]] = asked["contents"]
        assert all(one.get("parts") for one in contents)
        asking = [
            place for place, one in enumerate(contents) if one["role"] == "user" and "text" in one["parts"][0]
        ]
        for place, one in enumerate(contents):
            made = [part for part in one["parts"] if "functionCall" in part]
            after: list[Any] = contents[place + 1]["parts"] if place + 1 < len(contents) else []
            answered = [part["functionResponse"]["name"] for part in after if "functionResponse" in part]
            assert [part["functionCall"]["name"] for part in made] == answered
            if made and place > asking[-1]:
                assert made[0].get("thoughtSignature"), "this turn's calls have a seal"
