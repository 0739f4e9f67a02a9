from __future__ import annotations

from typing import Any

import pytest
from tests.agents.langchain.expected_blocks import PNG, called

from trunkline import content as c
from trunkline import events as ev
from trunkline.agents.langchain.messages.mapper import ContentBlockMapper, Neutral

MAPPER = ContentBlockMapper()


TABLE: list[tuple[str, dict[str, Any], list[Neutral]]] = [
    # Anthropic.
    (
        "anthropic thinking",
        {"type": "thinking", "thinking": "hm", "signature": "S", "index": 0},
        [ev.Thought(message_id="m", delta="hm", signature="S")],
    ),
    (
        "anthropic redacted thinking",
        {"type": "redacted_thinking", "data": "ZZ"},
        [ev.Thought(message_id="m", signature="ZZ")],
    ),
    (
        "anthropic tool use",
        {"type": "tool_use", "id": "c1", "name": "think", "input": {"a": 1}},
        called("think", {"a": 1}, title="Think", kind="think"),
    ),
    (
        "anthropic tool use in pieces",
        {"type": "tool_use", "id": "c1", "name": "think", "input": {}, "partial_json": '{"a": 1}'},
        called("think", {"a": 1}, title="Think", kind="think"),
    ),
    (
        "anthropic tool use cut short",
        {"type": "tool_use", "id": "c1", "name": "think", "input": {}, "partial_json": '{"a'},
        called("think", '{"a', title="Think", kind="think"),
    ),
    (
        "anthropic tool of a remote server",
        {"type": "mcp_tool_use", "id": "c1", "name": "think", "server_name": "s", "input": {"a": 1}},
        called("think", {"a": 1}, title="Think", kind="think"),
    ),
    (
        "anthropic search result",
        {
            "type": "web_search_tool_result",
            "tool_use_id": "c1",
            "content": [{"type": "web_search_result", "url": "https://x", "title": "X"}],
        },
        [
            ev.ToolUpdate(
                call_id="c1",
                status="completed",
                content=(c.SourceBlock(source_id="https://x", url="https://x", title="X"),),
                raw_output=[{"type": "web_search_result", "url": "https://x", "title": "X"}],
            )
        ],
    ),
    (
        "anthropic search that failed",
        {
            "type": "web_search_tool_result",
            "tool_use_id": "c1",
            "content": {"type": "web_search_tool_result_error", "error_code": "max_uses_exceeded"},
        },
        [
            ev.ToolUpdate(
                call_id="c1",
                status="failed",
                reason="max_uses_exceeded",
                raw_output={"type": "web_search_tool_result_error", "error_code": "max_uses_exceeded"},
            )
        ],
    ),
    (
        "anthropic citation",
        {
            "type": "text",
            "text": "a",
            "citations": [
                {"type": "web_search_result_location", "url": "https://x", "title": "X", "cited_text": "q"}
            ],
        },
        [
            c.TextBlock(text="a"),
            ev.Source(
                message_id="m",
                source_id="https://x",
                url="https://x",
                title="X",
                meta={"citation": {"cited_text": "q"}},
            ),
        ],
    ),
    (
        "anthropic image",
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}},
        [c.ImageBlock(mime_type="image/png", data=PNG)],
    ),
    (
        "anthropic image by file id",
        {"type": "image", "source": {"type": "file", "file_id": "f1"}},
        [c.ImageBlock(mime_type="image/*", url="file-id:f1")],
    ),
    (
        "anthropic image of a source nobody knows",
        {"type": "image", "source": "somewhere"},
        [ev.Raw(source="langchain", payload={"type": "image", "source": "somewhere"})],
    ),
    (
        "anthropic document",
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
    (
        "anthropic document by file id",
        {"type": "document", "source": {"type": "file", "file_id": "f1"}},
        [c.LinkBlock(uri="file-id:f1", name="file-id:f1")],
    ),
    (
        "anthropic document of blocks",
        {"type": "document", "source": {"type": "content", "content": [{"type": "text", "text": "hi"}]}},
        [c.TextBlock(text="hi")],
    ),
    (
        "anthropic document of text",
        {"type": "document", "source": {"type": "content", "content": "hi"}},
        [c.TextBlock(text="hi")],
    ),
    # OpenAI.
    (
        "openai image as data",
        {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}"}},
        [c.ImageBlock(mime_type="image/png", data=PNG)],
    ),
    (
        "openai image by address",
        {"type": "image_url", "image_url": "https://x"},
        [c.ImageBlock(mime_type="image/*", url="https://x")],
    ),
    (
        "openai image in a prompt",
        {"type": "input_image", "image_url": "https://x"},
        [c.ImageBlock(mime_type="image/*", url="https://x")],
    ),
    (
        "openai image by file id",
        {"type": "input_image", "file_id": "f1"},
        [c.ImageBlock(mime_type="image/*", url="file-id:f1")],
    ),
    (
        "openai audio",
        {"type": "input_audio", "input_audio": {"data": "AA==", "format": "mp3"}},
        [c.AudioBlock(mime_type="audio/mp3", data="AA==")],
    ),
    (
        "openai file as data",
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
    (
        "openai file by id",
        {"type": "input_file", "file_id": "f1"},
        [c.LinkBlock(uri="file-id:f1", name="file-id:f1")],
    ),
    (
        "openai file by address",
        {"type": "input_file", "file_url": "https://x/a.pdf"},
        [c.LinkBlock(uri="https://x/a.pdf", name="a.pdf")],
    ),
    ("openai text", {"type": "output_text", "text": "a"}, [c.TextBlock(text="a")]),
    ("openai refusal", {"type": "refusal", "refusal": "I won't."}, [c.TextBlock(text="I won't.")]),
    (
        "openai citation",
        {
            "type": "output_text",
            "text": "a",
            "annotations": [{"type": "url_citation", "url": "https://x", "title": "X"}],
        },
        [
            c.TextBlock(text="a"),
            ev.Source(message_id="m", source_id="https://x", url="https://x", title="X"),
        ],
    ),
    (
        "openai summary",
        {
            "type": "reasoning",
            "summary": [{"type": "summary_text", "text": "a"}, {"type": "summary_text", "text": "b"}],
            "encrypted_content": "E",
        },
        [ev.Thought(message_id="m", delta="a\n\nb", signature="E")],
    ),
    (
        "openai summary as text",
        {"type": "reasoning", "summary": "a"},
        [ev.Thought(message_id="m", delta="a")],
    ),
    (
        "openai raw reasoning",
        {"type": "reasoning", "summary": [], "content": [{"type": "reasoning_text", "text": "raw"}]},
        [ev.Thought(message_id="m", delta="raw")],
    ),
    (
        "openai function call",
        {"type": "function_call", "call_id": "c1", "id": "fc", "name": "think", "arguments": '{"a": 1}'},
        called("think", {"a": 1}, title="Think", kind="think"),
    ),
    (
        "openai call of a server tool, with its result",
        {"type": "code_interpreter_call", "id": "c1", "status": "completed", "code": "1", "outputs": []},
        [
            *called("code_interpreter", {"code": "1"}, title="Code interpreter", kind="execute"),
            ev.ToolUpdate(call_id="c1", status="completed", raw_output=[]),
        ],
    ),
    (
        "openai image it made",
        {"type": "image_generation_call", "id": "i1", "result": PNG, "output_format": "png"},
        [c.ImageBlock(mime_type="image/png", data=PNG, meta={"langchain": {"output_format": "png"}})],
    ),
    (
        "openai call without an id",
        {"type": "web_search_call"},
        [ev.Raw(source="langchain", payload={"type": "web_search_call"})],
    ),
    # Google and Bedrock.
    (
        "google media",
        {"type": "media", "mime_type": "video/mp4", "data": b"\0"},
        [c.VideoBlock(mime_type="video/mp4", data="AA==")],
    ),
    (
        "google media by address",
        {"type": "media", "file_uri": "gs://b/a.pdf"},
        [c.LinkBlock(uri="gs://b/a.pdf", name="a.pdf")],
    ),
    (
        "google code",
        {"type": "executable_code", "executable_code": "1", "language": "PYTHON", "id": "c1"},
        called(
            "code_interpreter",
            {"code": "1", "language": "PYTHON"},
            title="Code interpreter",
            kind="execute",
        ),
    ),
    (
        "google code's result",
        {"type": "code_execution_result", "code_execution_result": "1", "outcome": 1, "tool_call_id": "c1"},
        [ev.ToolUpdate(call_id="c1", status="completed", raw_output="1", content=(c.TextBlock(text="1"),))],
    ),
    (
        "google function call",
        {"type": "function_call", "id": "c1", "name": "think", "args": {"a": 1}},
        called("think", {"a": 1}, title="Think", kind="think"),
    ),
    ("bedrock text", {"text": "hi"}, [c.TextBlock(text="hi")]),
    (
        "bedrock image",
        {"image": {"format": "png", "source": {"bytes": b"\x89PNG\r\n\x1a\n"}}},
        [c.ImageBlock(mime_type="image/png", data=PNG)],
    ),
    (
        "bedrock reasoning",
        {"type": "reasoning_content", "reasoning_content": {"text": "hm", "signature": "S"}},
        [ev.Thought(message_id="m", delta="hm", signature="S")],
    ),
    # LangChain before 1.0.
    (
        "old image",
        {"type": "image", "source_type": "base64", "data": PNG, "mime_type": "image/png"},
        [c.ImageBlock(mime_type="image/png", data=PNG)],
    ),
    (
        "old block that LangChain itself trips over",
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
]


@pytest.mark.parametrize(("block", "meaning"), [row[1:] for row in TABLE], ids=[row[0] for row in TABLE])
def test_a_block_means(block: dict[str, Any], meaning: list[Neutral]) -> None:
    before = repr(block)
    assert MAPPER.to_neutral(block, "m") == meaning
    assert repr(block) == before
