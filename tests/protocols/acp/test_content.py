"""Content blocks go both ways; what cannot be read is refused with its place and its type."""

from typing import Any

import pytest
from hypothesis import given
from tests.strategies import values_of

from trunkline import content as c
from trunkline.conformance.acp.schema import find_update_fault
from trunkline.errors import InvalidCommand
from trunkline.frontends.acp import decode
from trunkline.protocols.acp import wire
from trunkline.protocols.acp.content import block_to_wire, blocks_from_wire, tool_content_to_wire

BOTH_WAYS: list[tuple[c.Content, dict[str, Any]]] = [
    (c.TextBlock(text="hé"), {"type": "text", "text": "hé"}),
    (
        c.ImageBlock(mime_type="image/png", data="aGk="),
        {"type": "image", "mimeType": "image/png", "data": "aGk="},
    ),
    (
        c.ImageBlock(mime_type="image/png", data="aGk=", url="file:///a.png"),
        {"type": "image", "mimeType": "image/png", "data": "aGk=", "uri": "file:///a.png"},
    ),
    (
        c.AudioBlock(mime_type="audio/wav", data="aGk="),
        {"type": "audio", "mimeType": "audio/wav", "data": "aGk="},
    ),
    (c.LinkBlock(uri="file:///a", name="a"), {"type": "resource_link", "uri": "file:///a", "name": "a"}),
    (
        c.LinkBlock(uri="a:b", name="a", title="A", description="d", mime_type="text/plain", size=3),
        {
            "type": "resource_link",
            "uri": "a:b",
            "name": "a",
            "title": "A",
            "description": "d",
            "mimeType": "text/plain",
            "size": 3,
        },
    ),
    (c.ResourceBlock(uri="a:b", text=""), {"type": "resource", "resource": {"uri": "a:b", "text": ""}}),
    (
        c.ResourceBlock(uri="a:b", data="aGk=", mime_type="image/png"),
        {"type": "resource", "resource": {"uri": "a:b", "blob": "aGk=", "mimeType": "image/png"}},
    ),
    (
        c.TextBlock(text="x", annotations={"priority": 0.5}, meta={"a.b/c": [1]}),
        {"type": "text", "text": "x", "annotations": {"priority": 0.5}, "_meta": {"a.b/c": [1]}},
    ),
]

ONE_WAY: list[tuple[c.Content, dict[str, Any]]] = [
    (
        c.ImageBlock(mime_type="image/png", url="https://a.b/c.png"),
        {"type": "resource_link", "uri": "https://a.b/c.png", "name": "image", "mimeType": "image/png"},
    ),
    (
        c.AudioBlock(mime_type="audio/wav", blob="sha256:00"),
        {"type": "resource_link", "uri": "blob:sha256:00", "name": "audio", "mimeType": "audio/wav"},
    ),
    (
        c.VideoBlock(mime_type="video/mp4", data="aGk="),
        {"type": "resource", "resource": {"uri": "video:inline", "mimeType": "video/mp4", "blob": "aGk="}},
    ),
    (
        c.VideoBlock(mime_type="video/mp4", url="https://a.b/c.mp4"),
        {"type": "resource_link", "uri": "https://a.b/c.mp4", "name": "video", "mimeType": "video/mp4"},
    ),
    (
        c.SourceBlock(source_id="1", url="https://a.b", title="A"),
        {"type": "resource_link", "uri": "https://a.b", "name": "A"},
    ),
    (
        c.SourceBlock(source_id="1", document="a.pdf"),
        {"type": "resource_link", "uri": "source:1", "name": "a.pdf"},
    ),
    (c.SourceBlock(source_id="1"), {"type": "resource_link", "uri": "source:1", "name": "source:1"}),
    (c.ResourceBlock(uri="a:b"), {"type": "resource", "resource": {"uri": "a:b", "blob": ""}}),
    (c.DiffBlock(path="/a", new="2", old="1"), {"type": "text", "text": "/a\n2"}),
    (c.DiffBlock(path="/a", new=None), {"type": "text", "text": "/a\n"}),
    (c.TerminalBlock(terminal_id="x"), {"type": "text", "text": "[terminal x]"}),
]

DIFF = {"type": "diff", "path": "/a"}


def read(*blocks: Any) -> tuple[c.Content, ...]:
    return blocks_from_wire(decode(wire.PromptRequest, {"sessionId": "s", "prompt": list(blocks)}).prompt)


@pytest.mark.parametrize(("block", "shown"), BOTH_WAYS)
def test_a_block_is_the_same_after_both_ways(block: c.Content, shown: dict[str, Any]) -> None:
    assert block_to_wire(block) == shown
    assert read(shown) == (block,)


@pytest.mark.parametrize(("block", "shown"), ONE_WAY)
def test_what_acp_has_no_block_for_is_carried_by_the_nearest_one(
    block: c.Content, shown: dict[str, Any]
) -> None:
    assert block_to_wire(block) == shown


@given(values_of(c.Content))
def test_any_block_is_valid_on_the_wire(block: c.Content) -> None:
    bare = block_to_wire(block)
    bare.pop("annotations", None)  # They are the agent's own, passed through as they are.
    update = {"sessionUpdate": "agent_message_chunk", "content": bare}
    assert find_update_fault({"sessionId": "s", "update": update}) is None
    shown = {**tool_content_to_wire(block, ["x"])}
    shown.get("content", {}).pop("annotations", None)
    call = {"sessionUpdate": "tool_call_update", "toolCallId": "c", "content": [shown]}
    assert find_update_fault({"sessionId": "s", "update": call}) is None


@pytest.mark.parametrize(
    ("block", "shown"),
    [
        (c.DiffBlock(path="/a", new="2", old="1"), {**DIFF, "oldText": "1", "newText": "2"}),
        (c.DiffBlock(path="/a", new="2"), {**DIFF, "newText": "2"}),
        (c.DiffBlock(path="/a", new=None, old="1"), {**DIFF, "oldText": "1", "newText": ""}),
        (c.TerminalBlock(terminal_id="theirs"), {"type": "terminal", "terminalId": "theirs"}),
        (
            c.TerminalBlock(terminal_id="ours"),
            {"type": "content", "content": {"type": "text", "text": "[terminal ours]"}},
        ),
        (c.TextBlock(text="x"), {"type": "content", "content": {"type": "text", "text": "x"}}),
    ],
)
def test_a_tool_call_has_diffs_and_the_terminals_that_the_client_knows(
    block: c.Content, shown: dict[str, Any]
) -> None:
    assert tool_content_to_wire(block, {"theirs"}) == shown


@pytest.mark.parametrize(
    ("block", "kind"),
    [
        ({"type": "hologram", "data": "x"}, "'hologram'"),
        ({"type": "text"}, "'text'"),
        ({"type": "text", "text": 7}, "'text'"),
        ({"type": "image", "data": "aGk="}, "'image'"),
        ({"type": "resource_link", "uri": "a:b"}, "'resource_link'"),
        ({"type": "resource", "resource": {"uri": "a:b"}}, "'resource'"),
        ({"type": "resource", "resource": {"text": "x"}}, "'resource'"),
        ({"text": "no type"}, "None"),
        ({}, "None"),
    ],
)
def test_a_block_that_cannot_be_read_is_refused_by_its_place_and_type(
    block: dict[str, Any], kind: str
) -> None:
    with pytest.raises(InvalidCommand, match=rf"block 1 of the prompt cannot be read: its type is {kind}"):
        read({"type": "text", "text": "fine"}, block)
