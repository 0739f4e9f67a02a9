"""POST /v1beta/models/M:generateContent and :streamGenerateContent.

https://ai.google.dev/api/generate-content says how.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tests.peers.model.dialect import TOKENS_READ, TOKENS_WRITTEN, frame
from tests.peers.model.replies import Exchange, Hold, Reply, Say, Think, Use


class Gemini:
    """The Gemini API."""

    def read(self, path: str, body: Mapping[str, Any]) -> Exchange:
        contents: list[dict[str, Any]] = body.get("contents", [])
        declared = [one for tool in body.get("tools", ()) for one in tool.get("functionDeclarations", ())]
        return Exchange(
            [(content.get("role", "user"), _text(content.get("parts", []))) for content in contents],
            frozenset(declaration["name"] for declaration in declared),
            ":streamGenerateContent" in path,
            body,
        )

    def stream(self, reply: Reply, ids: Iterator[int]) -> Iterator[str | Hold]:
        for part in reply:
            match part:
                case Say(pieces):
                    mark = {"thought": True} if isinstance(part, Think) else {}
                    for piece in pieces:
                        yield piece if isinstance(piece, Hold) else frame(_answer([{"text": piece, **mark}]))
                case Use(tool, given):
                    yield frame(_answer([{"functionCall": {"name": tool, "args": given}}]))
                case _:
                    raise AssertionError(part)
        yield frame(_answer([], finishReason="STOP"))

    def whole(self, reply: Reply, ids: Iterator[int]) -> dict[str, Any]:
        return _answer([{"text": part.text} for part in reply if isinstance(part, Say)], finishReason="STOP")

    def error(self, status: int, message: str) -> dict[str, Any]:
        return {"error": {"code": status, "message": message, "status": "INVALID_ARGUMENT"}}


def _text(parts: Sequence[Mapping[str, Any]]) -> str:
    return "\n".join(part.get("text") or json.dumps(part.get("functionResponse", "")) for part in parts)


def _answer(parts: Sequence[Mapping[str, Any]], **ended: str) -> dict[str, Any]:
    return {
        "candidates": [{"content": {"role": "model", "parts": [*parts]}, "index": 0, **ended}],
        "usageMetadata": {
            "promptTokenCount": TOKENS_READ,
            "candidatesTokenCount": TOKENS_WRITTEN,
            "totalTokenCount": TOKENS_READ + TOKENS_WRITTEN,
        },
        "modelVersion": "gemini-scripted",
    }
