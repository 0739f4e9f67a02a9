"""Gemini: parts of a candidate."""

from __future__ import annotations

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


class Gemini(Wire):
    """Gemini of Google, by REST."""

    provider, name = "google_genai", "gemini-3-pro-preview"
    names_calls = pieces = False

    def model(self, url: str, **options: Any) -> Any:
        return load("langchain_google_genai").ChatGoogleGenerativeAI(
            model=self.name,
            google_api_key="none",
            base_url=url,
            max_retries=1,
            include_thoughts=True,
            **options,
        )

    def say(self, *parts: Part, end: End = "stop") -> Reply:
        stops = {"stop": "STOP", "length": "MAX_TOKENS", "refusal": "SAFETY"}
        output = [self._chunk(piece) for part in parts for piece in self._pieces(part)]
        last = self._chunk({"text": ""})
        last["candidates"][0]["finishReason"] = stops[end]
        return events(*output, last)

    def _pieces(self, part: Part) -> Iterator[Any]:
        match part:
            case Text():
                yield from ({"text": piece} for piece in part.pieces)
            case Thought():
                *first, last = part.pieces
                yield from ({"text": piece, "thought": True} for piece in first)
                yield {"text": last, "thought": True}
            case Call():
                yield {"functionCall": {"name": part.name, "args": part.arguments}, "thoughtSignature": PROOF}

    def _chunk(self, part: Any) -> Any:
        return {
            "candidates": [{"content": {"role": "model", "parts": [part]}, "index": 0}],
            "usageMetadata": {
                "promptTokenCount": 12,
                "candidatesTokenCount": 5,
                "thoughtsTokenCount": 2,
                "cachedContentTokenCount": 5,
                "totalTokenCount": 19,
            },
            "modelVersion": self.name,
            "responseId": "resp1",
        }

    def limit(self) -> Reply:
        error = {"code": 429, "message": "Slow down, friend.", "status": "RESOURCE_EXHAUSTED"}
        return answer(429, {"error": error}, **{"retry-after": "30"})

    def refuse(self) -> Reply:
        error = {"code": 400, "message": "I take no pictures.", "status": "INVALID_ARGUMENT"}
        return answer(400, {"error": error})

    def images(self, asked: dict[str, Any]) -> list[str]:
        parts = [part for content in asked["contents"] for part in content["parts"]]
        return [part["inlineData"]["data"] for part in parts if "inlineData" in part]

    def results(self, asked: dict[str, Any]) -> list[str]:
        parts = [part for content in asked["contents"] for part in content["parts"]]
        return [json.dumps(part["functionResponse"]) for part in parts if "functionResponse" in part]
