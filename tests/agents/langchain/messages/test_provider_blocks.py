from typing import Any

import pytest
from langchain_core.messages import AIMessage
from tests.agents.langchain.expected_blocks import PNG, called

from trunkline import content as c
from trunkline import events as ev
from trunkline.agents.langchain.messages.content_mapper import ContentBlockMapper, Neutral
from trunkline.agents.langchain.messages.provider_blocks import beside_content

MAPPER = ContentBlockMapper()


TABLE: dict[str, tuple[dict[str, Any], list[Neutral]]] = {
    # Anthropic.
    "anthropic tool use": (
        {"type": "tool_use", "id": "c1", "name": "think", "input": {"a": 1}},
        called("think", {"a": 1}, title="Think", kind="think"),
    ),
    "anthropic tool use in pieces": (
        {"type": "tool_use", "id": "c1", "name": "think", "input": {}, "partial_json": '{"a": 1}'},
        called("think", {"a": 1}, title="Think", kind="think"),
    ),
    "anthropic tool use cut short": (
        {"type": "tool_use", "id": "c1", "name": "think", "input": {}, "partial_json": '{"a'},
        called("think", '{"a', title="Think", kind="think"),
    ),
    "anthropic image": (
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}},
        [c.ImageBlock(mime_type="image/png", data=PNG)],
    ),
    "anthropic image by file id": (
        {"type": "image", "source": {"type": "file", "file_id": "f1"}},
        [c.ImageBlock(mime_type="image/*", url="file-id:f1")],
    ),
    "anthropic image of a source nobody knows": (
        {"type": "image", "source": "somewhere"},
        [ev.Raw(source="langchain", payload={"type": "image", "source": "somewhere"})],
    ),
    "anthropic document": (
        {
            "type": "document",
            "source": {"type": "text", "media_type": "text/plain", "data": "hi"},
            "title": "T",
        },
        [
            c.ResourceBlock(
                uri="file:T", text="hi", mime_type="text/plain", meta={"langchain": {"title": "T"}}
            )
        ],
    ),
    "anthropic document by file id": (
        {"type": "document", "source": {"type": "file", "file_id": "f1"}},
        [c.LinkBlock(uri="file-id:f1", name="file-id:f1")],
    ),
    "anthropic document of blocks": (
        {"type": "document", "source": {"type": "content", "content": [{"type": "text", "text": "hi"}]}},
        [c.TextBlock(text="hi")],
    ),
    "anthropic document of text": (
        {"type": "document", "source": {"type": "content", "content": "hi"}},
        [c.TextBlock(text="hi")],
    ),
    # OpenAI.
    "openai image as data": (
        {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}"}},
        [c.ImageBlock(mime_type="image/png", data=PNG)],
    ),
    "openai image by address": (
        {"type": "image_url", "image_url": "https://x"},
        [c.ImageBlock(mime_type="image/*", url="https://x")],
    ),
    "openai image in a prompt": (
        {"type": "input_image", "image_url": "https://x"},
        [c.ImageBlock(mime_type="image/*", url="https://x")],
    ),
    "openai image by file id": (
        {"type": "input_image", "file_id": "f1"},
        [c.ImageBlock(mime_type="image/*", url="file-id:f1")],
    ),
    "openai audio": (
        {"type": "input_audio", "input_audio": {"data": "AA==", "format": "mp3"}},
        [c.AudioBlock(mime_type="audio/mp3", data="AA==")],
    ),
    "openai file as data": (
        {"type": "file", "file": {"file_data": "data:application/pdf;base64,AA==", "filename": "a.pdf"}},
        [
            c.ResourceBlock(
                uri="file:a.pdf",
                data="AA==",
                mime_type="application/pdf",
                meta={"langchain": {"filename": "a.pdf"}},
            )
        ],
    ),
    "openai file by id": (
        {"type": "input_file", "file_id": "f1"},
        [c.LinkBlock(uri="file-id:f1", name="file-id:f1")],
    ),
    "openai file by address": (
        {"type": "input_file", "file_url": "https://x/a.pdf"},
        [c.LinkBlock(uri="https://x/a.pdf", name="a.pdf")],
    ),
    "openai text": ({"type": "output_text", "text": "a"}, [c.TextBlock(text="a")]),
    "openai summary as text": (
        {"type": "reasoning", "summary": "a"},
        [ev.Thought(message_id="m", delta="a")],
    ),
    "openai raw reasoning": (
        {"type": "reasoning", "summary": [], "content": [{"type": "reasoning_text", "text": "raw"}]},
        [ev.Thought(message_id="m", delta="raw")],
    ),
    "openai function call": (
        {"type": "function_call", "call_id": "c1", "id": "fc", "name": "think", "arguments": '{"a": 1}'},
        called("think", {"a": 1}, title="Think", kind="think"),
    ),
    "openai call without an id": (
        {"type": "web_search_call"},
        [ev.Raw(source="langchain", payload={"type": "web_search_call"})],
    ),
    # Google and Bedrock.
    "google media": (
        {"type": "media", "mime_type": "video/mp4", "data": b"\0"},
        [c.VideoBlock(mime_type="video/mp4", data="AA==")],
    ),
    "google media by address": (
        {"type": "media", "file_uri": "gs://b/a.pdf"},
        [c.LinkBlock(uri="gs://b/a.pdf", name="a.pdf")],
    ),
    "google function call": (
        {"type": "function_call", "id": "c1", "name": "think", "args": {"a": 1}},
        called("think", {"a": 1}, title="Think", kind="think"),
    ),
    "bedrock text": ({"text": "hi"}, [c.TextBlock(text="hi")]),
    "bedrock image": (
        {"image": {"format": "png", "source": {"bytes": b"\x89PNG\r\n\x1a\n"}}},
        [c.ImageBlock(mime_type="image/png", data=PNG)],
    ),
    "bedrock reasoning": (
        {"type": "reasoning_content", "reasoning_content": {"text": "hm", "signature": "S"}},
        [ev.Thought(message_id="m", delta="hm", signature="S")],
    ),
    # LangChain before 1.0.
    "old image": (
        {"type": "image", "source_type": "base64", "data": PNG, "mime_type": "image/png"},
        [c.ImageBlock(mime_type="image/png", data=PNG)],
    ),
    "old block that LangChain itself trips over": (
        {"type": "file", "source_type": "text", "text": "hi", "mime_type": "text/plain"},
        [
            c.ResourceBlock(
                uri="file:text",
                text="hi",
                mime_type="text/plain",
                meta={"langchain": {"source_type": "text"}},
            )
        ],
    ),
}


@pytest.mark.parametrize(("block", "meaning"), TABLE.values(), ids=TABLE)
def test_a_block_means(block: dict[str, Any], meaning: list[Neutral]) -> None:
    before = repr(block)
    assert MAPPER.to_neutral(block, "m") == meaning
    assert repr(block) == before


ASIDE: dict[str, tuple[dict[str, Any], Any, tuple[str, str]]] = {
    "nothing": ({}, "hi", ("", "")),
    "a thought": ({"reasoning_content": "hm"}, "hi", ("hm", "")),
    "a refusal": ({"refusal": "no"}, "", ("", "no")),
    "a thought that the content has too": (
        {"reasoning_content": "hm"},
        [{"type": "reasoning", "reasoning": "h"}, {"type": "reasoning", "reasoning": "m"}],
        ("", ""),
    ),
    "another thought than the content has": (
        {"reasoning_content": "hm"},
        [{"type": "reasoning", "reasoning": "ah"}],
        ("hm", ""),
    ),
    "no texts": ({"reasoning_content": {"a": 1}, "refusal": None}, "hi", ("", "")),
}


@pytest.mark.parametrize(("extras", "content", "meaning"), ASIDE.values(), ids=ASIDE)
def test_what_is_beside_the_content_is_a_thought_or_a_refusal(
    extras: dict[str, Any], content: Any, meaning: tuple[str, str]
) -> None:
    assert beside_content(AIMessage(content=content, additional_kwargs=extras)) == meaning
