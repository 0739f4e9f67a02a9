"""Tools and results as MCP writes them."""

from typing import Any

import pytest

from trunkline import content as c
from trunkline.tools import tool
from trunkline.tools.mcp_server.listing import describe_result, describe_tool, negotiate, permission_form

NEWEST = "2025-11-25"


def look() -> None:
    """Look."""


@pytest.mark.parametrize(
    ("kind", "hints"),
    [
        ("read", {"readOnlyHint": True, "openWorldHint": False}),
        ("fetch", {"readOnlyHint": True, "openWorldHint": True}),
        ("delete", {"readOnlyHint": False, "destructiveHint": True, "openWorldHint": False}),
        ("other", {"readOnlyHint": False, "destructiveHint": True, "openWorldHint": False}),
    ],
)
def test_the_hints_of_a_tool_come_from_its_kind(kind: Any, hints: dict[str, bool]) -> None:
    described = describe_tool(tool(kind=kind)(look), NEWEST)
    assert described["annotations"] == {"title": "Look", **hints}


def test_an_unknown_version_gets_the_newest_of_the_handshake() -> None:
    assert negotiate("2024-11-05") == "2024-11-05"
    assert negotiate("2026-07-28") == negotiate("") == NEWEST


@pytest.mark.parametrize(
    ("block", "written"),
    [
        (
            c.ImageBlock(mime_type="image/png", data="eA=="),
            {"type": "image", "data": "eA==", "mimeType": "image/png"},
        ),
        (
            c.AudioBlock(mime_type="audio/wav", data="eA=="),
            {"type": "audio", "data": "eA==", "mimeType": "audio/wav"},
        ),
        (
            c.ResourceBlock(uri="a:b", text="x", mime_type="text/plain"),
            {"type": "resource", "resource": {"uri": "a:b", "text": "x", "mimeType": "text/plain"}},
        ),
        (
            c.ResourceBlock(uri="a:b", data="eA=="),
            {"type": "resource", "resource": {"uri": "a:b", "blob": "eA=="}},
        ),
        (c.LinkBlock(uri="a:b", name="n"), {"type": "resource_link", "uri": "a:b", "name": "n"}),
        (c.ImageBlock(mime_type="image/png", url="a:b"), {"type": "text", "text": "[ImageBlock]"}),
    ],
)
def test_what_is_no_text_stands_beside_the_text_that_the_model_reads(block: Any, written: Any) -> None:
    described = describe_result(tool(look), [block], NEWEST)
    assert described["content"][0]["type"] == "text"
    assert described["content"][1] == written


def test_a_change_of_a_file_is_written_as_text_and_old_versions_get_what_they_know() -> None:
    diff = c.DiffBlock(path="a.txt", old="1", new="2")
    assert "-1\n+2" in describe_result(tool(look), diff, NEWEST)["content"][1]["text"]
    link = c.LinkBlock(uri="a:b", name="n")
    assert describe_result(tool(look), link, "2024-11-05")["content"][1] == {"type": "text", "text": "a:b"}


def test_a_permission_shows_the_whole_call_and_what_would_change() -> None:
    form = permission_form(
        "Go on?", tool(look), {"a": 1}, (c.DiffBlock(path="x", old=None, new="y"),), tool(look).buttons(None)
    )
    assert form["message"].startswith('Go on?\n\nlook (other) with {\n  "a": 1\n}')
    assert "+y" in form["message"]
    assert form["requestedSchema"]["required"] == ["decision"]
