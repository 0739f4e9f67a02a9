import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any, get_args

import msgspec
import pytest
from msgspec import UNSET

from trunkline.protocols.acp import wire

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="module")
def generator() -> ModuleType:
    path = ROOT / "scripts/generate_acp_types.py"
    spec = importlib.util.spec_from_file_location("generate_acp_types", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def test_the_types_are_what_the_official_schemas_say(generator: ModuleType) -> None:
    """If this fails after an upgrade, run scripts/generate_acp_types.py and look at the difference."""
    assert Path(wire.__file__).read_text(encoding="utf-8") == generator.generate(generator.SCHEMAS)


def test_the_types_are_of_the_version_that_is_a_peer_in_the_tests() -> None:
    pinned = json.loads((ROOT / "tests/peers/node/package.json").read_text(encoding="utf-8"))
    assert pinned["devDependencies"]["@agentclientprotocol/sdk"] == wire.SDK_VERSION


def test_every_type_can_be_decoded() -> None:
    for kind in vars(wire).values():
        if isinstance(kind, type) and issubclass(kind, wire.Wire):
            msgspec.json.Decoder(kind)


TEXT = {"type": "text", "text": "héllo 世界"}
OPTION: dict[str, Any] = {"type": "select", "id": "m", "name": "Model", "currentValue": "a", "options": []}

UPDATES: list[tuple[type[msgspec.Struct], str, dict[str, Any]]] = [
    (wire.UserMessageChunk, "user_message_chunk", {"content": TEXT}),
    (wire.AgentMessageChunk, "agent_message_chunk", {"content": TEXT, "messageId": "m1"}),
    (
        wire.AgentMessageChunk,
        "agent_message_chunk",
        {"content": {"type": "image", "data": "AA==", "mimeType": "image/png", "uri": "file:///a.png"}},
    ),
    (
        wire.AgentThoughtChunk,
        "agent_thought_chunk",
        {"content": {"type": "audio", "data": "AA==", "mimeType": "audio/wav"}},
    ),
    (
        wire.UserMessageChunk,
        "user_message_chunk",
        {"content": {"type": "resource_link", "name": "a", "uri": "file:///a", "size": 3}},
    ),
    (
        wire.UserMessageChunk,
        "user_message_chunk",
        {"content": {"type": "resource", "resource": {"uri": "file:///a", "text": ""}}},
    ),
    (
        wire.UserMessageChunk,
        "user_message_chunk",
        {"content": {"type": "resource", "resource": {"uri": "file:///a", "blob": "AA=="}}},
    ),
    (
        wire.ToolCall,
        "tool_call",
        {
            "toolCallId": "c1",
            "title": "Edit",
            "name": "edit",
            "kind": "edit",
            "status": "pending",
            "content": [
                {"type": "content", "content": TEXT},
                {"type": "diff", "path": "/a", "oldText": "x", "newText": "y"},
                {"type": "terminal", "terminalId": "t1"},
            ],
            "locations": [{"path": "/a", "line": 3}],
            "rawInput": {"path": "/a"},
            "rawOutput": None,
            "_meta": {"vendor": {"x": 1}},
        },
    ),
    (wire.ToolCallProgress, "tool_call_update", {"toolCallId": "c1"}),
    (wire.ToolCallProgress, "tool_call_update", {"toolCallId": "c1", "content": None, "status": "completed"}),
    (wire.Plan, "plan", {"entries": [{"content": "do", "priority": "high", "status": "in_progress"}]}),
    (wire.PlanUpdate, "plan_update", {"plan": {"type": "markdown", "planId": "p", "content": "# do"}}),
    (wire.PlanRemoved, "plan_removed", {"planId": "p"}),
    (
        wire.AvailableCommandsUpdate,
        "available_commands_update",
        {"availableCommands": [{"name": "web", "description": "Search", "input": {"hint": "query"}}]},
    ),
    (wire.CurrentModeUpdate, "current_mode_update", {"currentModeId": "ask"}),
    (
        wire.ConfigOptionUpdate,
        "config_option_update",
        {
            "configOptions": [
                OPTION | {"category": "model", "options": [{"value": "a", "name": "A"}]},
                OPTION | {"options": [{"group": "g", "name": "G", "options": [{"value": "a", "name": "A"}]}]},
                {"type": "boolean", "id": "b", "name": "Fast", "currentValue": False},
            ]
        },
    ),
    (wire.SessionInfoUpdate, "session_info_update", {"title": "New"}),
    (wire.SessionInfoUpdate, "session_info_update", {"title": None}),
    (wire.UsageUpdate, "usage_update", {"used": 10, "size": 100, "cost": {"amount": 0.5, "currency": "USD"}}),
    (wire.Notice, "notice", {"severity": "warning", "title": "Slow"}),
    (wire.CompactionUpdate, "compaction_update", {"compactionId": "k", "status": "failed", "error": None}),
    (wire.CompactionSummaryChunk, "compaction_summary_chunk", {"compactionId": "k", "content": TEXT}),
    (
        wire.SubagentUpdate,
        "subagent_update",
        {"sessionId": "s2", "title": None, "state": {"state": "idle", "stopReason": "end_turn"}},
    ),
    (wire.SessionMessage, "session_message", {"messageId": "m", "content": [TEXT]}),
    (wire.SessionMessageChunk, "session_message_chunk", {"messageId": "m", "content": TEXT}),
]


def test_there_is_an_example_of_every_update() -> None:
    assert {kind for kind, *_ in UPDATES} == set(get_args(wire.SessionUpdate))


@pytest.mark.parametrize(("kind", "tag", "fields"), UPDATES)
def test_an_update_survives_decoding_and_encoding(
    kind: type[msgspec.Struct], tag: str, fields: dict[str, Any]
) -> None:
    output = {"sessionId": "s1", "update": {"sessionUpdate": tag, **fields}}
    decoded = msgspec.convert(output, wire.SessionNotification)
    assert type(decoded.update) is kind
    encoded = msgspec.json.encode(decoded)
    assert json.loads(encoded) == output
    assert msgspec.json.decode(encoded, type=wire.SessionNotification) == decoded


MESSAGES: list[tuple[Any, dict[str, Any]]] = [
    (
        wire.NewSessionRequest,
        {
            "cwd": "/w",
            "mcpServers": [
                {"name": "files", "command": "mcp-files", "args": [], "env": []},
                {"type": "http", "name": "web", "url": "http://localhost", "headers": []},
            ],
        },
    ),
    (wire.NewSessionRequest, {"cwd": "/w", "mcpServers": []}),
    (
        wire.InitializeRequest,
        {
            "protocolVersion": 1,
            "clientCapabilities": {
                "fs": {"readTextFile": True},
                "session": {"notices": {}, "configOptions": {"boolean": {}}},
                "elicitation": {"form": {}},
            },
            "clientInfo": {"name": "editor", "version": "1"},
        },
    ),
    (
        wire.InitializeResponse,
        {
            "protocolVersion": 1,
            "agentCapabilities": {"loadSession": True, "sessionCapabilities": {"resume": {}}},
            "authMethods": [
                {"id": "key", "name": "Key"},
                {"type": "terminal", "id": "login", "name": "Log in", "args": ["login"], "env": {"A": "b"}},
            ],
        },
    ),
    (
        wire.RequestPermissionRequest,
        {
            "sessionId": "s",
            "toolCall": {"toolCallId": "c1", "title": "Write"},
            "options": [{"optionId": "y", "name": "Yes", "kind": "allow_once"}],
        },
    ),
    (wire.RequestPermissionResponse, {"outcome": {"outcome": "selected", "optionId": "y"}}),
    (wire.RequestPermissionResponse, {"outcome": {"outcome": "cancelled"}}),
    (wire.SetSessionConfigOptionRequest, {"sessionId": "s", "configId": "c", "value": "a"}),
    (
        wire.SetSessionConfigOptionRequest,
        {"sessionId": "s", "configId": "c", "type": "boolean", "value": True},
    ),
    (wire.PromptResponse, {"stopReason": "cancelled"}),
]


@pytest.mark.parametrize(("kind", "value"), MESSAGES)
def test_params_and_results_survive_decoding_and_encoding(kind: Any, value: dict[str, Any]) -> None:
    decoded = msgspec.convert(value, kind)
    encoded = msgspec.json.encode(decoded)
    assert json.loads(encoded) == value
    assert msgspec.json.decode(encoded, type=kind) == decoded


def test_absent_and_null_are_different_in_a_patch() -> None:
    absent = wire.SessionInfoUpdate()
    cleared = wire.SessionInfoUpdate(title=None)
    assert absent.title is UNSET
    assert msgspec.json.encode(absent) == b'{"sessionUpdate":"session_info_update"}'
    assert msgspec.json.encode(cleared) == b'{"sessionUpdate":"session_info_update","title":null}'


def test_a_tool_call_in_a_permission_request_carries_no_update_tag() -> None:
    call = wire.ToolCallUpdate(tool_call_id="c1", title="Write")
    request = wire.RequestPermissionRequest(session_id="s", tool_call=call, options=())
    assert msgspec.to_builtins(request)["toolCall"] == {"toolCallId": "c1", "title": "Write"}
    assert isinstance(wire.ToolCallProgress(tool_call_id="c1"), wire.ToolCallUpdate)


def test_importing_the_types_imports_nothing_heavy() -> None:
    """An editor waits for this import at every start."""
    code = "import sys, trunkline.protocols.acp.wire; print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=30)
    loaded = {name.partition(".")[0] for name in run.stdout.split()}
    assert "msgspec" in loaded
    assert not {"asyncio", "anyio", "pydantic", "acp", "starlette"} & loaded
