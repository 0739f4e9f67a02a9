"""Reads what a client sends: a whole UnifiedMessage, or a short form of BeamCode's or Claude's clients."""

from __future__ import annotations

from typing import Any, cast

import msgspec

from trunkline.errors import InvalidCommand
from trunkline.protocols.unified.wire import MESSAGE_TYPES, MessageType, UnifiedMessage, as_message

__all__ = ["KEEP_ALIVE", "read_frame"]

KEEP_ALIVE = "keep_alive"
_TYPES: dict[str, MessageType] = {
    "user_message": "user_message",
    "permission_response": "permission_response",
    "interrupt": "interrupt",
    "set_model": "configuration_change",
    "set_permission_mode": "configuration_change",
    "slash_command": "user_message",
    "control_request": "unknown",
}


def read_frame(frame: bytes, *, id: str, at: int) -> UnifiedMessage | None:
    """Read what a client sent: a message, or the short form of one, which gets this id and this time.

    None for a keep-alive, which asks for nothing.
    """
    try:
        given: Any = msgspec.json.decode(frame)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise InvalidCommand(f"the frame is no JSON: {error}") from None
    fields = cast("dict[str, Any]", given) if isinstance(given, dict) else {}
    kind = fields.get("type")
    if kind == KEEP_ALIVE:
        return None
    if isinstance(kind, str) and kind not in _TYPES and kind not in MESSAGE_TYPES:
        raise InvalidCommand(f"there is no message of type {kind[:40]!r}: send one of {', '.join(_TYPES)}")
    if not isinstance(kind, str) or kind not in _TYPES or "metadata" in fields or "timestamp" in fields:
        return as_message(cast("object", given))
    metadata = {
        name: value for name, value in fields.items() if name not in ("type", "id", "content", "images")
    }
    content: list[Any] = []
    if kind == "user_message":
        content = _content(fields)
    elif kind == "slash_command":
        metadata["slash_command"] = metadata.pop("command", None)
    elif kind == "permission_response" and "content" in fields:
        metadata["content"] = fields["content"]
    elif kind in ("set_model", "set_permission_mode", "control_request"):
        metadata["subtype"] = kind
    own = fields.get("id")
    name = own if isinstance(own, str) and own else id
    message = {"id": name, "timestamp": at, "type": _TYPES[kind], "role": "user"}
    return as_message({**message, "content": content, "metadata": metadata})


def _content(fields: dict[str, Any]) -> list[Any]:
    text, images = fields.get("content"), fields.get("images", [])
    if isinstance(text, list):
        return cast("list[Any]", text)
    if not isinstance(text, str) or not isinstance(images, list):
        raise InvalidCommand("the content of a user_message is a text, or a list of contents")
    made: list[Any] = []
    for image in cast("list[Any]", images):
        source = cast("dict[str, Any]", image) if isinstance(image, dict) else {}
        made.append({"type": "image", "source": {**source, "type": "base64"}})
    return [*made, {"type": "text", "text": text}] if text else made
