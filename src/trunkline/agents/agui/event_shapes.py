"""The shapes that an AG-UI server's events must have before they are read.

Only what is read is checked, and a field may be null where it may be left out: servers of before 1.0 and
those of other frameworks send more, less, or the same in another way.
"""

from __future__ import annotations

from typing import Any, TypedDict, get_args

import msgspec
from msgspec import UNSET, UnsetType


class TrunklineMetadata(TypedDict, total=False):
    """What a Trunkline server adds in the metadata of an event."""

    title: str | None
    kind: str | None
    status: str | None
    error: str | None


def _object(**fields: Any) -> Any:
    """Give the type of an object; a field whose type has None or UnsetType may be left out."""
    required = [item for item in fields.items() if not {type(None), UnsetType} & {*get_args(item[1])}]
    optional = [(name, of, UNSET) for name, of in fields.items() if (name, of) not in required]
    return msgspec.defstruct("Object", [*required, *optional])


def _event(**fields: Any) -> Any:
    """Give the type of an event of the agent itself, or of the subagent it names."""
    return _object(subagentRunId=str | None, metadata=_JSON | None, **fields)


_JSON = dict[str, Any]
_INTERRUPT = _object(
    id=str | None,
    reason=str | None,
    message=str | None,
    toolCallId=str | None,
    responseSchema=_JSON | None,
    subagentRunId=str | None,
    metadata=_JSON | None,
)
_OUTCOME = _object(type=str | None, interrupts=list[_INTERRUPT] | None, pendingToolCallIds=list[str] | None)
_USAGE = _object(
    provider=str | None,
    model=str | None,
    inputTokens=int | None,
    outputTokens=int | None,
    reasoningTokens=int | None,
    cachedInputTokens=int | None,
    cacheWriteInputTokens=int | None,
)
_OPERATION = _object(op=str, path=str)
_CALL = _object(id=str, function=_object(name=str, arguments=str | None))
_MESSAGE = _event(
    id=str,
    role=str,
    content=str | list[_JSON] | _JSON | None,
    toolCalls=list[_CALL] | None,
    toolCallId=str | None,
    error=str | None,
)
_PIECE = _event(messageId=str, delta=str)
_CHUNK = _event(messageId=str | None, role=str | None, delta=str | None)
_STEP = _event(stepName=str)
_ACTIVITY = _event(messageId=str, activityType=str, content=_JSON | None, patch=list[_OPERATION] | UnsetType)

_SHAPES: dict[str, Any] = {
    "RUN_STARTED": _event(runId=str | None),
    "RUN_FINISHED": _event(outcome=_OUTCOME | None, usage=list[_USAGE] | None),
    "RUN_ERROR": _event(message=str, code=str | None, usage=list[_USAGE] | None),
    "TEXT_MESSAGE_START": _event(messageId=str, role=str | None),
    "TEXT_MESSAGE_CONTENT": _PIECE,
    "TEXT_MESSAGE_END": _event(messageId=str),
    "TEXT_MESSAGE_CHUNK": _CHUNK,
    "REASONING_MESSAGE_CONTENT": _PIECE,
    "REASONING_MESSAGE_CHUNK": _CHUNK,
    "REASONING_ENCRYPTED_VALUE": _event(subtype=str | None, entityId=str, encryptedValue=str),
    "THINKING_TEXT_MESSAGE_CONTENT": _event(delta=str),
    "TOOL_CALL_START": _event(toolCallId=str, toolCallName=str, parentMessageId=str | None),
    "TOOL_CALL_ARGS": _event(toolCallId=str, delta=str),
    "TOOL_CALL_END": _event(toolCallId=str),
    "TOOL_CALL_CHUNK": _event(
        toolCallId=str | None, toolCallName=str | None, parentMessageId=str | None, delta=str | None
    ),
    "TOOL_CALL_RESULT": _event(toolCallId=str, messageId=str, content=str | list[_JSON]),
    "STATE_SNAPSHOT": _event(snapshot=Any),
    "STATE_DELTA": _event(delta=list[_OPERATION]),
    "MESSAGES_SNAPSHOT": _event(messages=list[_MESSAGE]),
    "STEP_STARTED": _STEP,
    "STEP_FINISHED": _STEP,
    "ACTIVITY_SNAPSHOT": _ACTIVITY,
    "ACTIVITY_DELTA": _ACTIVITY,
    "CUSTOM": _event(name=str),
    "RAW": _event(source=str | None),
    "SUBAGENT_STARTED": _object(
        subagentRunId=str,
        name=str,
        description=str | None,
        parentSubagentRunId=str | None,
        parentToolCallId=str | None,
    ),
    "SUBAGENT_FINISHED": _object(subagentRunId=str, outcome=_JSON | None),
    "SUBAGENT_ERROR": _object(subagentRunId=str, code=str | None, message=str),
}


def check_shape(kind: str, event: dict[str, Any]) -> None:
    """Raise msgspec.ValidationError, which says where, for an event that cannot be read."""
    if (shape := _SHAPES.get(kind)) is not None:
        msgspec.convert(event, shape)
