"""Scripts for the oracle's model: whatever a provider may stream, in whatever chunks.

Calls come whole or in pieces cut anywhere, interleaved with each other, several in one chunk, and with
text beside them; text comes as a string or in blocks, with and without an index; any chunk may be empty.
Beside its chunks an answer has what a person says to the questions of its calls, in their order.
"""

import itertools
import json
from collections.abc import Iterator
from typing import Any

from hypothesis import strategies as st

Draw = st.DrawFn
Chunk = dict[str, Any]

_words = st.text('ab é世\n"\\😀', max_size=4)
_pieces = st.lists(_words, max_size=3)


_TOOLS = ("echo", "draw", "fail", "guarded", "ask", "now", "nobody", "garbled", "misfit")
FORM = {"action": "accept", "content": {"answer": "yes"}}


def choose(text: str) -> str:
    """What a person says to a guarded call: no to every "a"."""
    return "reject" if "a" in text else "approve"


@st.composite
def conversations(draw: Draw, *, nested: bool = True, asking: bool = True) -> list[str]:
    """The prompts of a session; every call in it has an id of its own.

    Without ``asking`` no tool asks a person.
    """
    ids = (f"call_{number}" for number in itertools.count())
    names = [name for name in _TOOLS if asking or name not in ("guarded", "ask")]
    turns = draw(st.integers(1, 2))
    return [_script(draw, ids, names, depth=1 if nested else 0) for _ in range(turns)]


def _script(draw: Draw, ids: Iterator[str], names: list[str], depth: int) -> str:
    """A turn: answers that call tools, and a last one that does not or breaks off."""
    count = draw(st.integers(0, 2))
    answers = [_answer(draw, ids, names, depth, calls=draw(st.integers(1, 3))) for _ in range(count)]
    return json.dumps([*answers, _answer(draw, ids, names, depth, calls=0)])


def _answer(draw: Draw, ids: Iterator[str], names: list[str], depth: int, *, calls: int) -> dict[str, Any]:
    replies: list[Any] = []
    streams = [_call(draw, ids, names, depth, index, replies) for index in range(calls)]
    output = _speech(draw) if calls else [*_speech(draw), {"content": "."}]
    chunks = _interleave(draw, output, streams)
    answer: dict[str, Any] = {"chunks": chunks, "replies": replies}
    if breaks := draw(st.integers(0, 9)) == 0:
        answer["raises"] = draw(st.sampled_from(["overloaded", "the line broke"]))
        answer["chunks"] = chunks[: draw(st.integers(1, len(chunks)))]
    if breaks or draw(st.integers(0, 3)) == 0:
        chunks[0]["id"] = f"msg_{next(ids)}"  # A provider's own; the others are LangChain's.
    return answer


# -- what is said ----------------------------------------------------------------------------------


def _speech(draw: Draw) -> list[Chunk]:
    """Text and thoughts, one after the other, each in a style of its own."""
    output: list[Chunk] = []
    # A provider has one place for its thoughts: equal ones in both would count as one.
    thought = draw(st.sampled_from(["thought", "aside"]))
    kinds = draw(st.lists(st.sampled_from(["text", "block", thought, "loose", thought]), max_size=3))
    for place, kind in enumerate(kinds):
        for piece in draw(_pieces):
            output.append(_chunk(kind, piece, place))
    return output


def _chunk(kind: str, piece: str, place: int) -> Chunk:
    match kind:
        case "text":
            return {"content": piece}
        case "block":
            return {"content": [{"type": "text", "text": piece, "index": place}]}
        case "thought":
            return {"content": [{"type": "reasoning", "reasoning": piece, "index": place}]}
        case "loose":
            return {"content": [{"type": "text", "text": piece}]}
        case _:
            return {"content": "", "additional_kwargs": {"reasoning_content": piece}}


# -- what is called --------------------------------------------------------------------------------


def _call(
    draw: Draw, ids: Iterator[str], names: list[str], depth: int, index: int, replies: list[Any]
) -> list[Chunk]:
    """The deltas of a call: its name and id come first, its arguments in pieces."""
    name = draw(st.sampled_from(names + ["delegate"] * 2 * depth))
    text = draw(_words)
    ascii_only = draw(st.booleans())
    args = {"text": text}
    if name == "delegate":
        args = {"script": _script(draw, ids, names, 0)}
    elif name == "guarded":
        replies.append(choose(text))
    elif name == "ask":
        replies.append(FORM)
    written = json.dumps(args, ensure_ascii=ascii_only)
    if name == "now":
        written = draw(st.sampled_from(["", "{}"]))
    elif name == "garbled":
        name, written = "echo", draw(st.sampled_from(['{"text" 1}', "[1, 2]", "text"]))
    elif name == "misfit":
        name, written = "echo", '{"words": 1}'
    cuts = draw(st.lists(st.integers(0, len(written)), max_size=3).map(sorted))
    pieces = [written[a:b] for a, b in itertools.pairwise([0, *cuts, len(written)])]
    first = {"name": name, "id": next(ids), "index": index}
    if draw(st.booleans()):
        return [{**first, "args": pieces[0]}, *[_delta(piece, index) for piece in pieces[1:]]]
    return [{**first, "args": ""}, *[_delta(piece, index) for piece in pieces]]


def _delta(args: str, index: int) -> Chunk:
    return {"name": None, "id": None, "index": index, "args": args}


def _interleave(draw: Draw, given: list[Chunk], streams: list[list[Chunk]]) -> list[Chunk]:
    """Bring everything into one order: calls begin one after the other, their deltas mix."""
    chunks: list[Chunk] = []
    open_calls: list[list[Chunk]] = []
    waiting = [list(stream) for stream in streams]
    given = list(given)
    while given or waiting or open_calls:
        ways = ["say"] * bool(given) + ["begin"] * bool(waiting) + ["go on"] * 2 * bool(open_calls)
        way = draw(st.sampled_from(ways))
        if way == "say":
            chunks.append(given.pop(0))
            continue
        if way == "begin":
            open_calls.append(waiting.pop(0))
        stream = open_calls[-1] if way == "begin" else draw(st.sampled_from(open_calls))
        delta = stream.pop(0)
        open_calls = [one for one in open_calls if one]
        beside: list[Chunk] = chunks[-1].setdefault("tool_call_chunks", []) if chunks else []
        if chunks and all(one["index"] != delta["index"] for one in beside) and draw(st.booleans()):
            beside.append(delta)
        else:
            chunks.append({"content": "", "tool_call_chunks": [delta]})
    return chunks or [{"content": ""}]
