"""The shapes that an AG-UI server's events must have before they are read.

Only what is read is checked, and a field may be null where it may be left out: servers of before 1.0 and
those of other frameworks send more, less, or the same in another way.
"""

from __future__ import annotations

from typing import Any, Required, TypedDict

import msgspec


class TrunklineMetadata(TypedDict, total=False):
    """What a Trunkline server adds in the metadata of an event."""

    title: str | None
    kind: str | None
    status: str | None
    error: str | None


class _Event(TypedDict, total=False):
    subagentRunId: str | None
    metadata: dict[str, Any] | None


class _Interrupt(TypedDict, total=False):
    id: str | None
    reason: str | None
    message: str | None
    toolCallId: str | None
    responseSchema: dict[str, Any] | None
    subagentRunId: str | None
    metadata: dict[str, Any] | None


class _Outcome(TypedDict, total=False):
    type: str | None
    interrupts: list[_Interrupt] | None
    pendingToolCallIds: list[str] | None


class _Usage(TypedDict, total=False):
    provider: str | None
    model: str | None
    inputTokens: int | None
    outputTokens: int | None
    reasoningTokens: int | None
    cachedInputTokens: int | None
    cacheWriteInputTokens: int | None


class _RunStarted(_Event, total=False):
    runId: str | None


class _RunFinished(_Event, total=False):
    outcome: _Outcome | None
    usage: list[_Usage] | None


class _RunError(_Event, total=False):
    message: Required[str]
    code: str | None
    usage: list[_Usage] | None


class _MessageStart(_Event, total=False):
    messageId: Required[str]
    role: str | None


class _MessageContent(_Event):
    messageId: str
    delta: str


class _MessageEnd(_Event):
    messageId: str


class _MessageChunk(_Event, total=False):
    messageId: str | None
    role: str | None
    delta: str | None


class _Thinking(_Event):
    delta: str


class _Sealed(_Event, total=False):
    subtype: str | None
    entityId: Required[str]
    encryptedValue: Required[str]


class _CallStart(_Event, total=False):
    toolCallId: Required[str]
    toolCallName: Required[str]
    parentMessageId: str | None


class _CallArgs(_Event):
    toolCallId: str
    delta: str


class _CallEnd(_Event):
    toolCallId: str


class _CallChunk(_Event, total=False):
    toolCallId: str | None
    toolCallName: str | None
    parentMessageId: str | None
    delta: str | None


class _Result(_Event):
    toolCallId: str
    messageId: str
    content: str | list[dict[str, Any]]


class _State(_Event):
    snapshot: Any


class _Step(TypedDict, total=False):
    op: Required[str]
    path: Required[str]


class _Patch(_Event):
    delta: list[_Step]


class _Function(TypedDict, total=False):
    name: Required[str]
    arguments: str | None


class _Call(TypedDict):
    id: str
    function: _Function


class _Message(_Event, total=False):
    id: Required[str]
    role: Required[str]
    content: str | list[dict[str, Any]] | dict[str, Any] | None
    toolCalls: list[_Call] | None
    toolCallId: str | None
    error: str | None


class _Messages(_Event):
    messages: list[_Message]


class _StepName(_Event):
    stepName: str


class _Activity(_Event, total=False):
    messageId: Required[str]
    activityType: Required[str]
    content: dict[str, Any] | None
    patch: list[_Step]


class _Custom(_Event):
    name: str


class _Raw(_Event, total=False):
    source: str | None


class _Subagent(TypedDict, total=False):
    subagentRunId: Required[str]
    name: Required[str]
    description: str | None
    parentSubagentRunId: str | None
    parentToolCallId: str | None


class _SubagentDone(TypedDict, total=False):
    subagentRunId: Required[str]
    outcome: dict[str, Any] | None


class _SubagentFailed(TypedDict, total=False):
    subagentRunId: Required[str]
    code: str | None
    message: Required[str]


_SHAPES: dict[str, Any] = {
    "RUN_STARTED": _RunStarted,
    "RUN_FINISHED": _RunFinished,
    "RUN_ERROR": _RunError,
    "TEXT_MESSAGE_START": _MessageStart,
    "TEXT_MESSAGE_CONTENT": _MessageContent,
    "TEXT_MESSAGE_END": _MessageEnd,
    "TEXT_MESSAGE_CHUNK": _MessageChunk,
    "REASONING_MESSAGE_CONTENT": _MessageContent,
    "REASONING_MESSAGE_CHUNK": _MessageChunk,
    "REASONING_ENCRYPTED_VALUE": _Sealed,
    "THINKING_TEXT_MESSAGE_CONTENT": _Thinking,
    "TOOL_CALL_START": _CallStart,
    "TOOL_CALL_ARGS": _CallArgs,
    "TOOL_CALL_END": _CallEnd,
    "TOOL_CALL_CHUNK": _CallChunk,
    "TOOL_CALL_RESULT": _Result,
    "STATE_SNAPSHOT": _State,
    "STATE_DELTA": _Patch,
    "MESSAGES_SNAPSHOT": _Messages,
    "STEP_STARTED": _StepName,
    "STEP_FINISHED": _StepName,
    "ACTIVITY_SNAPSHOT": _Activity,
    "ACTIVITY_DELTA": _Activity,
    "CUSTOM": _Custom,
    "RAW": _Raw,
    "SUBAGENT_STARTED": _Subagent,
    "SUBAGENT_FINISHED": _SubagentDone,
    "SUBAGENT_ERROR": _SubagentFailed,
}


def check_shape(kind: str, event: dict[str, Any]) -> None:
    """Raise msgspec.ValidationError, which says where, for an event that cannot be read."""
    if (shape := _SHAPES.get(kind)) is not None:
        msgspec.convert(event, shape)
