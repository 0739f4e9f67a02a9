from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages.content import KNOWN_BLOCK_TYPES
from tests.agents.langchain.expected_blocks import PNG, called

from trunkline import content as c
from trunkline import events as ev
from trunkline.agents.langchain.messages.content_mapper import ContentBlockMapper, Neutral

MAPPER = ContentBlockMapper()


TABLE: dict[str, tuple[dict[str, Any], list[Neutral]]] = {
    # The standard.
    "text": ({"type": "text", "text": "a", "id": "lc_1", "index": 0}, [c.TextBlock(text="a")]),
    "text without text": ({"type": "text", "index": -1}, [c.TextBlock(text="")]),
    "text with extras": (
        {"type": "text", "text": "a", "extras": {"signature": "S"}},
        [c.TextBlock(text="a", meta={"langchain": {"signature": "S"}})],
    ),
    "citation of a page": (
        {
            "type": "text",
            "text": "a",
            "annotations": [
                {"type": "citation", "url": "https://x", "title": "X", "start_index": 0, "end_index": 1}
            ],
        },
        [
            c.TextBlock(text="a"),
            ev.Source(
                message_id="m",
                source_id="https://x",
                url="https://x",
                title="X",
                meta={"citation": {"start_index": 0, "end_index": 1}},
            ),
        ],
    ),
    "citation of a document": (
        {
            "type": "text",
            "text": "",
            "annotations": [
                {"type": "citation", "title": "Doc", "cited_text": "q", "extras": {"page": 1}},
                {"type": "non_standard_annotation", "value": {}},
            ],
        },
        [
            ev.Source(
                message_id="m",
                source_id="m:0",
                title="Doc",
                document="Doc",
                meta={"citation": {"cited_text": "q", "extras": {"page": 1}}},
            )
        ],
    ),
    "reasoning": (
        {"type": "reasoning", "reasoning": "hm", "extras": {"signature": "S"}},
        [ev.Thought(message_id="m", delta="hm", signature="S")],
    ),
    "image by address": (
        {"type": "image", "url": "https://x/a.png"},
        [c.ImageBlock(mime_type="image/*", url="https://x/a.png")],
    ),
    "image by file id": (
        {"type": "image", "file_id": "f1", "mime_type": "image/png"},
        [c.ImageBlock(mime_type="image/png", url="file-id:f1")],
    ),
    "image as data, its type guessed": (
        {"type": "image", "base64": "/9j/AA=="},
        [c.ImageBlock(mime_type="image/jpeg", data="/9j/AA==")],
    ),
    "image as bytes": (
        {"type": "image", "base64": b"\x89PNG\r\n\x1a\n"},
        [c.ImageBlock(mime_type="image/png", data=PNG)],
    ),
    "image with extras": (
        {"type": "image", "base64": PNG, "mime_type": "image/png", "extras": {"detail": "low"}},
        [c.ImageBlock(mime_type="image/png", data=PNG, meta={"langchain": {"detail": "low"}})],
    ),
    "audio": (
        {"type": "audio", "base64": "AA==", "mime_type": "audio/mp3"},
        [c.AudioBlock(mime_type="audio/mp3", data="AA==")],
    ),
    "audio of no type": (
        {"type": "audio", "base64": "AA=="},
        [c.AudioBlock(mime_type="audio/wav", data="AA==")],
    ),
    "video": ({"type": "video", "url": "https://v"}, [c.VideoBlock(mime_type="video/*", url="https://v")]),
    "file as data": (
        {"type": "file", "base64": "AA==", "mime_type": "application/pdf", "extras": {"filename": "a.pdf"}},
        [
            c.ResourceBlock(
                uri="file:a.pdf",
                data="AA==",
                mime_type="application/pdf",
                meta={"langchain": {"filename": "a.pdf"}},
            )
        ],
    ),
    "file by address": (
        {"type": "file", "url": "https://x/d/a.pdf"},
        [c.LinkBlock(uri="https://x/d/a.pdf", name="a.pdf")],
    ),
    "file by id": ({"type": "file", "file_id": "f1"}, [c.LinkBlock(uri="file-id:f1", name="file-id:f1")]),
    "plain text document": (
        {"type": "text-plain", "text": "hi", "mime_type": "text/plain", "title": "T", "context": "C"},
        [
            c.ResourceBlock(
                uri="file:T",
                text="hi",
                mime_type="text/plain",
                meta={"langchain": {"title": "T", "context": "C"}},
            )
        ],
    ),
    "tool call": (
        {"type": "tool_call", "id": "c1", "name": "think", "args": {"a": 1}},
        called("think", {"a": 1}, title="Think", kind="think"),
    ),
    "tool call chunk": (
        {"type": "tool_call_chunk", "id": "c1", "name": "think", "args": '{"a', "index": 0},
        [
            ev.ToolCall(
                call_id="c1", native_id="c1", name="think", title="Think", kind="think", message_id="m"
            ),
            ev.ToolInput(call_id="c1", delta='{"a'),
        ],
    ),
    "chunk without arguments yet": (
        {"type": "server_tool_call_chunk", "id": "c1", "name": "think", "args": ""},
        called("think", None, title="Think", kind="think")[:1],
    ),
    "later chunk of a server's call": (
        {"type": "server_tool_call_chunk", "id": "c1", "args": "1}"},
        [ev.ToolInput(call_id="c1", delta="1}")],
    ),
    "chunk that only an index names": (
        {"type": "tool_call_chunk", "id": None, "name": None, "args": "1}", "index": 0},
        [
            ev.Raw(
                source="langchain",
                payload={"type": "tool_call_chunk", "id": None, "name": None, "args": "1}", "index": 0},
            )
        ],
    ),
    "server's call without an id": (
        {"type": "server_tool_call", "id": "", "name": "think", "args": {}},
        [
            ev.ToolCall(
                call_id="m:tool", native_id="", name="think", title="Think", kind="think", message_id="m"
            ),
            ev.ToolUpdate(call_id="m:tool", input={}),
        ],
    ),
    "server's result": (
        {"type": "server_tool_result", "tool_call_id": "c1", "status": "success", "output": "4"},
        [ev.ToolUpdate(call_id="c1", status="completed", raw_output="4", content=(c.TextBlock(text="4"),))],
    ),
    "server's failure without words": (
        {"type": "server_tool_result", "tool_call_id": "", "status": "error"},
        [ev.ToolUpdate(call_id="m:tool", status="failed", reason="the tool failed")],
    ),
    "non standard": (
        {"type": "non_standard", "value": {"a": 1}},
        [ev.Raw(source="langchain", payload={"type": "non_standard", "value": {"a": 1}})],
    ),
    "unknown": ({"type": "hologram"}, [ev.Raw(source="langchain", payload={"type": "hologram"})]),
    "media without data": ({"type": "image"}, [ev.Raw(source="langchain", payload={"type": "image"})]),
    "extras that are none of ours": (
        {"type": "text", "text": "a", "extras": {"trunkline": {"type": "hologram"}}},
        [c.TextBlock(text="a")],
    ),
}


@pytest.mark.parametrize(("block", "meaning"), TABLE.values(), ids=TABLE)
def test_a_block_means(block: dict[str, Any], meaning: list[Neutral]) -> None:
    before = repr(block)
    assert MAPPER.to_neutral(block, "m") == meaning
    assert repr(block) == before


def test_every_standard_block_of_this_langchain_is_in_the_table() -> None:
    known = {block.get("type") for block, _ in TABLE.values()}
    assert known >= KNOWN_BLOCK_TYPES - {"invalid_tool_call"}


@pytest.mark.parametrize(
    ("error", "reason"), [("no JSON here", "no JSON here"), (None, "its arguments are not JSON")]
)
def test_an_invalid_call_has_failed(error: str | None, reason: str) -> None:
    block = {"type": "invalid_tool_call", "id": "c1", "name": "think", "args": '{"a', "error": error}
    announced, failed = MAPPER.to_neutral(block)
    assert isinstance(announced, ev.ToolCall)
    assert failed == ev.ToolUpdate(call_id="c1", status="failed", input='{"a', reason=reason)


WORDS = sorted(
    {key for block, _ in TABLE.values() for key in block} | {"file_id", "tool_call_id", "content", "summary"}
)
TYPES = sorted({str(block.get("type")) for block, _ in TABLE.values()})
anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(WORDS), inner, max_size=3),
    max_leaves=6,
)


@given(st.sampled_from(TYPES) | anything, st.dictionaries(st.sampled_from(WORDS), anything, max_size=4))
def test_a_block_that_is_nonsense_is_read_as_something_that_a_journal_can_keep(kind: Any, rest: Any) -> None:
    for item in MAPPER.to_neutral({**rest, "type": kind}, "m"):
        event = item if isinstance(item, ev.Event) else ev.Media(message_id="m", content=item)
        assert ev.decode_event(ev.encode_event(event)) == event
