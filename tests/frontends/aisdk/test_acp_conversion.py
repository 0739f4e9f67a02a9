"""The functions of the seed, with its own examples: byte for byte what it says."""

import json
import re
from typing import Any

import pytest

from trunkline.errors import InvalidCommand
from trunkline.frontends.aisdk.acp_conversion import (
    StreamState,
    map_tool_status,
    session_update_to_chunks,
    session_update_to_part,
    tool_call_to_ui_part,
    ui_message_to_content_blocks,
)
from trunkline.frontends.aisdk.message_ids import create_ui_message, generate_message_id

TOOL_CALL = json.loads("""
{
  "sessionUpdate": "tool_call",
  "toolCallId": "toolu_123",
  "title": "`ls -la /tmp`",
  "kind": "execute",
  "status": "pending",
  "rawInput": { "command": "ls -la /tmp" },
  "_meta": {
    "claudeCode": {
      "toolName": "Bash"
    }
  }
}
""")
STARTED = """
{
  "type": "tool-input-start",
  "toolCallId": "toolu_123",
  "toolName": "Bash",
  "title": "`ls -la /tmp`",
  "providerMetadata": {
    "claudeCode": { "toolName": "Bash" }
  },
  "dynamic": true
}
"""
TOOL_UPDATE = json.loads("""
{
  "sessionUpdate": "tool_call_update",
  "toolCallId": "toolu_123",
  "status": "completed",
  "_meta": {
    "claudeCode": {
      "toolName": "Bash",
      "toolResponse": {
        "stdout": "file1.txt\\nfile2.txt",
        "stderr": "",
        "interrupted": false
      }
    }
  }
}
""")
OUTPUT = """
{
  "type": "tool-output-available",
  "toolCallId": "toolu_123",
  "output": {
    "stdout": "file1.txt\\nfile2.txt",
    "stderr": "",
    "interrupted": false
  },
  "dynamic": true
}
"""


def same_bytes(chunk: Any, expected: str) -> bool:
    """Whether two are the same JSON, also in the order of their keys."""
    return json.dumps(chunk) == json.dumps(json.loads(expected))


def test_the_first_example_of_the_seed() -> None:
    (chunk,) = session_update_to_chunks(TOOL_CALL, StreamState("m1"))

    assert same_bytes(chunk, STARTED)


def test_the_second_example_of_the_seed() -> None:
    state = StreamState("m1")
    session_update_to_chunks(TOOL_CALL, state)
    available, output = session_update_to_chunks(TOOL_UPDATE, state)

    assert available["input"] == {"command": "ls -la /tmp"}
    assert same_bytes(output, OUTPUT)


def test_the_first_unit_test_of_the_seed() -> None:
    assert session_update_to_part({"type": "agent_message_chunk", "content": "Hello"}) == {
        "type": "text",
        "text": "Hello",
    }


def test_the_second_unit_test_of_the_seed() -> None:
    part = session_update_to_part(
        {
            "type": "tool_call",
            "id": "tc-1",
            "name": "write_file",
            "status": "completed",
            "input": {"path": "/file.txt"},
            "output": "Success",
        }
    )

    assert part == {
        "type": "dynamic-tool",
        "toolCallId": "tc-1",
        "toolName": "write_file",
        "state": "output-available",
        "input": {"path": "/file.txt"},
        "output": "Success",
    }


@pytest.mark.parametrize(
    ("update", "expected"),
    [
        (
            {"sessionUpdate": "agent_thought_chunk", "content": {"type": "text", "text": "hm"}},
            {"type": "reasoning", "text": "hm"},
        ),
        (
            {"sessionUpdate": "user_message_chunk", "content": {"type": "text", "text": "hi"}},
            {"type": "text", "text": "hi"},
        ),
        (
            {
                "sessionUpdate": "agent_message_chunk",
                "content": {"type": "image", "mimeType": "image/png", "data": "AA=="},
            },
            {"type": "file", "mediaType": "image/png", "url": "data:image/png;base64,AA=="},
        ),
        (
            {
                "sessionUpdate": "agent_thought_chunk",
                "content": {"type": "image", "mimeType": "image/png", "data": "AA=="},
            },
            None,
        ),
        ({"sessionUpdate": "agent_message_chunk", "content": {"type": "odd"}}, None),
        ({"sessionUpdate": "plan", "entries": []}, None),
        ({}, None),
    ],
)
def test_an_update_is_a_part_or_nothing(update: Any, expected: Any) -> None:
    assert session_update_to_part(update) == expected


def test_a_stream_has_its_starts_and_ends_in_order() -> None:
    state = StreamState("m1")
    chunks = state.start()
    for kind, text in (
        ("agent_thought_chunk", "hm"),
        ("agent_message_chunk", "a"),
        ("agent_message_chunk", "b"),
    ):
        chunks += state.feed({"sessionUpdate": kind, "content": {"type": "text", "text": text}})
    chunks += state.finish({"stopReason": "max_tokens"})

    assert [chunk["type"] for chunk in chunks] == [
        "start", "reasoning-start", "reasoning-delta", "reasoning-end", "text-start", "text-delta",
        "text-delta", "text-end", "finish",
    ]  # fmt: skip
    assert chunks[-1]["finishReason"] == "length"


def test_calls_that_an_agent_left_open_end_with_the_message() -> None:
    finished, failed = StreamState("m1"), StreamState("m1")
    for state in (finished, failed):
        state.feed(TOOL_CALL)

    assert [chunk["type"] for chunk in finished.finish({"stopReason": "end_turn"})][-2:] == [
        "tool-output-error", "finish"
    ]  # fmt: skip
    assert [chunk["type"] for chunk in failed.fail("no more")][-1] == "error"


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        ("pending", "input-streaming"),
        ("in_progress", "input-available"),
        ("completed", "output-available"),
        ("failed", "output-error"),
        ("odd", "input-streaming"),
        (None, "input-streaming"),
    ],
)
def test_a_status_is_a_state(status: str | None, expected: str) -> None:
    assert map_tool_status(status) == expected


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        (
            {"status": "pending", "rawInput": {"a": 1}},
            {"toolName": "`ls`", "state": "input-streaming", "input": {"a": 1}},
        ),
        (
            {"status": "completed", "rawOutput": 0, "_meta": {"claudeCode": {"toolResponse": 1}}},
            {"output": 0, "callProviderMetadata": {"claudeCode": {"toolResponse": 1}}},
        ),
        (
            {
                "status": "completed",
                "_meta": {"claudeCode": {"toolName": "Bash", "toolResponse": {"stdout": "x"}}},
            },
            {"toolName": "Bash", "output": {"stdout": "x"}},
        ),
        (
            {
                "status": "completed",
                "content": [{"type": "content", "content": {"type": "text", "text": "shown"}}],
            },
            {"output": "shown"},
        ),
        ({"status": "completed"}, {"output": None}),
        ({"status": "failed", "rawOutput": "no disk"}, {"state": "output-error", "errorText": "no disk"}),
        ({"status": "failed"}, {"errorText": "failed"}),
    ],
)
def test_a_call_of_acp_is_a_part(fields: Any, expected: Any) -> None:
    part = tool_call_to_ui_part({"toolCallId": "c1", "title": "`ls`", **fields})

    assert part["title"] == "`ls`"
    assert {name: part[name] for name in expected} == expected
    assert ("output" in part) == (part["state"] == "output-available")


def test_a_call_without_any_name_is_unknown() -> None:
    assert tool_call_to_ui_part({"id": "c1"})["toolName"] == "unknown"


def test_a_message_is_content_blocks_of_acp() -> None:
    message = create_ui_message(
        "user",
        "m1",
        [
            {"type": "text", "text": "look"},
            {"type": "file", "url": "https://a.b/c.pdf", "filename": "c.pdf", "mediaType": "application/pdf"},
            {"type": "file", "url": "https://a.b/d", "name": "d.txt", "mimeType": "text/plain"},
            {"type": "file", "url": "data:image/png;base64,AA==", "mediaType": "image/png"},
            {"type": "file", "url": "data:text/plain,hi", "mediaType": "text/plain", "filename": "a b.txt"},
            {"type": "step-start"},
        ],
    )

    blocks = ui_message_to_content_blocks(message)
    assert [block["type"] for block in blocks] == [
        "text", "resource_link", "resource_link", "image", "resource"
    ]  # fmt: skip
    assert blocks[1] == {
        "type": "resource_link", "uri": "https://a.b/c.pdf", "name": "c.pdf", "mimeType": "application/pdf"
    }  # fmt: skip
    assert blocks[2]["name"] == "d.txt"
    assert blocks[2]["mimeType"] == "text/plain"
    assert blocks[4]["resource"]["text"] == "hi"
    assert ui_message_to_content_blocks({}) == []


def test_an_unknown_part_is_refused_with_its_place() -> None:
    with pytest.raises(InvalidCommand, match=re.escape("Unsupported part type: hologram (parts[1])")):
        ui_message_to_content_blocks({"parts": [{"type": "text", "text": "a"}, {"type": "hologram"}]})


def test_an_id_has_the_time_and_six_characters() -> None:
    assert generate_message_id(lambda: 1700000000.123, lambda: 0.0) == "msg-1700000000123-000000"
    assert generate_message_id(lambda: 1.0, lambda: 0.5) == "msg-1000-i00000"
    assert re.fullmatch(r"msg-5000-[0-9a-z]{6}", generate_message_id(lambda: 5.0, lambda: 0.999999999))


def test_a_message_and_its_id_need_no_clock_of_ones_own() -> None:
    first, second = create_ui_message("user"), create_ui_message("user")

    assert first == {"id": first["id"], "role": "user", "parts": []}
    assert re.fullmatch(r"msg-\d{13}-[0-9a-z]{6}", first["id"])
    assert first["id"] != second["id"]
