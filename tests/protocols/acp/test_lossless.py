import json
import re
from typing import Any

import msgspec
import orjson
import pytest
from msgspec import UNSET

from trunkline.frontends.acp import Unknown, decode, encode
from trunkline.protocols.acp import wire


def notification(update: dict[str, Any]) -> dict[str, Any]:
    return {"sessionId": "s", "update": update}


TEXT = {"type": "text", "text": "hi"}
VIDEO = {"type": "video", "data": "AA==", "fps": 30, "_meta": {"a": [1, None]}}


@pytest.mark.parametrize(
    "value",
    [
        notification({"sessionUpdate": "hologram", "x": {"y": [1, None]}, "_meta": {}}),
        notification({"sessionUpdate": "agent_message_chunk", "content": VIDEO, "messageId": "m"}),
        notification(
            {
                "sessionUpdate": "tool_call",
                "toolCallId": "c",
                "title": "t",
                "content": [{"type": "content", "content": TEXT}, {"type": "chart", "points": [1.5]}],
            }
        ),
        notification(
            {"sessionUpdate": "tool_call_update", "toolCallId": "c", "content": [{"type": "chart"}]}
        ),
        notification({"sessionUpdate": "plan_update", "plan": {"type": "gantt", "planId": "p"}}),
        notification({"sessionUpdate": "subagent_update", "sessionId": "s2", "state": {"state": "asleep"}}),
    ],
)
def test_a_variant_we_do_not_know_is_kept_and_encoded_unchanged(value: dict[str, Any]) -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert(value, wire.SessionNotification)
    decoded = decode(wire.SessionNotification, value)
    assert isinstance(decoded, wire.SessionNotification)
    assert json.loads(msgspec.json.encode(decoded)) == value
    assert orjson.loads(orjson.dumps(encode(decoded))) == value


def test_an_unknown_variant_is_the_object_as_it_came() -> None:
    update = {"sessionUpdate": "hologram", "depth": 3}
    decoded = decode(wire.SessionNotification, notification(update)).update
    assert isinstance(decoded, Unknown)
    assert decoded == decoded.raw == update
    assert type(decoded.raw) is dict
    assert decoded["depth"] == 3


def test_known_neighbours_of_an_unknown_variant_are_typed() -> None:
    value = {"sessionId": "s", "prompt": [TEXT, VIDEO]}
    assert decode(wire.PromptRequest, value).prompt == (wire.TextContent(text="hi"), Unknown(VIDEO))


def test_a_broken_variant_is_kept_too() -> None:
    broken = {"sessionUpdate": "agent_message_chunk", "content": "bare text"}
    assert decode(wire.SessionNotification, notification(broken)).update == Unknown(broken)


def test_a_union_at_the_top_may_be_unknown() -> None:
    update = {"sessionUpdate": "hologram"}
    assert decode(wire.SessionUpdate, update) == Unknown(update)


def test_a_word_outside_a_closed_set_is_kept() -> None:
    call = {"sessionUpdate": "tool_call", "toolCallId": "c", "title": "t", "kind": "teleport"}
    update = decode(wire.SessionNotification, notification(call)).update
    assert isinstance(update, wire.ToolCall)
    assert update.kind == "teleport"
    assert encode(update) == call
    assert decode(wire.PromptResponse, {"stopReason": "paused"}).stop_reason == "paused"


def test_an_optional_field_that_cannot_be_read_takes_its_default() -> None:
    capabilities: dict[str, Any] = {
        "fs": {"readTextFile": True, "writeTextFile": "yes"},
        "terminal": None,
        "auth": [],
    }
    request = decode(wire.InitializeRequest, {"protocolVersion": 1, "clientCapabilities": capabilities})
    assert request.client_capabilities == wire.ClientCapabilities(
        fs=wire.FileSystemCapabilities(read_text_file=True)
    )
    chunk = {"sessionUpdate": "agent_message_chunk", "content": TEXT, "messageId": 7, "_meta": "x"}
    assert decode(wire.SessionUpdate, chunk) == wire.AgentMessageChunk(content=wire.TextContent(text="hi"))
    info = {"sessionUpdate": "session_info_update", "title": 7, "updatedAt": None}
    assert decode(wire.SessionUpdate, info) == wire.SessionInfoUpdate(title=UNSET, updated_at=None)


def test_a_required_list_that_is_null_is_empty() -> None:
    value = {"cwd": "/w", "mcpServers": [{"name": "a", "command": "c", "args": None}, {"name": "b"}]}
    assert decode(wire.NewSessionRequest, value).mcp_servers[1] == wire.McpServer(name="b")
    assert decode(wire.NewSessionRequest, {"cwd": "/w", "mcpServers": None}).mcp_servers == ()


@pytest.mark.parametrize(
    ("kind", "value", "expected"),
    [
        (
            wire.SessionNotification,
            {"update": {"sessionUpdate": "hologram"}},
            "Object missing required field `sessionId` - at `$`",
        ),
        (
            wire.SessionNotification,
            {"sessionId": 1, "update": {"sessionUpdate": "hologram"}},
            "Expected `str`, got `int` - at `$.sessionId`",
        ),
        (
            wire.SessionNotification,
            {"sessionId": "s", "update": "text"},
            "Expected `object`, got `str` - at `$.update`",
        ),
        (
            wire.NewSessionRequest,
            {"cwd": "/w", "mcpServers": {}},
            "Expected `array`, got `object` - at `$.mcpServers`",
        ),
        (
            wire.NewSessionRequest,
            {"cwd": "/w", "mcpServers": [{"name": "a"}, {"command": "c"}]},
            "Object missing required field `name` - at `$.mcpServers[1]`",
        ),
        (
            wire.SetSessionConfigOptionRequest,
            {"sessionId": "s", "configId": "c", "value": 1.5},
            "Expected `bool | str`, got `float` - at `$.value`",
        ),
        (wire.PromptResponse, {"stopReason": 1}, "Expected `str`, got `int` - at `$.stopReason`"),
        (wire.PromptRequest, None, "Expected `object`, got `null` - at `$`"),
    ],
)
def test_what_the_rest_hangs_on_fails_with_its_path(kind: Any, value: Any, expected: str) -> None:
    with pytest.raises(msgspec.ValidationError, match=re.escape(expected)):
        decode(kind, value)
