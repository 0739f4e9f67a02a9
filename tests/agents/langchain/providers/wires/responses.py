"""Responses of OpenAI: items of every kind that are added, grow and are done, and what the server refuses."""

import itertools
import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

from tests.agents.langchain.providers.model_server import Reply, answer
from tests.agents.langchain.providers.wires.chat import OpenAiChat
from tests.agents.langchain.providers.wires.parts import Call, End, Part, Text, Thought, events

Item = dict[str, Any]
Event = dict[str, Any]
_numbers = itertools.count(1)
_EMPTY: Item = {"content": [], "summary": [], "arguments": "", "input": "", "outputs": None, "result": None}
_SERVED = {
    "web_search_call": ("in_progress", "searching", "completed"),
    "file_search_call": ("in_progress", "searching", "completed"),
    "image_generation_call": ("in_progress", "generating", "completed"),
    "code_interpreter_call": ("in_progress", "interpreting", "completed"),
    "mcp_call": ("in_progress", "completed"),
    "mcp_list_tools": ("in_progress", "completed"),
}
"""The states that a call of the server's own goes through, each an event."""


# -- items -----------------------------------------------------------------------------------------


def message(*texts: str, notes: Iterable[Any] = (), refusal: str | None = None, **fields: Any) -> Item:
    """A message of these texts, the last of them with notes; or one that refuses."""
    parts: list[Any] = [
        {"type": "output_text", "text": text, "annotations": [], "logprobs": []} for text in texts
    ]
    if parts:
        parts[-1]["annotations"] = list(notes)
    if refusal is not None:
        parts.append({"type": "refusal", "refusal": refusal})
    made = {"id": f"msg_{next(_numbers)}", "type": "message", "role": "assistant", "status": "completed"}
    return {**made, "content": parts, **fields}


def reasoning(*summary: str, sealed: str | None = None) -> Item:
    """A reasoning item with the parts of its summary, of which there may be none."""
    made = {"id": f"rs_{next(_numbers)}", "type": "reasoning", "encrypted_content": sealed}
    return {**made, "summary": [{"type": "summary_text", "text": text} for text in summary]}


def function_call(call_id: str, name: str, arguments: Any) -> Item:
    """A call of a function."""
    made = {"id": f"fc_{next(_numbers)}", "type": "function_call", "status": "completed"}
    return {**made, "call_id": call_id, "name": name, "arguments": json.dumps(arguments)}


# -- streams ---------------------------------------------------------------------------------------


def responds(*items: Item, **ending: Any) -> Reply:
    """A response of these items, one after the other."""
    return says([event for index, item in enumerate(items) for event in stream(index, item)], items, **ending)


def says(given: Iterable[Event], items: Iterable[Item], **ending: Any) -> Reply:
    """A response in these events; ``ending`` are fields of the response that ends it."""
    return events(*_framed(given, list(items), ending), named=True)


def comes_whole(*items: Item) -> Reply:
    """A response of these items that is not streamed."""
    return answer(200, {**_response(list(items)), "status": "completed", "usage": _USAGE})


def breaks(given: Iterable[Event], last: Event) -> Reply:
    """A response that ends with an event of another kind."""
    return events(
        *_numbered([{"type": "response.created", "response": _response([])}, *given, last]), named=True
    )


def _framed(given: Iterable[Event], items: list[Item], ending: dict[str, Any]) -> list[Event]:
    begun = _response([])
    ended = {**_response(items), "id": begun["id"], "status": "completed", "usage": _USAGE, **ending}
    return _numbered(
        [
            {"type": "response.created", "response": begun},
            {"type": "response.in_progress", "response": begun},
            *given,
            {"type": f"response.{ended['status']}", "response": ended},
        ]
    )


def _numbered(given: list[Event]) -> list[Event]:
    return [{**event, "sequence_number": number} for number, event in enumerate(given)]


def _response(items: list[Item]) -> dict[str, Any]:
    fields = {"object": "response", "created_at": 1, "status": "in_progress", "model": "gpt-5"}
    rest: Item = {
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "error": None,
        "metadata": {},
    }
    return {"id": f"resp_{next(_numbers)}", **fields, **rest, "output": items, "incomplete_details": None}


_USAGE = {
    "input_tokens": 12,
    "input_tokens_details": {"cached_tokens": 5, "cache_write_tokens": 0},
    "output_tokens": 7,
    "output_tokens_details": {"reasoning_tokens": 2},
    "total_tokens": 19,
}


def stream(index: int, item: Item) -> list[Event]:
    """The events of one item, from its beginning to its end."""
    begun = {key: _EMPTY.get(key, value) for key, value in item.items()}
    if "status" in begun:
        begun["status"] = "in_progress"
    at = {"item_id": item["id"], "output_index": index}
    return [
        {"type": "response.output_item.added", "output_index": index, "item": begun},
        *_pieces(at, item),
        {"type": "response.output_item.done", "output_index": index, "item": item},
    ]


def _pieces(at: dict[str, Any], item: Item) -> Iterator[Event]:
    kind = item["type"]
    if kind == "message":
        for number, part in enumerate(item["content"]):
            yield from _content({**at, "content_index": number}, part)
    elif kind == "reasoning":
        for number, part in enumerate(item["summary"]):
            where, about = {**at, "summary_index": number}, "response.reasoning_summary"
            yield {"type": f"{about}_part.added", **where, "part": {**part, "text": ""}}
            for piece in _words(part["text"]):
                yield {"type": f"{about}_text.delta", **where, "delta": piece}
            yield {"type": f"{about}_text.done", **where, "text": part["text"]}
            yield {"type": f"{about}_part.done", **where, "part": part}
    elif kind in ("function_call", "custom_tool_call"):
        about, field = (
            ("function_call_arguments", "arguments")
            if kind == "function_call"
            else ("custom_tool_call_input", "input")
        )
        for piece in _words(item[field]):
            yield {"type": f"response.{about}.delta", **at, "delta": piece}
        yield {"type": f"response.{about}.done", **at, "name": item["name"], field: item[field]}
    elif kind in _SERVED:
        *states, last = _SERVED[kind]
        yield from ({"type": f"response.{kind}.{state}", **at} for state in states)
        yield from _served(at, item)
        yield {"type": f"response.{kind}.{'failed' if item.get('error') else last}", **at}


def _content(at: dict[str, Any], part: dict[str, Any]) -> Iterator[Event]:
    if part["type"] == "refusal":
        yield {"type": "response.content_part.added", **at, "part": {**part, "refusal": ""}}
        for piece in _words(part["refusal"]):
            yield {"type": "response.refusal.delta", **at, "delta": piece}
        yield {"type": "response.refusal.done", **at, "refusal": part["refusal"]}
    else:
        yield {"type": "response.content_part.added", **at, "part": {**part, "text": "", "annotations": []}}
        for piece in _words(part["text"]):
            yield {"type": "response.output_text.delta", **at, "delta": piece, "logprobs": []}
        for number, note in enumerate(part["annotations"]):
            output = {"annotation_index": number, "annotation": note}
            yield {"type": "response.output_text.annotation.added", **at, **output}
        yield {"type": "response.output_text.done", **at, "text": part["text"], "logprobs": []}
    yield {"type": "response.content_part.done", **at, "part": part}


def _served(at: dict[str, Any], item: Item) -> Iterator[Event]:
    match item["type"]:
        case "code_interpreter_call":
            for piece in _words(item["code"]):
                yield {"type": "response.code_interpreter_call_code.delta", **at, "delta": piece}
            yield {"type": "response.code_interpreter_call_code.done", **at, "code": item["code"]}
        case "mcp_call":
            for piece in _words(item["arguments"]):
                yield {"type": "response.mcp_call_arguments.delta", **at, "delta": piece}
            yield {"type": "response.mcp_call_arguments.done", **at, "arguments": item["arguments"]}
        case "image_generation_call" if item["result"]:
            output = {"partial_image_index": 0, "partial_image_b64": item["result"][:4]}
            yield {"type": "response.image_generation_call.partial_image", **at, **output}
        case _:
            return


def _words(text: str) -> list[str]:
    return re.findall(r"\S+\s*", text)


def faults_of(asked: dict[str, Any]) -> list[str]:
    """Say for what the server would refuse a request."""
    items: list[Item] = asked["input"]
    calls = {item["call_id"] for item in items if item.get("type") in ("function_call", "custom_tool_call")}
    outputs = {item["call_id"] for item in items if str(item.get("type")).endswith("_call_output")}
    found = [f"no output for {call}" for call in sorted(calls - outputs)]
    found += [f"no call for the output {call}" for call in sorted(outputs - calls)]
    for item, after in itertools.pairwise([*items, {}]):
        kind = item.get("type")
        if kind == "reasoning":
            if after.get("role") == "user" or after.get("type") in (None, "function_call_output"):
                found.append(f"{item['id']} without what follows it")
            if asked.get("store") is False and not item.get("encrypted_content"):
                found.append(f"{item['id']} was not stored, and is not sealed")
            found += [f"{key} of {item['id']} is unknown" for key in item.keys() - _REASONING]
        if kind == "function_call" and not isinstance(item["arguments"], str):
            found.append(f"arguments of {item['call_id']} are no text")
        if kind == "message" and item.get("role") == "assistant":
            texts = [str(part.get("text", part.get("refusal"))) for part in item["content"]]
            found += ["a message without content"] * (not texts)
            found += [f"{key} of a message is unknown" for key in item.keys() - _MESSAGE]
        if "index" in item:
            found.append(f"index of {kind} is unknown")
    return found


_REASONING = frozenset({"id", "type", "summary", "content", "encrypted_content", "status"})
_MESSAGE = frozenset({"id", "type", "role", "content", "status", "phase"})


class OpenAiResponses(OpenAiChat):
    """Responses of OpenAI."""

    name = "gpt-5"
    thinks = proves = True

    def model(self, url: str, **options: Any) -> Any:
        sealed = {"store": False, "include": ["reasoning.encrypted_content"]}
        given = {"use_responses_api": True, "reasoning": {"effort": "low", "summary": "auto"}, **sealed}
        return super().model(url, **given | options)

    def say(self, *parts: Part, end: End = "stop") -> Reply:
        reasons = {"length": "max_output_tokens", "refusal": "content_filter"}
        ending = {"status": "incomplete", "incomplete_details": {"reason": reasons.get(end)}}
        return responds(*map(self._item, parts), **(ending if end in reasons else {}))

    def _item(self, part: Part) -> Item:
        whole = "".join(part.pieces)
        match part:
            case Text():
                return message(whole)
            case Thought():
                return reasoning(whole, sealed=part.proof)
            case Call():
                return {**function_call(part.id, part.name, None), "arguments": whole}

    def attached(self, asked: dict[str, Any]) -> Any:
        return asked["input"][0]["content"][1]

    def images(self, asked: dict[str, Any]) -> list[str]:
        lists: list[Any] = [item.get(key) for item in asked["input"] for key in ("content", "output")]
        blocks = [block for blocks in lists if not isinstance(blocks, str) for block in blocks or ()]
        images: list[str] = [block["image_url"] for block in blocks if block["type"] == "input_image"]
        return [image.partition("base64,")[2] for image in images]

    def results(self, asked: dict[str, Any]) -> list[str]:
        outputs = [item for item in asked["input"] if item.get("type") == "function_call_output"]
        return [json.dumps(item["output"]) for item in outputs]

    def check(self, asked: dict[str, Any]) -> None:
        assert faults_of(asked) == []
