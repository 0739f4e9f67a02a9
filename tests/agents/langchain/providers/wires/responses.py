"""Responses of OpenAI: items that are added, grow and are done."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from typing import Any

from tests.agents.langchain.providers.model_server import Reply
from tests.agents.langchain.providers.wires.chat import OpenAiChat
from tests.agents.langchain.providers.wires.parts import Call, End, Part, Text, Thought, Wire, events, load

_numbers = itertools.count(1)


class OpenAiResponses(Wire):
    """Responses of OpenAI."""

    provider, name = "openai", "gpt-5"

    def model(self, url: str, **options: Any) -> Any:
        return load("langchain_openai").ChatOpenAI(
            model=self.name,
            api_key="none",
            base_url=f"{url}/v1",
            max_retries=0,
            use_responses_api=True,
            reasoning={"effort": "low", "summary": "auto"},
            store=False,
            include=["reasoning.encrypted_content"],
            **options,
        )

    def say(self, *parts: Part, end: End = "stop") -> Reply:
        items = [self._item(number, part) for number, part in enumerate(parts)]
        begun = self._response("in_progress", [])
        output: list[Any] = [{"type": "response.created", "response": begun}]
        for index, (part, item) in enumerate(zip(parts, items, strict=True)):
            output += self._stream(index, part, item)
        reasons = {"length": "max_output_tokens", "refusal": "content_filter"}
        ended = self._response("incomplete" if end in reasons else "completed", items)
        if end in reasons:
            ended["incomplete_details"] = {"reason": reasons[end]}
        ended["usage"] = {
            "input_tokens": 12,
            "input_tokens_details": {"cached_tokens": 5, "cache_write_tokens": 0},
            "output_tokens": 7,
            "output_tokens_details": {"reasoning_tokens": 2},
            "total_tokens": 19,
        }
        output.append({"type": f"response.{ended['status']}", "response": ended})
        for number, event in enumerate(output):
            event["sequence_number"] = number
        return events(*output, named=True)

    def _response(self, status: str, output: list[Any]) -> dict[str, Any]:
        return {
            "id": f"resp_{next(_numbers)}",
            "object": "response",
            "created_at": 1,
            "status": status,
            "model": self.name,
            "output": output,
            "parallel_tool_calls": True,
            "tool_choice": "auto",
            "tools": [],
            "error": None,
            "incomplete_details": None,
            "instructions": None,
            "metadata": {},
            "temperature": 1.0,
            "top_p": 1.0,
        }

    def _item(self, number: int, part: Part) -> dict[str, Any]:
        match part:
            case Text():
                text: Any = {
                    "type": "output_text",
                    "text": "".join(part.pieces),
                    "annotations": [],
                    "logprobs": [],
                }
                return {
                    "id": f"msg_{number}",
                    "type": "message",
                    "role": "assistant",
                    "status": "completed",
                    "content": [text],
                }
            case Thought():
                summary = {"type": "summary_text", "text": "".join(part.pieces)}
                return {
                    "id": f"rs_{number}",
                    "type": "reasoning",
                    "summary": [summary],
                    "encrypted_content": part.proof,
                }
            case Call():
                return {
                    "id": f"fc_{number}",
                    "type": "function_call",
                    "status": "completed",
                    "call_id": part.id,
                    "name": part.name,
                    "arguments": "".join(part.pieces),
                }

    def _stream(self, index: int, part: Part, item: dict[str, Any]) -> Iterator[Any]:
        at = {"item_id": item["id"], "output_index": index}
        empty: Any = {
            "content": [],
            "summary": [],
            "arguments": "",
            "encrypted_content": None,
            "status": "in_progress",
        }
        begun = {key: empty.get(key, value) for key, value in item.items()}
        yield {"type": "response.output_item.added", "output_index": index, "item": begun}
        match part:
            case Text():
                at["content_index"] = 0
                whole = item["content"][0]
                yield {"type": "response.content_part.added", **at, "part": {**whole, "text": ""}}
                for piece in part.pieces:
                    yield {"type": "response.output_text.delta", **at, "delta": piece, "logprobs": []}
                yield {"type": "response.output_text.done", **at, "text": whole["text"], "logprobs": []}
                yield {"type": "response.content_part.done", **at, "part": whole}
            case Thought():
                at["summary_index"] = 0
                whole = item["summary"][0]
                kind = "response.reasoning_summary"
                yield {"type": f"{kind}_part.added", **at, "part": {**whole, "text": ""}}
                for piece in part.pieces:
                    yield {"type": f"{kind}_text.delta", **at, "delta": piece}
                yield {"type": f"{kind}_text.done", **at, "text": whole["text"]}
                yield {"type": f"{kind}_part.done", **at, "part": whole}
            case Call():
                kind = "response.function_call_arguments"
                for piece in part.pieces:
                    yield {"type": f"{kind}.delta", **at, "delta": piece}
                yield {"type": f"{kind}.done", **at, "name": part.name, "arguments": item["arguments"]}
        yield {"type": "response.output_item.done", "output_index": index, "item": item}

    def limit(self) -> Reply:
        return OpenAiChat().limit()

    def refuse(self) -> Reply:
        return OpenAiChat().refuse()

    def images(self, asked: dict[str, Any]) -> list[str]:
        images: list[str] = []
        for item in asked["input"]:
            for key in ("content", "output"):
                blocks: Any = item.get(key) if isinstance(item.get(key), list) else ()
                images += [block["image_url"] for block in blocks if block["type"] == "input_image"]
        return [image.partition("base64,")[2] for image in images]

    def results(self, asked: dict[str, Any]) -> list[str]:
        return [
            json.dumps(item["output"])
            for item in asked["input"]
            if item.get("type") == "function_call_output"
        ]
