"""POST /v1/chat/completions and /v1/responses, as https://platform.openai.com/docs/api-reference says."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tests.peers.model.dialect import TOKENS_READ, TOKENS_WRITTEN, calls_tools, frame, text_of
from tests.peers.model.replies import Exchange, Hold, Part, Reply, Say, Think, Use

ROLES = {"user": "user", "tool": "user", "assistant": "model"}


class Completions:
    """The Chat Completions API, which most local servers speak."""

    def read(self, path: str, body: Mapping[str, Any]) -> Exchange:
        messages: list[dict[str, Any]] = body["messages"]
        return Exchange(
            [(ROLES.get(message["role"], "system"), text_of(message.get("content"))) for message in messages],
            frozenset(tool["function"]["name"] for tool in body.get("tools", ())),
            bool(body.get("stream")),
            body,
        )

    def stream(self, reply: Reply, ids: Iterator[int]) -> Iterator[str | Hold]:
        number = next(ids)
        called = 0
        yield _chunk(number, {"role": "assistant", "content": ""})
        for part in reply:
            match part:
                case Say(pieces):
                    key = "reasoning_content" if isinstance(part, Think) else "content"
                    for piece in pieces:
                        yield piece if isinstance(piece, Hold) else _chunk(number, {key: piece})
                case Use():
                    yield _chunk(number, {"tool_calls": [_tool_call(part, next(ids)) | {"index": called}]})
                    called += 1
                case _:
                    raise AssertionError(part)
        yield _chunk(number, {}, "tool_calls" if called else "stop")
        yield "data: [DONE]\n\n"

    def whole(self, reply: Reply, ids: Iterator[int]) -> dict[str, Any]:
        said = [part.text for part in reply if isinstance(part, Say) and not isinstance(part, Think)]
        calls = [_tool_call(part, next(ids)) for part in reply if isinstance(part, Use)]
        choice = {
            "index": 0,
            "message": {"role": "assistant", "content": "".join(said)}
            | ({"tool_calls": calls} if calls else {}),
            "finish_reason": "tool_calls" if calls_tools(reply) else "stop",
        }
        return _completion(next(ids), "chat.completion", choice)

    def error(self, status: int, message: str) -> dict[str, Any]:
        return {"error": {"message": message, "type": "invalid_request_error", "code": status}}


def _tool_call(part: Use, number: int) -> dict[str, Any]:
    function = {"name": part.tool, "arguments": json.dumps(part.input)}
    return {"id": f"call_{number:04}", "type": "function", "function": function}


def _chunk(number: int, delta: Mapping[str, Any], finish: str | None = None) -> str:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return frame(_completion(number, "chat.completion.chunk", choice))


def _completion(number: int, kind: str, choice: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "id": f"chatcmpl-{number:04}",
        "object": kind,
        "created": 1,
        "model": "scripted",
        "choices": [choice],
        "usage": {
            "prompt_tokens": TOKENS_READ,
            "completion_tokens": TOKENS_WRITTEN,
            "total_tokens": TOKENS_READ + TOKENS_WRITTEN,
        },
    }


class Responses:
    """The Responses API, which Codex speaks."""

    def read(self, path: str, body: Mapping[str, Any]) -> Exchange:
        items: list[dict[str, Any]] = body["input"]
        return Exchange(
            [_message(item) for item in items],
            frozenset(str(tool.get("name")) for tool in body.get("tools", ())),
            bool(body.get("stream")),
            body,
        )

    def stream(self, reply: Reply, ids: Iterator[int]) -> Iterator[str | Hold]:
        response = f"resp_{next(ids):04}"
        yield _event("response.created", response=_response(response, "in_progress", []))
        output: list[dict[str, Any]] = []
        for part in reply:
            item = _item(part, next(ids))
            where = {"output_index": len(output)}
            yield _event("response.output_item.added", item=item | {"status": "in_progress"}, **where)
            if isinstance(part, Say):
                yield from _pieces(part, where | {"item_id": item["id"]})
            yield _event("response.output_item.done", item=item, **where)
            output.append(item)
        yield _event("response.completed", response=_response(response, "completed", output))

    def whole(self, reply: Reply, ids: Iterator[int]) -> dict[str, Any]:
        return _response(f"resp_{next(ids):04}", "completed", [_item(part, next(ids)) for part in reply])

    def error(self, status: int, message: str) -> dict[str, Any]:
        return {"error": {"message": message, "type": "invalid_request_error", "code": None}}


def _message(item: Mapping[str, Any]) -> tuple[str, str]:
    kind: str = item.get("type", "message")
    if kind == "message":
        return ROLES.get(item["role"], "system"), text_of(item["content"])
    return ("user" if kind.endswith("_output") else "model"), text_of(item.get("output"))


def _event(kind: str, **fields: Any) -> str:
    return frame({"type": kind, **fields}, kind)


def _pieces(part: Say, where: Mapping[str, Any]) -> Iterator[str | Hold]:
    """The deltas of a text or of a summary of the thinking."""
    thinks = isinstance(part, Think)
    kind = "reasoning_summary_text" if thinks else "output_text"
    part_kind = "reasoning_summary_part" if thinks else "content_part"
    where = {**where, ("summary_index" if thinks else "content_index"): 0}
    yield _event(f"response.{part_kind}.added", part=_words(part, ""), **where)
    for piece in part.pieces:
        yield piece if isinstance(piece, Hold) else _event(f"response.{kind}.delta", delta=piece, **where)
    yield _event(f"response.{kind}.done", text=part.text, **where)


def _words(part: Say, text: str) -> dict[str, Any]:
    if isinstance(part, Think):
        return {"type": "summary_text", "text": text}
    return {"type": "output_text", "text": text, "annotations": []}


def _item(part: Part, number: int) -> dict[str, Any]:
    match part:
        case Think():
            return {"id": f"rs_{number}", "type": "reasoning", "summary": [_words(part, part.text)]}
        case Say():
            content = [_words(part, part.text)]
            return {"id": f"msg_{number}", "type": "message", "role": "assistant", "content": content}
        case Use(tool, str(text)):
            call = {"call_id": f"call_{number}", "name": tool, "input": text}
            return {"id": f"ctc_{number}", "type": "custom_tool_call", **call}
        case Use(tool, given):
            call = {"call_id": f"call_{number}", "name": tool, "arguments": json.dumps(given)}
            return {"id": f"fc_{number}", "type": "function_call", **call}
        case _:
            raise AssertionError(part)


def _response(response: str, status: str, output: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    usage = {
        "input_tokens": TOKENS_READ,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": TOKENS_WRITTEN,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": TOKENS_READ + TOKENS_WRITTEN,
    }
    ended = {"usage": usage} if status == "completed" else {}
    return {"id": response, "object": "response", "status": status, "output": output, **ended}
