"""The decoder: what a client's UnifiedMessage asks of a session."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping
from typing import Any, Union, cast

import msgspec

from trunkline import content as c
from trunkline import events as ev
from trunkline.commands import Answer, Cancel, Prompt, SetConfig
from trunkline.errors import InvalidCommand
from trunkline.frontends.unified.options import Busy
from trunkline.frontends.unified.questions import read_answer
from trunkline.options import ConfigOption
from trunkline.protocols.acp.content import block_from_wire
from trunkline.protocols.unified.wire import (
    CodeContent,
    ImageContent,
    TextContent,
    UnifiedContent,
    UnifiedMessage,
)

__all__ = ["Initialize", "Request", "read_request", "request_id_of"]

_BUSY = ("reject", "queue", "interrupt", "steer")


class Initialize(msgspec.Struct, frozen=True, kw_only=True):
    """A client asks what the agent can do."""

    request_id: str


Request = Union[Prompt, Answer, Cancel, SetConfig, Initialize]
"""What a message asks for: a command of the session, or an answer about it."""


def read_request(
    message: UnifiedMessage,
    *,
    session_id: str,
    open_questions: Mapping[str, ev.Asked],
    options: Iterable[ConfigOption] = (),
    busy: Busy = "queue",
) -> Request:
    """Say what a message asks for; one that asks for nothing is refused with what can be sent.

    ``open_questions`` and ``options`` are those of the session now. ``busy`` is for a message that comes
    while a turn runs and does not say itself what is to happen.
    """
    metadata = message.metadata
    named = metadata.get("session_id", metadata.get("sessionId"))
    if named is not None and named != session_id:
        raise InvalidCommand(f"this connection is for the session {session_id!r}, not for {named!r}")
    if message.type == "user_message":
        return _prompt(message, busy)
    if message.type == "permission_response":
        return read_answer(metadata, open_questions, message.id)
    if message.type == "interrupt":
        turn_id = metadata.get("turn_id")
        return Cancel(key=message.id, turn_id=turn_id if isinstance(turn_id, str) else None)
    if message.type == "configuration_change":
        return _set_config(metadata, tuple(options), message.id)
    if message.type == "unknown" and metadata.get("subtype") == "control_request":
        return _control(message, tuple(options))
    raise InvalidCommand(
        f"a client cannot send {message.type}: it sends user_message, permission_response, interrupt or "
        "configuration_change"
    )


# -- prompts ---------------------------------------------------------------------------------------


def _prompt(message: UnifiedMessage, busy: Busy) -> Prompt:
    metadata = message.metadata
    wanted = metadata.get("busy", busy)
    if wanted not in _BUSY:
        raise InvalidCommand(f"busy is {wanted!r}: give one of {', '.join(_BUSY)}")
    content = [_block(one, number) for number, one in enumerate(message.content)]
    for number, given in enumerate(_listed(metadata.get("blocks"))):
        block = block_from_wire(given)
        if block is None:
            raise InvalidCommand(f"metadata.blocks[{number}] is no content block of ACP")
        content.append(block)
    content = [c.TextBlock(text=text) for text in _slash_command(metadata)] + content
    if not content:
        raise InvalidCommand("the user_message is empty: send text, an image or code in its content")
    return Prompt(content=tuple(content), key=message.id, message_id=message.id, busy=wanted)


def _listed(value: Any) -> list[Any]:
    return cast("list[Any]", value) if isinstance(value, list) else []


def _block(given: UnifiedContent, number: int) -> c.Content:
    if isinstance(given, TextContent):
        return c.TextBlock(text=given.text)
    if isinstance(given, CodeContent):
        return c.TextBlock(text=f"```{given.language}\n{given.code}\n```")
    if isinstance(given, ImageContent):
        try:
            base64.b64decode(given.source.data, validate=True)
        except ValueError as error:
            raise InvalidCommand(f"content[{number}] is not base64 ({str(error).lower()})") from None
        return c.ImageBlock(mime_type=given.source.media_type, data=given.source.data)
    kind = given.__struct_config__.tag
    raise InvalidCommand(f"content[{number}] is {kind}: a user_message has text, image and code")


def _slash_command(metadata: Mapping[str, Any]) -> list[str]:
    """Give a slash command as the text that agents read: "/name arguments"."""
    command = metadata.get("slash_command")
    if command is None:
        return []
    if not isinstance(command, str) or not command.strip("/ "):
        raise InvalidCommand("slash_command is the name of a command")
    arguments = metadata.get("args")
    text = f"/{command.strip().removeprefix('/')}"
    return [f"{text} {arguments}" if isinstance(arguments, str) and arguments else text]


# -- options ---------------------------------------------------------------------------------------


def _set_config(metadata: Mapping[str, Any], options: tuple[ConfigOption, ...], key: str) -> SetConfig:
    wanted = [
        *_named(metadata, "model", options, ("model", "modelId")),
        *_named(metadata, "mode", options, ("modeId", "currentModeId", "mode")),
    ]
    option_id = metadata.get("optionId", metadata.get("configId", metadata.get("option_id")))
    if option_id is not None:
        wanted.append((option_id, metadata.get("value")))
    if len(wanted) != 1:
        raise InvalidCommand(
            "a configuration_change sets one thing: send model, modeId, or an optionId and its value"
        )
    name, value = wanted[0]
    if not isinstance(name, str) or not isinstance(value, str | bool):
        raise InvalidCommand("the value of an option is a text, true or false")
    return SetConfig(key=key, option_id=name, value=value)


def _named(
    metadata: Mapping[str, Any], category: str, options: tuple[ConfigOption, ...], names: tuple[str, ...]
) -> list[tuple[Any, Any]]:
    """Find the option that stands for the model or the mode; ACP sets both by session/set_config_option."""
    value = next((metadata[name] for name in names if metadata.get(name) is not None), None)
    if value is None:
        return []
    option = next((one for one in options if one.category == category), None)
    if option is None:
        known = ", ".join(one.option_id for one in options) or "none"
        raise InvalidCommand(f"this agent has no {category} to choose; its options: {known}")
    return [(option.option_id, value)]


# -- control requests ------------------------------------------------------------------------------


def request_id_of(message: UnifiedMessage) -> str:
    """Give the id that a client finds the response by: that of its control request, else the message's."""
    metadata = message.metadata
    own = metadata.get("request_id") if metadata.get("subtype") == "control_request" else None
    return own if isinstance(own, str) else message.id


def _control(message: UnifiedMessage, options: tuple[ConfigOption, ...]) -> Request:
    """Read a control request of Claude's: initialize, interrupt, set_model, set_permission_mode."""
    request: Any = message.metadata.get("request")
    fields = cast("dict[str, Any]", request) if isinstance(request, dict) else {}
    kind = fields.get("subtype")
    if kind == "initialize":
        return Initialize(request_id=request_id_of(message))
    if kind == "interrupt":
        return Cancel(key=message.id)
    if kind in ("set_model", "set_permission_mode"):
        return _set_config(fields, options, message.id)
    raise InvalidCommand(
        f"there is no control request {kind!r}: send initialize, interrupt, set_model or set_permission_mode"
    )
