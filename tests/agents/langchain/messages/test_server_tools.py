from __future__ import annotations

from typing import Any

import pytest

from trunkline.agents.langchain.messages.server_tools import ServerToolCalls


def follow(*blocks: dict[str, Any]) -> list[dict[str, Any]]:
    served = ServerToolCalls()
    return [piece for block in blocks for piece in served.feed(block)]


@pytest.mark.parametrize(
    ("begins", "goes_on", "result"),
    [
        (
            {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {}, "index": 0},
            {"type": "input_json_delta", "partial_json": '{"q": 1}', "index": 0},
            {"type": "web_search_tool_result", "tool_use_id": "s1", "content": [], "index": 1},
        ),
        (
            {"type": "server_tool_call_chunk", "id": "s1", "name": "web_search", "args": "", "index": "a"},
            {"type": "server_tool_call_chunk", "args": '{"q": 1}', "index": "a"},
            {"type": "server_tool_result", "tool_call_id": "s1", "status": "success"},
        ),
    ],
    ids=["anthropic", "standard"],
)
def test_pieces_say_whose_they_are_and_a_result_follows_the_whole_input(
    begins: dict[str, Any], goes_on: dict[str, Any], result: dict[str, Any]
) -> None:
    assert follow(begins, goes_on, result, result) == [
        {"type": "server_tool_call_chunk", "id": "s1", "name": "web_search", "args": ""},
        {"type": "server_tool_call_chunk", "id": "s1", "args": '{"q": 1}'},
        {"type": "server_tool_call", "id": "s1", "name": "web_search", "args": {"q": 1}},
        result,
        result,
    ]


@pytest.mark.parametrize(
    "block",
    [
        {"type": "text", "text": "a", "index": 0},
        {"type": "server_tool_use", "id": "s1", "name": "x", "input": {"a": 1}, "index": 0},
        {"type": "server_tool_use", "id": "s1", "name": "x", "input": {}, "partial_json": "{}", "index": 0},
        {"type": "server_tool_use", "id": "s1", "name": "x", "input": {}},
        {"type": "input_json_delta", "partial_json": "{", "index": 7},
        {"type": "image", "url": "https://x"},
    ],
)
def test_whole_blocks_and_those_of_other_calls_stay_as_they_are(block: dict[str, Any]) -> None:
    assert follow(block) == [block]
