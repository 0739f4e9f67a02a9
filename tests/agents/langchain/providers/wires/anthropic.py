"""Messages of Anthropic: blocks that begin, grow and stop, and what makes a history one it takes."""

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
    inner_blocks,
    load,
)

SEARCH = {"type": "web_search_20250305", "name": "web_search"}
"""The search that Anthropic runs itself."""

Block = list[dict[str, Any]]
"""A block's beginning, and the deltas that follow it."""

_USAGE = {"input_tokens": 7, "cache_read_input_tokens": 5, "output_tokens": 7}


def begin(kind: str, **fields: Any) -> Block:
    """A block that comes whole with its beginning."""
    return [{"type": kind, **fields}]


def text(*pieces: str, citations: tuple[dict[str, Any], ...] = ()) -> Block:
    """Words of the answer; what they rest on comes before them."""
    output = [{"type": "citations_delta", "citation": citation} for citation in citations]
    return [
        {"type": "text", "text": ""},
        *output,
        *({"type": "text_delta", "text": piece} for piece in pieces),
    ]


def thought(*pieces: str) -> Block:
    """Words of the reasoning, and their proof."""
    begun = {"type": "thinking", "thinking": "", "signature": ""}
    output = [{"type": "thinking_delta", "thinking": piece} for piece in pieces]
    return [begun, *output, {"type": "signature_delta", "signature": PROOF}]


def hidden_thought(data: str) -> Block:
    """Reasoning that nobody may read."""
    return begin("redacted_thinking", data=data)


def call(call_id: str, name: str, *pieces: str, kind: str = "tool_use", **fields: Any) -> Block:
    """A call, its input in pieces of JSON."""
    begun: dict[str, Any] = {"type": kind, "id": call_id, "name": name, "input": {}, **fields}
    return [begun, *({"type": "input_json_delta", "partial_json": piece} for piece in ("", *pieces))]


def served(call_id: str, name: str, *pieces: str) -> Block:
    """A call that Anthropic runs itself."""
    return call(call_id, name, *pieces, kind="server_tool_use")


def result(name: str, call_id: str, content: Any, **fields: Any) -> Block:
    """What came of such a call."""
    return begin(f"{name}_tool_result", tool_use_id=call_id, content=content, **fields)


def page(url: str, title: str) -> dict[str, Any]:
    """A page that was found."""
    kept = {"encrypted_content": "ZW5jcnlwdGVk", "page_age": "1 day ago"}
    return {"type": "web_search_result", "url": url, "title": title, **kept}


def say(*blocks: Block, stop: str = "end_turn", sequence: str | None = None) -> Reply:
    """A stream of these blocks."""
    output: list[dict[str, Any]] = [{"type": "message_start", "message": _message([], None)}]
    for index, (first, *deltas) in enumerate(blocks):
        output.append({"type": "content_block_start", "index": index, "content_block": first})
        output += [{"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas]
        output.append({"type": "content_block_stop", "index": index})
    ended = {"stop_reason": stop, "stop_sequence": sequence}
    output.append({"type": "message_delta", "delta": ended, "usage": _USAGE})
    return events(*output, {"type": "message_stop"}, named=True)


def error(reply: Reply, kind: str, words: str) -> Reply:
    """The same stream with an error in place of its last block's end."""
    output = {"type": "error", "error": {"type": kind, "message": words}}
    return Reply([*reply.pieces[:-3], *events(output, named=True).pieces])


def whole(*blocks: Block, stop: str = "end_turn") -> Reply:
    """The same blocks as one answer, for a model that does not stream."""
    return answer(200, _message([_joined(block) for block in blocks], stop))


def _message(content: list[Any], stop: str | None) -> dict[str, Any]:
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-sonnet-5",
        "content": content,
        "stop_reason": stop,
        "stop_sequence": None,
        "usage": _USAGE,
    }


def _joined(block: Block) -> dict[str, Any]:
    made, *deltas = block
    made = dict(made)
    for delta in deltas:
        for key, value in delta.items():
            if key == "citation":
                made["citations"] = [*made.get("citations", []), value]
            elif key != "type":
                made[key] = made.get(key, "") + value
    if pieces := made.pop("partial_json", ""):
        made["input"] = json.loads(pieces)
    return made


# -- what it was asked -------------------------------------------------------------------------------


def blocks_of(asked: dict[str, Any]) -> list[list[dict[str, Any]]]:
    """The blocks of every message of a request."""
    return [list(_blocks(message["content"])) for message in asked["messages"]]


def _blocks(content: Any) -> Iterator[dict[str, Any]]:
    yield from [{"type": "text", "text": content}] if isinstance(content, str) else content


def _ids(blocks: list[dict[str, Any]], kind: str) -> list[str]:
    return [block["id"] for block in blocks if block["type"] == kind]


def _answered(blocks: list[dict[str, Any]], kinds: tuple[str, ...] | None = None) -> list[str]:
    found = [block for block in blocks if "tool_use_id" in block]
    return [block["tool_use_id"] for block in found if kinds is None or block["type"] in kinds]


class Anthropic(Wire):
    """Messages of Anthropic."""

    provider, name = "anthropic", "claude-sonnet-5"

    def model(self, url: str, **options: Any) -> Any:
        thinking = {"thinking": {"type": "enabled", "budget_tokens": 1024}, "max_tokens": 2048}
        given = {"model": self.name, "api_key": "none", "base_url": url, "max_retries": 0, **thinking}
        return load("langchain_anthropic").ChatAnthropic(**given | options)

    def say(self, *parts: Part, end: End = "stop") -> Reply:
        stops = {"stop": "end_turn", "length": "max_tokens", "refusal": "refusal"}
        stop = "tool_use" if any(isinstance(part, Call) for part in parts) else stops[end]
        return say(*map(self._block, parts), stop=stop)

    def _block(self, part: Part) -> Block:
        match part:
            case Text():
                return text(*part.pieces)
            case Thought():
                return thought(*part.pieces)
            case Call():
                return call(part.id, part.name, *part.pieces)

    def limit(self) -> Reply:
        error = {"type": "rate_limit_error", "message": "Slow down, friend."}
        return answer(429, {"type": "error", "error": error}, **{"retry-after": "30"})

    def refuse(self) -> Reply:
        error = {"type": "invalid_request_error", "message": "I take no pictures."}
        return answer(400, {"type": "error", "error": error})

    def attached(self, asked: dict[str, Any]) -> Any:
        return blocks_of(asked)[0][1]

    def images(self, asked: dict[str, Any]) -> list[str]:
        return [block["source"]["data"] for block in inner_blocks(asked) if block["type"] == "image"]

    def results(self, asked: dict[str, Any]) -> list[str]:
        results = [block for block in inner_blocks(asked) if block["type"] == "tool_result"]
        return [json.dumps(block["content"]) for block in results]

    def check(self, asked: dict[str, Any]) -> None:
        messages = blocks_of(asked)
        roles = [message["role"] for message in asked["messages"]]
        assert (roles[0], roles[-1]) == ("user", "user")
        for place, (role, blocks) in enumerate(zip(roles, messages, strict=True)):
            assert blocks
            assert all(block["text"].strip() for block in blocks if block["type"] == "text")
            after = messages[place + 1] if role == "assistant" else []
            kinds = ("tool_result",) if role == "assistant" else ()
            assert _ids(blocks, "tool_use") == _answered(after, kinds)
            own = (*_ids(blocks, "server_tool_use"), *_ids(blocks, "mcp_tool_use"))
            ended = _answered([block for block in blocks if block["type"] != "tool_result"])
            assert sorted(own) == sorted(ended)
