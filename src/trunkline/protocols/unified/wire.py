"""UnifiedMessage: one envelope for all that a session says and is told, as BeamCode defines it.

The names are those of ``src/core/types/unified-message.ts`` (https://github.com/teng-lin/beamcode, 8da0e2d).
There is no sequence number in the envelope: the place of a message is in its metadata.
"""

from __future__ import annotations

import hashlib
import math
from typing import Any, Literal, Union, cast, get_args

import msgspec
from msgspec import UNSET, UnsetType

from trunkline.errors import InvalidCommand

__all__ = [
    "ERROR_CODES", "MESSAGE_TYPES", "ROLES", "CodeContent", "ImageContent", "ImageSource", "MessageType",
    "RefusalContent", "Role", "SessionLifecycleSubtype", "TextContent", "ThinkingContent",
    "ToolResultContent", "ToolUseContent", "UnifiedContent", "UnifiedErrorCode", "UnifiedMessage",
    "as_message", "derived_id", "encode", "fault_in", "is_unified_message", "read_message", "to_dict",
]  # fmt: skip

MessageType = Literal[
    "session_init", "status_change", "assistant", "result", "stream_event", "permission_request",
    "control_response", "tool_progress", "tool_use_summary", "auth_status", "user_message",
    "permission_response", "interrupt", "configuration_change", "team_message", "team_task_update",
    "team_state_change", "session_lifecycle", "translation_event", "unknown",
]  # fmt: skip
Role = Literal["user", "assistant", "system", "tool"]
SessionLifecycleSubtype = Literal[
    "session_created", "session_deleted", "session_compacted", "message_removed", "message_part_removed"
]
UnifiedErrorCode = Literal[
    "provider_auth", "api_error", "context_overflow", "output_length", "aborted", "rate_limit", "max_turns",
    "max_budget", "execution_error", "unknown",
]  # fmt: skip
"""The ``error_code`` in the metadata of a result."""

MESSAGE_TYPES: tuple[str, ...] = get_args(MessageType)
ROLES: tuple[str, ...] = get_args(Role)
ERROR_CODES: tuple[str, ...] = get_args(UnifiedErrorCode)


class TextContent(msgspec.Struct, frozen=True, tag_field="type", tag="text"):
    """Text."""

    text: str


class ToolUseContent(msgspec.Struct, frozen=True, kw_only=True, tag_field="type", tag="tool_use"):
    """A call of a tool."""

    id: str
    name: str
    input: dict[str, Any]


class ToolResultContent(msgspec.Struct, frozen=True, kw_only=True, tag_field="type", tag="tool_result"):
    """What a call gave."""

    tool_use_id: str
    content: str
    is_error: bool | UnsetType = UNSET


class CodeContent(msgspec.Struct, frozen=True, kw_only=True, tag_field="type", tag="code"):
    """Code, or the text of a file."""

    language: str
    code: str


class ImageSource(msgspec.Struct, frozen=True, kw_only=True, tag_field="type", tag="base64"):
    """The bytes of an image."""

    media_type: str
    data: str


class ImageContent(msgspec.Struct, frozen=True, tag_field="type", tag="image"):
    """An image."""

    source: ImageSource


class ThinkingContent(msgspec.Struct, frozen=True, tag_field="type", tag="thinking"):
    """Reasoning."""

    thinking: str
    budget_tokens: int | UnsetType = UNSET


class RefusalContent(msgspec.Struct, frozen=True, tag_field="type", tag="refusal"):
    """What the agent said when it refused."""

    refusal: str


UnifiedContent = Union[
    TextContent,
    ToolUseContent,
    ToolResultContent,
    CodeContent,
    ImageContent,
    ThinkingContent,
    RefusalContent,
]


class UnifiedMessage(msgspec.Struct, frozen=True, kw_only=True, rename={"parent_id": "parentId"}):
    """One message; for most types the metadata says everything."""

    id: str
    timestamp: int | float
    """Milliseconds since 1970."""
    type: MessageType
    role: Role
    content: tuple[UnifiedContent, ...] = ()
    metadata: dict[str, Any] = {}
    parent_id: str | UnsetType = UNSET


encode = msgspec.json.Encoder().encode
"""Gives a message as JSON."""


def to_dict(message: UnifiedMessage) -> dict[str, Any]:
    """Give a message as plain values."""
    made: dict[str, Any] = msgspec.to_builtins(message)
    made["content"] = list(made["content"])
    return made


def derived_id(*parts: object) -> str:
    """Give an id in the shape of a UUID of version 4, always the same for the same parts.

    A message that is shown again has the id that it had: clients know it by that.
    """
    digest = hashlib.blake2b("\n".join(map(str, parts)).encode(errors="replace"), digest_size=16).hexdigest()
    variant = "89ab"[int(digest[16], 16) & 3]
    return f"{digest[:8]}-{digest[8:12]}-4{digest[13:16]}-{variant}{digest[17:20]}-{digest[20:]}"


# -- checking and reading --------------------------------------------------------------------------


def is_unified_message(value: object) -> bool:
    """Whether plain values are a message; like BeamCode's ``isUnifiedMessage`` it looks into no content."""
    return fault_in(value) is None


def fault_in(value: object) -> str | None:
    """Say why plain values are no message; None if they are one."""
    if not isinstance(value, dict):
        return "a message is an object"
    given = cast("dict[str, Any]", value)
    if not isinstance(given.get("id"), str) or not given["id"]:
        return "id is a text that is not empty"
    timestamp = given.get("timestamp")
    is_number = isinstance(timestamp, int | float) and not isinstance(timestamp, bool)
    if not is_number or (isinstance(timestamp, float) and not math.isfinite(timestamp)):
        return "timestamp is a number: milliseconds since 1970"
    if given.get("type") not in MESSAGE_TYPES:
        return f"type is one of {', '.join(MESSAGE_TYPES)}"
    if given.get("role") not in ROLES:
        return f"role is one of {', '.join(ROLES)}"
    if not isinstance(given.get("content"), list):
        return "content is a list"
    if not isinstance(given.get("metadata"), dict):
        return "metadata is an object"
    if "parentId" in given and not isinstance(given["parentId"], str):
        return "parentId is a text, or is left out"
    return None


def read_message(data: bytes | str) -> UnifiedMessage:
    """Read the JSON of a message; anything else is refused with the reason."""
    try:
        given: object = msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise InvalidCommand(f"this is no JSON: {error}") from None
    return as_message(given)


def as_message(value: object) -> UnifiedMessage:
    """Take plain values as a message; what is none is refused with the reason."""
    fault = fault_in(value)
    if fault is not None:
        raise InvalidCommand(f"this is no UnifiedMessage: {fault}")
    fields = cast("dict[str, Any]", value)
    for number, block in enumerate(cast("list[Any]", fields["content"])):
        try:
            msgspec.convert(block, UnifiedContent)
        except msgspec.ValidationError as error:
            raise InvalidCommand(f"content[{number}] cannot be read: {error}") from None
    return msgspec.convert(fields, UnifiedMessage)
