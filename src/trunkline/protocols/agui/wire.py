"""AG-UI 1.0 on the wire: its 31 events, and what a client sends to start a run.

Hand-written from npm ``@ag-ui/core`` 1.0.0; the tests hold every type against the official models of
``ag-ui-protocol``. A field that is None is absent: for most of them ``null`` is an error in the client.
"""

from __future__ import annotations

from typing import Any, Literal, Union

import msgspec

__all__ = [
    "PROTOCOL_VERSION",
    "ActivityDelta",
    "ActivitySnapshot",
    "AguiEvent",
    "BaseEvent",
    "Context",
    "Custom",
    "Interrupt",
    "Message",
    "MessagesSnapshot",
    "Raw",
    "ReasoningEncryptedValue",
    "ReasoningEnd",
    "ReasoningMessageChunk",
    "ReasoningMessageContent",
    "ReasoningMessageEnd",
    "ReasoningMessageStart",
    "ReasoningStart",
    "ResumeEntry",
    "RunAgentInput",
    "RunError",
    "RunFinished",
    "RunStarted",
    "StateDelta",
    "StateSnapshot",
    "StepFinished",
    "StepStarted",
    "SubagentError",
    "SubagentFinished",
    "SubagentStarted",
    "TextMessageChunk",
    "TextMessageContent",
    "TextMessageEnd",
    "TextMessageStart",
    "TokenUsage",
    "Tool",
    "ToolCallArgs",
    "ToolCallChunk",
    "ToolCallEnd",
    "ToolCallResult",
    "ToolCallStart",
    "encode",
    "to_dict",
]

PROTOCOL_VERSION = "1.0"

Json = dict[str, Any]


class BaseEvent(
    msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel", tag_field="type"
):
    """The common fields of every event."""

    timestamp: int | None = None
    """Milliseconds."""
    raw_event: Any = None
    metadata: Json | None = None


class _Owned(BaseEvent, frozen=True, kw_only=True):
    """An event of the agent itself, or of the subagent it names."""

    subagent_run_id: str | None = None


# -- runs -----------------------------------------------------------------------------------------


class TokenUsage(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel"):
    """Tokens spent with one model of one provider."""

    provider: str | None = None
    model: str | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    total_tokens: int | None = None
    reasoning_tokens: int | None = None
    cached_input_tokens: int | None = None
    cache_write_input_tokens: int | None = None


class Interrupt(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel"):
    """What a run stopped for."""

    id: str
    reason: str
    message: str | None = None
    tool_call_id: str | None = None
    response_schema: Json | None = None
    expires_at: str | None = None
    metadata: Json | None = None
    subagent_run_id: str | None = None


class RunStarted(BaseEvent, frozen=True, kw_only=True, tag="RUN_STARTED"):
    """A run begins."""

    thread_id: str
    run_id: str
    protocol_version: str | None = None
    parent_run_id: str | None = None
    input: Json | None = None


class RunFinished(BaseEvent, frozen=True, kw_only=True, tag="RUN_FINISHED"):
    """A run is over: done, stopped for questions, or cancelled."""

    thread_id: str
    run_id: str
    result: Any = None
    outcome: Json | None = None
    usage: tuple[TokenUsage, ...] | None = None


class RunError(BaseEvent, frozen=True, kw_only=True, tag="RUN_ERROR"):
    """A run failed."""

    message: str
    code: str | None = None
    usage: tuple[TokenUsage, ...] | None = None


class StepStarted(_Owned, frozen=True, kw_only=True, tag="STEP_STARTED"):
    """A step of the work begins."""

    step_name: str


class StepFinished(_Owned, frozen=True, kw_only=True, tag="STEP_FINISHED"):
    """A step of the work is done."""

    step_name: str


# -- messages --------------------------------------------------------------------------------------


class TextMessageStart(_Owned, frozen=True, kw_only=True, tag="TEXT_MESSAGE_START"):
    """A message begins."""

    message_id: str
    role: Literal["developer", "system", "assistant", "user"] | None = None
    name: str | None = None


class TextMessageContent(_Owned, frozen=True, kw_only=True, tag="TEXT_MESSAGE_CONTENT"):
    """A piece of a message."""

    message_id: str
    delta: str


class TextMessageEnd(_Owned, frozen=True, kw_only=True, tag="TEXT_MESSAGE_END"):
    """A message is complete."""

    message_id: str


class TextMessageChunk(_Owned, frozen=True, kw_only=True, tag="TEXT_MESSAGE_CHUNK"):
    """A piece of a message that begins and ends by itself."""

    message_id: str | None = None
    role: Literal["developer", "system", "assistant", "user"] | None = None
    delta: str | None = None
    name: str | None = None


class ReasoningStart(_Owned, frozen=True, kw_only=True, tag="REASONING_START"):
    """The agent begins to reason."""

    message_id: str


class ReasoningMessageStart(_Owned, frozen=True, kw_only=True, tag="REASONING_MESSAGE_START"):
    """A message of reasoning begins."""

    message_id: str
    role: Literal["reasoning"] = msgspec.field(default_factory=lambda: "reasoning")


class ReasoningMessageContent(_Owned, frozen=True, kw_only=True, tag="REASONING_MESSAGE_CONTENT"):
    """A piece of reasoning."""

    message_id: str
    delta: str


class ReasoningMessageEnd(_Owned, frozen=True, kw_only=True, tag="REASONING_MESSAGE_END"):
    """A message of reasoning is complete."""

    message_id: str


class ReasoningMessageChunk(_Owned, frozen=True, kw_only=True, tag="REASONING_MESSAGE_CHUNK"):
    """A piece of reasoning that begins and ends by itself."""

    message_id: str | None = None
    delta: str | None = None


class ReasoningEnd(_Owned, frozen=True, kw_only=True, tag="REASONING_END"):
    """The agent is done reasoning."""

    message_id: str


class ReasoningEncryptedValue(_Owned, frozen=True, kw_only=True, tag="REASONING_ENCRYPTED_VALUE"):
    """What a provider wants back with the next call."""

    subtype: Literal["tool-call", "message"]
    entity_id: str
    encrypted_value: str


# -- tools -----------------------------------------------------------------------------------------


class ToolCallStart(_Owned, frozen=True, kw_only=True, tag="TOOL_CALL_START"):
    """A tool call begins."""

    tool_call_id: str
    tool_call_name: str
    parent_message_id: str | None = None


class ToolCallArgs(_Owned, frozen=True, kw_only=True, tag="TOOL_CALL_ARGS"):
    """A piece of the JSON text of a call's arguments."""

    tool_call_id: str
    delta: str


class ToolCallEnd(_Owned, frozen=True, kw_only=True, tag="TOOL_CALL_END"):
    """A call's arguments are complete."""

    tool_call_id: str


class ToolCallChunk(_Owned, frozen=True, kw_only=True, tag="TOOL_CALL_CHUNK"):
    """A piece of a call's arguments that begins and ends by itself."""

    tool_call_id: str | None = None
    tool_call_name: str | None = None
    parent_message_id: str | None = None
    delta: str | None = None


class ToolCallResult(_Owned, frozen=True, kw_only=True, tag="TOOL_CALL_RESULT"):
    """What a tool gave back."""

    message_id: str
    tool_call_id: str
    content: str | list[Json]
    role: Literal["tool"] | None = None


# -- state and the rest ----------------------------------------------------------------------------


class StateSnapshot(_Owned, frozen=True, kw_only=True, tag="STATE_SNAPSHOT"):
    """The shared state is this now."""

    snapshot: Any


class StateDelta(_Owned, frozen=True, kw_only=True, tag="STATE_DELTA"):
    """The shared state changed by these operations (RFC 6902)."""

    delta: tuple[Json, ...]


class MessagesSnapshot(BaseEvent, frozen=True, kw_only=True, tag="MESSAGES_SNAPSHOT"):
    """The conversation is this now."""

    messages: list[Json]


class ActivitySnapshot(_Owned, frozen=True, kw_only=True, tag="ACTIVITY_SNAPSHOT"):
    """A piece of structured work on show."""

    message_id: str
    activity_type: str
    content: Json
    replace: bool | None = None


class ActivityDelta(_Owned, frozen=True, kw_only=True, tag="ACTIVITY_DELTA"):
    """A change of structured work on show (RFC 6902)."""

    message_id: str
    activity_type: str
    patch: tuple[Json, ...]


class Raw(_Owned, frozen=True, kw_only=True, tag="RAW"):
    """An event of another protocol, as it came."""

    event: Any
    source: str | None = None


class Custom(_Owned, frozen=True, kw_only=True, tag="CUSTOM"):
    """Anything that an agent sends to a front end of its own."""

    name: str
    value: Any


class SubagentStarted(BaseEvent, frozen=True, kw_only=True, tag="SUBAGENT_STARTED"):
    """A subagent begins."""

    subagent_run_id: str
    name: str
    description: str | None = None
    parent_subagent_run_id: str | None = None
    parent_tool_call_id: str | None = None
    parent_message_id: str | None = None


class SubagentFinished(BaseEvent, frozen=True, kw_only=True, tag="SUBAGENT_FINISHED"):
    """A subagent is done, or waits."""

    subagent_run_id: str
    result: Any = None
    outcome: Json | None = None


class SubagentError(BaseEvent, frozen=True, kw_only=True, tag="SUBAGENT_ERROR"):
    """A subagent failed."""

    subagent_run_id: str
    message: str
    code: str | None = None


AguiEvent = Union[
    RunStarted,
    RunFinished,
    RunError,
    StepStarted,
    StepFinished,
    TextMessageStart,
    TextMessageContent,
    TextMessageEnd,
    TextMessageChunk,
    ToolCallStart,
    ToolCallArgs,
    ToolCallEnd,
    ToolCallChunk,
    ToolCallResult,
    StateSnapshot,
    StateDelta,
    MessagesSnapshot,
    ActivitySnapshot,
    ActivityDelta,
    Raw,
    Custom,
    ReasoningStart,
    ReasoningMessageStart,
    ReasoningMessageContent,
    ReasoningMessageEnd,
    ReasoningMessageChunk,
    ReasoningEnd,
    ReasoningEncryptedValue,
    SubagentStarted,
    SubagentFinished,
    SubagentError,
]

encode = msgspec.json.Encoder().encode


def to_dict(event: AguiEvent) -> Json:
    """Give an event as it stands in JSON."""
    return msgspec.to_builtins(event)


# -- what a client sends ---------------------------------------------------------------------------


class _Sent(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel"):
    """A part of a request; fields that we do not know are passed over."""


class Tool(_Sent, frozen=True, kw_only=True):
    """A tool that the front end runs itself."""

    name: str
    description: str = ""
    parameters: Any = None
    metadata: Json | None = None


class Context(_Sent, frozen=True, kw_only=True):
    """Something the agent should know."""

    description: str
    value: Any = None


class ResumeEntry(_Sent, frozen=True, kw_only=True):
    """The answer to one interrupt."""

    interrupt_id: str
    status: Literal["resolved", "cancelled"]
    payload: Any = None
    metadata: Json | None = None


class Message(_Sent, frozen=True, kw_only=True):
    """One message of the client's history; roles that we do not know are passed over."""

    id: str
    role: str
    content: str | list[Json] | Json | None = None
    name: str | None = None
    tool_calls: list[Json] | None = None
    tool_call_id: str | None = None
    error: str | None = None
    encrypted_value: str | None = None
    activity_type: str | None = None
    subagent_run_id: str | None = None
    metadata: Json | None = None


class RunAgentInput(_Sent, frozen=True, kw_only=True):
    """Starts a run, or goes on with one that waits."""

    thread_id: str
    run_id: str
    messages: list[Message]
    protocol_version: str | None = None
    parent_run_id: str | None = None
    state: Any = None
    tools: list[Tool] | None = None
    context: list[Context] | None = None
    forwarded_props: Any = None
    resume: list[ResumeEntry] | None = None
