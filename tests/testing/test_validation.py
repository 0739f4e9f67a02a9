from typing import Any

import pytest

from trunkline.frontends.acp import AgentMessageChunk, TextContent
from trunkline.testing import validate_acp_update

TEXT = {"type": "text", "text": "hi"}
ENTRY = {"content": "a", "priority": "low", "status": "pending"}

LEGAL: list[Any] = [
    AgentMessageChunk(content=TextContent(text="hi")),
    {"sessionUpdate": "agent_message_chunk", "content": TEXT, "messageId": "m", "_meta": {"any": 1}},
    {"sessionUpdate": "agent_thought_chunk", "content": TEXT},
    {
        "sessionUpdate": "tool_call",
        "toolCallId": "c",
        "title": "Read",
        "rawInput": {"anything": {"goes": 1}},
        "locations": [{"path": "/a", "line": 1}],
        "content": [{"type": "content", "content": TEXT}, {"type": "diff", "path": "/a", "newText": ""}],
    },
    {"sessionUpdate": "tool_call_update", "toolCallId": "c", "status": None},
    {"sessionUpdate": "plan", "entries": [ENTRY]},
    {"sessionUpdate": "current_mode_update", "currentModeId": "ask"},
]

WRONG: list[tuple[Any, str]] = [
    ("hello", "an update is an object, not 'hello'"),
    ({}, "ACP v1 has no update None; it has agent_message_chunk, "),
    ({"sessionUpdate": "session_started"}, "ACP v1 has no update 'session_started'"),
    ({"sessionUpdate": "agent_message_chunk"}, "agent_message_chunk: .*missing required field `content`"),
    (
        {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": 1}},
        r"got `int` - at `\$\.content\.text`",
    ),
    (
        {"sessionUpdate": "agent_message_chunk", "content": {"type": "video"}},
        r"Invalid value 'video' - at `\$\.content\.type`",
    ),
    (
        {"sessionUpdate": "tool_call", "toolCallId": "c", "title": "t", "status": "cancelled"},
        r"'cancelled' - at `\$\.status`",
    ),
    (
        {"sessionUpdate": "tool_call", "toolCallId": "c", "title": "t", "callId": "c"},
        r"ToolCall has no field `callId` - at `\$`",
    ),
    (
        {
            "sessionUpdate": "plan",
            "entries": [{"content": "a", "priority": "low", "status": "pending", "x": 1}],
        },
        r"PlanEntry has no field `x` - at `\$\.entries\[0\]`",
    ),
]


@pytest.mark.parametrize("update", LEGAL)
def test_a_legal_update_is_let_through(update: Any) -> None:
    validate_acp_update(update)


@pytest.mark.parametrize(("update", "why"), WRONG)
def test_a_wrong_update_is_refused_with_the_place_of_the_fault(update: Any, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        validate_acp_update(update)
