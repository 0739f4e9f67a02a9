"""POST /v1/messages, as https://platform.claude.com/docs/en/build-with-claude/streaming says."""

import itertools
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tests.peers.model.dialect import TOKENS_READ, TOKENS_WRITTEN, calls_tools, frame, text_of
from tests.peers.model.replies import Exchange, Hold, Reply, Say, Think, Use

ROLES = {"user": "user", "assistant": "model"}


class Anthropic:
    """The Messages API."""

    def read(self, path: str, body: Mapping[str, Any]) -> Exchange:
        messages: list[dict[str, Any]] = body["messages"]
        return Exchange(
            [(ROLES.get(message["role"], "system"), text_of(message["content"])) for message in messages],
            frozenset(tool["name"] for tool in body.get("tools", ())),
            bool(body.get("stream")),
            body,
        )

    def stream(self, reply: Reply, ids: Iterator[int]) -> Iterator[str | Hold]:
        yield _event("message_start", message=_message(next(ids), [], None))
        for index, part in zip(itertools.count(), reply, strict=False):
            match part:
                case Think(pieces):
                    block = {"type": "thinking", "thinking": "", "signature": ""}
                    yield from _block(index, block, "thinking", pieces)
                case Say(pieces):
                    yield from _block(index, {"type": "text", "text": ""}, "text", pieces)
                case Use(tool, given):
                    yield from _block(index, _call(tool, {}, ids), "input_json", _halves(json.dumps(given)))
                case _:
                    raise AssertionError(part)
        delta = {"stop_reason": _stop(reply), "stop_sequence": None}
        yield _event("message_delta", delta=delta, usage={"output_tokens": TOKENS_WRITTEN})
        yield _event("message_stop")

    def whole(self, reply: Reply, ids: Iterator[int]) -> dict[str, Any]:
        content: list[dict[str, Any]] = []
        for part in reply:
            match part:
                case Use(tool, given):
                    content.append(_call(tool, given, ids))
                case Say() if not isinstance(part, Think):
                    content.append({"type": "text", "text": part.text})
                case _:
                    pass
        return _message(next(ids), content, _stop(reply))

    def error(self, status: int, message: str) -> dict[str, Any]:
        kind = {400: "invalid_request_error", 401: "authentication_error"}.get(status, "api_error")
        return {"type": "error", "error": {"type": kind, "message": message}}


def _event(kind: str, **fields: Any) -> str:
    return frame({"type": kind, **fields}, kind)


def _block(
    index: int, block: Mapping[str, Any], kind: str, pieces: Sequence[str | Hold]
) -> Iterator[str | Hold]:
    yield _event("content_block_start", index=index, content_block=block)
    key = "partial_json" if kind == "input_json" else kind
    for piece in pieces:
        if isinstance(piece, Hold):
            yield piece
        else:
            yield _event("content_block_delta", index=index, delta={"type": f"{kind}_delta", key: piece})
    if kind == "thinking":
        delta = {"type": "signature_delta", "signature": "c2lnbmVk"}
        yield _event("content_block_delta", index=index, delta=delta)
    yield _event("content_block_stop", index=index)


def _halves(text: str) -> tuple[str, str]:
    return text[: len(text) // 2], text[len(text) // 2 :]


def _call(tool: str, given: Mapping[str, Any] | str, ids: Iterator[int]) -> dict[str, Any]:
    return {"type": "tool_use", "id": f"toolu_{next(ids):04}", "name": tool, "input": given}


def _message(number: int, content: Sequence[Mapping[str, Any]], stop: str | None) -> dict[str, Any]:
    return {
        "id": f"msg_{number:04}",
        "type": "message",
        "role": "assistant",
        "model": "claude-scripted",
        "content": content,
        "stop_reason": stop,
        "stop_sequence": None,
        "usage": {"input_tokens": TOKENS_READ, "output_tokens": TOKENS_WRITTEN},
    }


def _stop(reply: Reply) -> str:
    return "tool_use" if calls_tools(reply) else "end_turn"
