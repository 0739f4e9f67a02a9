"""Reads the requests of useChat: the chat, its messages, and what the page wants."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, cast, get_args

import msgspec

from trunkline.errors import InvalidCommand
from trunkline.protocols.aisdk.wire import JsonObject, UIMessage

__all__ = ["ChatRequest", "as_object", "read_chat_request"]

Trigger = Literal["submit-message", "regenerate-message"]
_MAX_ID = 512
Busy = Literal["interrupt", "queue", "reject", "steer"]
_OWN = frozenset({"id", "messages", "message", "trigger", "messageId", "tools", "state", "answers", "busy"})
_NO_PARAMETERS: JsonObject = {"type": "object", "properties": {}}


class ChatRequest(msgspec.Struct, frozen=True, kw_only=True):
    """What a page sends: its chat, its messages, and what it wants."""

    id: str
    messages: tuple[UIMessage, ...]
    trigger: Trigger = "submit-message"
    message_id: str | None = None
    """The message that is edited or asked again, or the assistant's that an answer belongs to."""
    tools: tuple[JsonObject, ...] = ()
    """The tools that the page itself has."""
    answers: Mapping[str, Any] = {}
    """Answers to questions by their ids, beside those that are in the messages."""
    state: Any = None
    busy: Busy | None = None
    """What becomes of a turn that is running; None is the server's setting."""
    forwarded: JsonObject = {}
    """What else the page sends along."""

    @property
    def client_tools(self) -> frozenset[str]:
        """The names of the tools that the page itself has."""
        return frozenset(tool["name"] for tool in self.tools)


def read_chat_request(body: Any, *, most: int | None = None) -> ChatRequest:
    """Read a request of useChat; one that is none raises InvalidCommand saying where.

    ``body`` is what the page sent, as bytes, as text or read as JSON already. It has all messages, or only
    the last one as ``message``. ``most`` is how many messages it may have.
    """
    try:
        given: Any = msgspec.json.decode(body) if isinstance(body, bytes | bytearray | str) else body
    except RecursionError:
        raise InvalidCommand("the request is nested too deeply") from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise InvalidCommand(f"the request is not JSON: {error}") from None
    if not isinstance(given, dict):
        raise InvalidCommand("the request must be an object with id and messages, as useChat sends it")
    fields = cast("JsonObject", given)
    messages = _messages(fields)
    if most is not None and len(messages) > most:
        raise InvalidCommand(
            f"the request has {len(messages)} messages, and {most} are the most: begin a new chat, or send "
            "only the last message as `message`"
        )
    trigger = fields.get("trigger", "submit-message")
    if trigger not in get_args(Trigger):
        known = ", ".join(get_args(Trigger))
        raise InvalidCommand(f"there is no trigger {trigger!r}: give one of {known}")
    busy = fields.get("busy")
    if busy is not None and busy not in get_args(Busy):
        raise InvalidCommand(f"busy is {busy!r}: give one of {', '.join(get_args(Busy))}, or leave it out")
    message_id = fields.get("messageId")
    answers = fields.get("answers")
    return ChatRequest(
        id=_id(fields.get("id"), "id"),
        messages=messages,
        trigger=trigger,
        message_id=None if message_id is None else _id(message_id, "messageId"),
        tools=_tools(fields.get("tools")),
        answers=as_object(answers, "answers"),
        state=fields.get("state"),
        busy=busy,
        forwarded={name: value for name, value in fields.items() if name not in _OWN},
    )


def _messages(fields: JsonObject) -> tuple[UIMessage, ...]:
    given = fields.get("messages")
    if given is None:
        given = [] if fields.get("message") is None else [fields["message"]]
    if not isinstance(given, list):
        raise InvalidCommand("the field messages must be a list")
    found: list[UIMessage] = []
    for number, one in enumerate(cast("list[Any]", given)):
        field = f"messages[{number}]"
        if not isinstance(one, dict):
            raise InvalidCommand(f"{field} must be an object")
        message = cast("JsonObject", one)
        parts = message.get("parts")
        if not isinstance(parts, list) or not all(
            isinstance(part, dict) for part in cast("list[Any]", parts)
        ):
            raise InvalidCommand(
                f"{field}.parts must be a list of objects: messages are those of useChat at 5 to 7, "
                'with parts such as {"type": "text", "text": ...}'
            )
        role = message.get("role")
        if role not in ("system", "user", "assistant"):
            raise InvalidCommand(f"{field}.role is {role!r}: it is one of system, user, assistant")
        found.append(
            UIMessage(
                id=_id(message.get("id"), f"{field}.id"),
                role=role,
                parts=cast("list[JsonObject]", parts),
                metadata=message.get("metadata"),
            )
        )
    return tuple(found)


def _id(value: Any, field: str) -> str:
    if not isinstance(value, str) or not value or len(value) > _MAX_ID or not value.isprintable():
        raise InvalidCommand(f"{field} must be a printable text of 1 to {_MAX_ID} characters")
    return value


def as_object(value: Any, field: str) -> JsonObject:
    """Check that a field is an object; one that is not given is empty."""
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise InvalidCommand(f"the field {field} must be an object")
    return cast("JsonObject", value)


def _tools(given: Any) -> tuple[JsonObject, ...]:
    """Read the page's own tools: a list with names, or an object by name."""
    if given is None:
        return ()
    if isinstance(given, dict):
        by_name = cast("JsonObject", given)
        listed: list[Any] = [{**as_object(tool, "tools"), "name": name} for name, tool in by_name.items()]
    else:
        listed = cast("list[Any]", given) if isinstance(given, list) else [None]
    found: list[JsonObject] = []
    for tool in listed:
        fields = cast("JsonObject", tool) if isinstance(tool, dict) else {}
        name = fields.get("name")
        if not isinstance(name, str) or not name:
            raise InvalidCommand(
                "the field tools must be a list of objects with a name, or an object by name"
            )
        schema: Any = fields.get("parameters") or fields.get("inputSchema") or _NO_PARAMETERS
        found.append({"name": name, "description": fields.get("description") or "", "parameters": schema})
    return tuple(found)
