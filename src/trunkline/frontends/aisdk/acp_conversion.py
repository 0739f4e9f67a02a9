"""Converts between ACP's updates and the AI SDK's messages, for programs with a server of their own.

The streams of our own server go through sessions and ``AisdkEncoder``. These functions stand on the same
decoder and encoder.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from trunkline.cursor import Entry
from trunkline.frontends.aisdk.content_parts import block_part, output_parts
from trunkline.frontends.aisdk.encoder import AisdkEncoder
from trunkline.frontends.aisdk.metadata import provider_metadata
from trunkline.frontends.aisdk.options import AisdkOptions
from trunkline.frontends.aisdk.user_parts import read_parts
from trunkline.protocols.acp.content import block_from_wire, block_to_wire, tool_content_from_wire
from trunkline.protocols.acp.decoder import AcpDecoder
from trunkline.protocols.acp.profiles import CLAUDE_CODE, Profile
from trunkline.protocols.acp.prompt_result import turn_finished
from trunkline.protocols.aisdk.wire import Chunk, JsonObject, VersionNumber

__all__ = [
    "StreamState",
    "map_tool_status",
    "session_update_to_chunks",
    "session_update_to_part",
    "tool_call_to_ui_part",
    "ui_message_to_content_blocks",
]

_STATES = {
    "pending": "input-streaming",
    "in_progress": "input-available",
    "completed": "output-available",
    "failed": "output-error",
}


class StreamState:
    """What is open in one message while the updates of a prompt come in."""

    def __init__(
        self, message_id: str, *, version: VersionNumber = 7, profile: Profile = CLAUDE_CODE
    ) -> None:
        """Begin a message; the profile says which fields of its own an agent uses."""
        self._decoder = AcpDecoder(profile)
        self._decoder.begin_turn(message_id)
        self._encoder = AisdkEncoder(message_id, AisdkOptions(emit_raw=True), version=version, is_bare=True)
        self._count = 0

    def start(self) -> list[Chunk]:
        """Start the message."""
        return self._encoder.begin()

    def feed(self, update: Mapping[str, Any]) -> list[Chunk]:
        """Take the ``update`` of a session/update."""
        return self._encode(self._decoder.feed(update))

    def finish(self, result: Mapping[str, Any]) -> list[Chunk]:
        """Finish the message with the result of session/prompt: what is open ends first."""
        stop_reason = str(result.get("stopReason", "end_turn"))
        ended = self._decoder.close(stop_reason)
        return self._encode([*ended, turn_finished(result, self._decoder.profile)])

    def fail(self, message: str) -> list[Chunk]:
        """End the message with an error: what is open is closed first."""
        return self._encoder.fail(message, None)

    def _encode(self, events: Sequence[Any]) -> list[Chunk]:
        out: list[Chunk] = []
        for event in events:
            self._count += 1
            out += self._encoder.feed(Entry(self._count, 0, 0, float(self._count), event))
        return out


def session_update_to_chunks(update: Mapping[str, Any], state: StreamState) -> list[Chunk]:
    """Give the chunks of an update, with starts and ends in order; ``state`` belongs to the message."""
    return state.feed(update)


def session_update_to_part(update: Mapping[str, Any]) -> JsonObject | None:
    """Give an update of a replay as one part of a message; None for what is no part.

    It takes ACP's ``sessionUpdate`` with content blocks, and ``type`` with content that is a text.
    """
    kind = update.get("sessionUpdate", update.get("type"))
    if kind in ("tool_call", "tool_call_update"):
        return tool_call_to_ui_part(update)
    if kind not in ("user_message_chunk", "agent_message_chunk", "agent_thought_chunk"):
        return None
    content = update.get("content")
    if isinstance(content, str):
        content = {"type": "text", "text": content}
    block = block_from_wire(content)
    if block is None:
        return None
    part = block_part(block)
    if kind == "agent_thought_chunk":
        return {"type": "reasoning", "text": part["text"]} if part["type"] == "text" else None
    return part


def ui_message_to_content_blocks(message: Mapping[str, Any]) -> list[JsonObject]:
    """Give the parts of a message as ACP's content blocks; an unknown part raises InvalidCommand.

    Files in data: URLs become images, audio and resources, other files become resource links.
    """
    parts = message.get("parts")
    listed = cast("list[Any]", parts) if isinstance(parts, list) else []
    return [block_to_wire(block) for block in read_parts(listed)]


def map_tool_status(status: str | None) -> str:
    """Give the state of a tool part for a status of ACP; an unknown one is still streaming."""
    return _STATES.get(status or "", "input-streaming")


def tool_call_to_ui_part(tool_call: Mapping[str, Any]) -> JsonObject:
    """Give a call as a part of a message.

    It takes ACP's fields (``toolCallId``, ``title``, ``rawInput``, ``rawOutput``, ``content``, ``_meta``),
    and ``id``, ``name``, ``input`` and ``output``.
    """
    meta = tool_call.get("_meta")
    call_id = str(tool_call.get("toolCallId", tool_call.get("id", "")))
    about: JsonObject = cast("JsonObject", meta) if isinstance(meta, dict) else {}
    title = tool_call.get("title")
    name = tool_call.get("name") or CLAUDE_CODE.name_of_tool(about, call_id) or title or "unknown"
    state = map_tool_status(cast("str | None", tool_call.get("status")))
    part: JsonObject = {"type": "dynamic-tool", "toolCallId": call_id, "toolName": name, "state": state}
    if title is not None:
        part["title"] = title
    part["input"] = tool_call.get("rawInput", tool_call.get("input"))
    output = _output(tool_call, about)
    if state == "output-available":
        part["output"] = output
    elif state == "output-error":
        part["errorText"] = output if isinstance(output, str) and output else "failed"
    if about:
        part["callProviderMetadata"] = provider_metadata(about)
    return part


def _output(tool_call: Mapping[str, Any], meta: JsonObject) -> Any:
    """The standard's field first, then the agent's own, then what the call shows."""
    for name in ("rawOutput", "output"):
        if tool_call.get(name) is not None:
            return tool_call[name]
    extension: Any = meta.get("claudeCode")
    response = cast("JsonObject", extension).get("toolResponse") if isinstance(extension, dict) else None
    if response is not None:
        return response
    content = tool_call.get("content")
    items = cast("list[Any]", content) if isinstance(content, list) else []
    return output_parts([block for item in items if (block := tool_content_from_wire(item)) is not None])
