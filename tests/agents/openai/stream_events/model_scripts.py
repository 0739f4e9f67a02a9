"""Scripts for the oracle's models: whatever a provider may send, in whatever pieces.

A script is what a model means: answers of thoughts, texts and calls. It is told in two ways: as the deltas of
a chat-completions server, and as the events of the Responses API, where any level (pieces, whole items, the
whole response) may be missing as long as another one has it.
"""

import itertools
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from hypothesis import strategies as st

from tests.agents.openai.stream_events import runs

Draw = st.DrawFn
TOOLS = ("echo", "draw", "fail", "now", "garbled")

_words = st.text('ab é世\n"\\😀', min_size=1, max_size=4)


@dataclass
class Call:
    """A call that a model makes."""

    call_id: str
    name: str
    arguments: str


@dataclass
class Answer:
    """One answer of a model."""

    thought: str
    text: str
    calls: list[Call] = field(default_factory=list[Call])


@st.composite
def scripts(draw: Draw, *, nested: bool = True) -> list[Answer]:
    """The answers to one prompt: those that call tools, and a last one that does not."""
    ids = (f"call_{number}" for number in itertools.count())
    return _script(draw, ids, depth=1 if nested else 0)


def _script(draw: Draw, ids: Iterator[str], depth: int) -> list[Answer]:
    calling = [_answer(draw, ids, depth, draw(st.integers(1, 3))) for _ in range(draw(st.integers(0, 2)))]
    last = _answer(draw, ids, depth, 0)
    last.text += "."
    return [*calling, last]


def _answer(draw: Draw, ids: Iterator[str], depth: int, calls: int) -> Answer:
    thought, text = (draw(st.just("") | _words) for _ in range(2))
    return Answer(thought, text, [_call(draw, ids, depth) for _ in range(calls)])


def _call(draw: Draw, ids: Iterator[str], depth: int) -> Call:
    name = draw(st.sampled_from([*TOOLS, *(["delegate"] * 2 * depth)]))
    written = json.dumps({"text": draw(_words)}, ensure_ascii=draw(st.booleans()))
    if name == "now":
        written = draw(st.sampled_from(["", "{}"]))
    elif name == "garbled":
        name, written = "echo", draw(st.sampled_from(['{"text" 1}', "text"]))
    elif name == "delegate":
        inner = _script(draw, ids, 0)
        written = json.dumps({"input": json.dumps(draw(chat_answers(inner)))})
    return Call(next(ids), name, written)


def cut(draw: Draw, text: str) -> list[str]:
    """A text in pieces."""
    cuts = draw(st.lists(st.integers(0, len(text)), max_size=3).map(sorted))
    return [piece for a, b in itertools.pairwise([0, *cuts, len(text)]) if (piece := text[a:b])]


def mix(draw: Draw, streams: list[list[Any]]) -> list[Any]:
    """Several streams in one: each keeps its order."""
    waiting, mixed = [list(stream) for stream in streams if stream], list[Any]()
    while waiting:
        stream = draw(st.sampled_from(waiting))
        mixed.append(stream.pop(0))
        waiting = [one for one in waiting if one]
    return mixed


# -- chat completions --------------------------------------------------------------------------------


@st.composite
def chat_answers(draw: Draw, answers: list[Answer]) -> list[dict[str, Any]]:
    """The answers as a chat-completions server sends them; the calls begin in their order."""
    return [_chat_answer(draw, answer) for answer in answers]


def _chat_answer(draw: Draw, answer: Answer) -> dict[str, Any]:
    key = draw(st.sampled_from(["reasoning_content", "reasoning"]))
    thoughts = [{key: piece} for piece in cut(draw, answer.thought)]
    starts, rests = list[Any](), list[list[Any]]()
    for index, call in enumerate(answer.calls):
        begin = {"index": index, "id": call.call_id, "type": "function"}
        starts.append({"tool_calls": [{**begin, "function": {"name": call.name, "arguments": ""}}]})
        pieces = cut(draw, call.arguments)
        rests.append([{"tool_calls": [{"index": index, "function": {"arguments": one}}]} for one in pieces])
    texts = [{"content": piece} for piece in cut(draw, answer.text)]
    chunks = [*thoughts, *mix(draw, [texts, [*starts, *mix(draw, rests)]])]
    return {"chunks": chunks, "finish": "tool_calls" if answer.calls else "stop"}


def meaning_of(answer: dict[str, Any]) -> Answer:
    """What the deltas of a chat-completions answer mean."""
    meant = Answer("", "")
    for delta in answer["chunks"]:
        meant.text += delta.get("content", "")
        meant.thought += delta.get("reasoning", "") + delta.get("reasoning_content", "")
        for piece in delta.get("tool_calls", ()):
            if "id" in piece:
                meant.calls.append(Call(piece["id"], piece["function"]["name"], ""))
            call = meant.calls[int(piece["index"])]
            call.arguments += str(piece["function"]["arguments"])
    return meant


# -- the Responses API -------------------------------------------------------------------------------


@st.composite
def response_events(draw: Draw, answer: Answer) -> list[Any]:
    """One answer as raw events; what one level leaves out another one has."""
    items: list[tuple[dict[str, Any], list[Any]]] = []
    if answer.thought:
        items.append(_reasoning(draw, answer.thought, len(items)))
    if answer.text:
        items.append(_message(draw, answer.text, len(items)))
    for call in answer.calls:
        items.append(_function(draw, call, len(items)))
    has_items, has_output = draw(st.sampled_from([(True, True), (True, False), (False, True)]))
    said: list[Any] = []
    if draw(st.booleans()):
        # All at once: the items begin in their order.
        said += [runs.added(_begun(item), at) for at, (item, _) in enumerate(items)]
        ends = [[runs.done(item, at)] * has_items for at, (item, _) in enumerate(items)]
        said += mix(draw, [[*pieces, *end] for (_, pieces), end in zip(items, ends, strict=True)])
    else:
        # A call that comes only with the whole response comes last, so without items none is streamed.
        for at, (item, pieces) in enumerate(items):
            live = has_items and draw(st.booleans())
            said += [runs.added(_begun(item), at), *pieces] if live else []
            said += [runs.done(item, at)] * has_items
    output = [item for item, _ in items] if has_output else []
    return [runs.created(), *said, runs.completed(output)]


def _begun(item: dict[str, Any]) -> dict[str, Any]:
    """An item as it begins."""
    return item | {
        key: "" if key == "arguments" else [] for key in ("arguments", "content", "summary") if key in item
    }


def _message(draw: Draw, text: str, at: int) -> tuple[dict[str, Any], list[Any]]:
    pieces = cut(draw, text)
    delta = "response.output_text.delta"
    return runs.message(text), [runs.raw(delta, delta=piece, output_index=at) for piece in pieces]


def _reasoning(draw: Draw, thought: str, at: int) -> tuple[dict[str, Any], list[Any]]:
    pieces = cut(draw, thought)
    if draw(st.booleans()):
        kind, part = "response.reasoning_summary_text.delta", {"summary": [_part("summary_text", thought)]}
    else:
        kind, part = "response.reasoning_text.delta", {"content": [_part("reasoning_text", thought)]}
    item: dict[str, Any] = {"id": "__fake_id__", "type": "reasoning", "summary": [], **part}
    return item, [runs.raw(kind, delta=piece, output_index=at) for piece in pieces]


def _part(kind: str, text: str) -> dict[str, str]:
    return {"type": kind, "text": text}


def _function(draw: Draw, call: Call, at: int) -> tuple[dict[str, Any], list[Any]]:
    item = {
        "id": "__fake_id__",
        "type": "function_call",
        "call_id": call.call_id,
        "name": call.name,
        "arguments": call.arguments,
    }
    delta = "response.function_call_arguments.delta"
    return item, [runs.raw(delta, delta=piece, output_index=at) for piece in cut(draw, call.arguments)]
