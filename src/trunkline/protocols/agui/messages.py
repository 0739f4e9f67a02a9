"""Messages both ways: a conversation as AG-UI messages, and the content of a client's message as blocks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import msgspec

from trunkline import content as c
from trunkline import events as ev
from trunkline.conversation import Call, CallPart, Conversation, Message, TextPart, ThoughtPart
from trunkline.error_redaction import without_words
from trunkline.errors import InvalidCommand
from trunkline.outline import client_results
from trunkline.protocols.agui import wire
from trunkline.protocols.agui.results import PART_KEY, call_metadata, content_part, tool_result

_MEDIA: dict[str, Any] = {"image": c.ImageBlock, "audio": c.AudioBlock, "video": c.VideoBlock}
_ANY_MIME = {"image": "image/*", "audio": "audio/*", "video": "video/*"}


# -- ours to theirs --------------------------------------------------------------------------------


def snapshot_of(
    conversation: Conversation,
    limit: int = 0,
    *,
    modern: bool = True,
    results: bool = True,
    with_metadata: bool = False,
    errors: bool = True,
) -> list[dict[str, Any]]:
    """Give a conversation as the messages a client holds after it followed every run.

    ``with_metadata`` adds the metadata of their events; without ``errors`` the texts of exceptions are left
    out.
    """
    if not errors:
        calls = {call_id: without_words(call) for call_id, call in conversation.calls.items()}
        conversation = msgspec.structs.replace(conversation, calls=calls)
    writer = _MessageWriter(
        conversation, limit, modern=modern, results=results, with_metadata=with_metadata and modern
    )
    messages = writer.calls_without_message(None)
    for message in conversation.messages:
        if message.lane is None or modern:
            messages += _user(message) if message.role == "user" else writer.agent(message)
        messages += writer.calls_without_message(message.message_id)
    return messages


def _user(message: Message) -> list[dict[str, Any]]:
    content: Any = [part for block in message.content if (part := content_part(block)) is not None]
    if len(content) == 1 and content[0].keys() == {"type", "text"}:
        content = content[0]["text"]
    return [{"id": message.message_id, "role": "user", "content": content or ""}]


class _MessageWriter:
    """Writes the messages of an agent."""

    def __init__(
        self, conversation: Conversation, limit: int, *, modern: bool, results: bool, with_metadata: bool
    ) -> None:
        self._calls = conversation.calls
        self._limit = limit
        self._modern = modern
        self._results = results
        self._with_metadata = with_metadata
        self._client_results = client_results(conversation)
        self._terminals = {name: terminal.data for name, terminal in conversation.terminals.items()}
        self._without_message: dict[str | None, list[Call]] = {}
        last_of = {message.turn_id: message.message_id for message in conversation.messages}
        known = {message.message_id for message in conversation.messages}
        for call in conversation.calls.values():
            if call.message_id is None and (modern or call.lane is None):
                stands = call.after is None or call.after in known
                after = call.after if stands else last_of.get(call.turn_id)
                self._without_message.setdefault(after, []).append(call)

    def calls_without_message(self, after: str | None) -> list[dict[str, Any]]:
        """Write the calls without a message that came right after one; each is a message by itself."""
        calls = self._without_message.get(after, ())
        return [one for call in calls for one in self._with_calls(call.call_id, [call], call.lane)]

    def agent(self, message: Message) -> list[dict[str, Any]]:
        """Write a message: reasoning where it was, and results right after the calls."""
        before: list[dict[str, Any]] = []
        behind: list[dict[str, Any]] = []
        calls: list[Call] = []
        texts: list[str] = []
        for part in message.parts:
            if isinstance(part, TextPart):
                texts.append(part.text)
            elif isinstance(part, ThoughtPart):
                thoughts = behind if texts or calls else before
                number = len(before) + len(behind) + 1
                thoughts.append(_thought(f"{message.message_id}:reasoning:{number}", part, message.lane))
            elif isinstance(part, CallPart) and part.call_id in self._calls:
                calls.append(self._calls[part.call_id])
        content = {"content": "".join(texts)} if texts else {}
        made = self._with_calls(message.message_id, calls, message.lane, content) if texts or calls else []
        return [*before, *made, *behind]

    def _with_calls(
        self, message_id: str, calls: list[Call], lane: str | None, content: Mapping[str, Any] = {}
    ) -> list[dict[str, Any]]:
        made: dict[str, Any] = {"id": message_id, "role": "assistant", **content, **_owner(lane)}
        if calls:
            made["toolCalls"] = [self._call(call) for call in calls]
        return [made, *(self._result(call, lane) for call in calls if self._has_result(call))]

    def _call(self, call: Call) -> dict[str, Any]:
        text = call.arguments
        if call.input is not None and parsed(text) != call.input:
            # It was not streamed, or edited since.
            text = call.input if isinstance(call.input, str) else wire.encode(call.input).decode()
        made = {"id": call.call_id, "type": "function", "function": {"name": call.name, "arguments": text}}
        return {**made, "metadata": call_metadata(call.kind, call.title)} if self._with_metadata else made

    def _has_result(self, call: Call) -> bool:
        if call.call_id in self._client_results:
            return True
        return self._results and call.status in ev.FINAL_STATUSES

    def _result(self, call: Call, lane: str | None) -> dict[str, Any]:
        made: dict[str, Any] = {"role": "tool", "toolCallId": call.call_id}
        metadata: dict[str, Any] | None = None
        if call.call_id in self._client_results:
            made["id"], answered = self._client_results[call.call_id]
            made["content"] = answered.content
            if answered.outcome != "accepted" and answered.reason:
                made["error"] = answered.reason
        else:
            content, metadata = tool_result(call, self._terminals, self._limit, modern=self._modern)
            made["id"] = call.result_message_id or f"{call.call_id}:result"
            made |= {"content": content, **_owner(lane)}
        if call.status in ev.FINAL_STATUSES and call.status != "completed":
            made.setdefault("error", call.reason or call.status)
        return {**made, "metadata": metadata} if metadata and self._with_metadata else made


def _owner(lane: str | None) -> dict[str, str]:
    return {} if lane is None else {"subagentRunId": lane}


def _thought(message_id: str, part: ThoughtPart, lane: str | None) -> dict[str, Any]:
    made = {"id": message_id, "role": "reasoning", "content": part.text, **_owner(lane)}
    return made if part.signature is None else {**made, "encryptedValue": part.signature}


# -- theirs to ours --------------------------------------------------------------------------------


def content_of(content: Any) -> tuple[c.Content, ...]:
    """Read a message's content; a part that is not known, or broken, is passed over."""
    if content is None:
        return ()
    if isinstance(content, str):
        return (c.TextBlock(text=content),)
    if not isinstance(content, list):
        return ()
    blocks = [_block(part) for part in cast("list[Any]", content)]
    return tuple(block for block in blocks if block is not None)


def _block(part: Any) -> c.Content | None:
    if not isinstance(part, dict):
        return None
    part_fields = cast("dict[str, Any]", part)
    kind: Any = part_fields.get("type")
    metadata: Any = part_fields.get("metadata")
    meta = cast("dict[str, Any]", metadata) if isinstance(metadata, dict) else None
    if _fault_in(part_fields) is not None:
        return None
    if kind == "text":
        return c.TextBlock(text=part_fields.get("text", ""), meta=meta)
    if kind == "binary":
        # A client of before 1.0.
        kind = str(part_fields.get("mimeType", "")).partition("/")[0]
        kind = kind if kind in _MEDIA else "document"
        source: dict[str, Any] = {
            "type": "data" if part_fields.get("data") else "url",
            "value": part_fields.get("data") or part_fields.get("url") or part_fields.get("id"),
            "mimeType": part_fields.get("mimeType"),
        }
    else:
        source = cast("dict[str, Any]", part_fields.get("source") or {})
    value, mime = source.get("value"), source.get("mimeType")
    if not value:
        return None
    name = str((meta or {}).get("filename") or kind)
    if source.get("type") == "file":
        # A file at a provider: its address means something to that provider only, and cannot be fetched.
        uri, own = f"{source.get('provider') or 'file'}:{value}", {**(meta or {}), PART_KEY: part_fields}
        return c.LinkBlock(uri=uri, name=name, mime_type=mime, meta=own)
    inline = source.get("type") == "data"
    if kind in _MEDIA:
        where = {"data": value} if inline else {"url": value}
        return _MEDIA[kind](mime_type=mime or _ANY_MIME[kind], meta=meta, **where)
    if kind == "document":
        if inline:
            return c.ResourceBlock(uri=f"file:{name}", data=value, mime_type=mime, meta=meta)
        return c.LinkBlock(uri=value, name=name, mime_type=mime, meta=meta)
    return None


def check_message(message: wire.Message) -> None:
    """Refuse a message whose content or calls cannot be read, with a sentence that says what is wrong."""
    fault = None
    if isinstance(message.content, list):
        fault = next((fault for part in message.content if (fault := _fault_in(part)) is not None), None)
    for call in message.tool_calls or ():
        fault = fault or _fault_in_call(call)
    if fault is not None:
        raise InvalidCommand(f"message {message.id!r} cannot be read: {fault}")


_PARTS = ("text", "binary", "document", *_MEDIA)
_PART_FIELDS = ("type", "text", "data", "url", "id", "mimeType")
_SOURCE_FIELDS = ("type", "value", "mimeType", "provider")


def _fault_in(part: dict[str, Any]) -> str | None:
    kind: Any = part.get("type")
    if isinstance(kind, str) and kind not in _PARTS:
        return None  # A kind that we do not know is not checked.
    source: Any = part.get("source")
    if source is not None and not isinstance(source, dict):
        return f"the source of a content part must be an object, not {_kind(source)}"
    held = cast("dict[str, Any]", source or {})
    for owner, fields, where in ((part, _PART_FIELDS, ""), (held, _SOURCE_FIELDS, "source.")):
        for field in fields:
            if not isinstance(owner.get(field, ""), str | None):
                return f"{where}{field} of a content part must be a text, not {_kind(owner[field])}"
    return None


def _fault_in_call(call: dict[str, Any]) -> str | None:
    if not isinstance(call.get("id"), str):
        return f"the id of a tool call must be a text, not {_kind(call.get('id'))}"
    function: Any = call.get("function") or {}
    if not isinstance(function, dict):
        return f"the function of a tool call must be an object, not {_kind(function)}"
    made = cast("dict[str, Any]", function)
    for field in ("name", "arguments"):
        if not isinstance(made.get(field, ""), str | None):
            return f"the {field} of a tool call must be a text, not {_kind(made[field])}"
    try:
        msgspec.json.decode(made.get("arguments") or "{}")
    except RecursionError:
        return "the arguments of a tool call are nested too deeply"
    except msgspec.DecodeError:
        return None  # Arguments that a model broke off are kept as they are.
    return None


def _kind(value: Any) -> str:
    if isinstance(value, bool | None):
        return "null" if value is None else "a boolean"
    if isinstance(value, str | list):
        return "a text" if isinstance(value, str) else "a list"
    return "an object" if isinstance(value, dict) else "a number"


def parsed(arguments: Any) -> Any:
    """Read the arguments of a call; None for what is not JSON."""
    try:
        return msgspec.json.decode(arguments) if isinstance(arguments, str) else None
    except (msgspec.DecodeError, RecursionError):
        return None
