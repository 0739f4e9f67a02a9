"""The history that a page brings to a chat that is new here, as events."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from trunkline import events as ev
from trunkline.errors import InvalidCommand
from trunkline.frontends.aisdk.user_parts import read_meta, read_parts
from trunkline.protocols.aisdk.wire import JsonObject, UIMessage

__all__ = ["history_events", "tool_name"]

_MOST = 5_000
"""Messages, calls and results that a new chat takes over at once, while nothing else runs."""
_ENDED = {"output-available": "completed", "output-error": "failed"}


def history_events(messages: Sequence[UIMessage]) -> tuple[ev.Event, ...]:
    """Read a page's history: the person's messages, the assistant's text, and calls with their results.

    System messages, reasoning and calls without a result are left out. So is a person's message that says
    nothing, and one that cannot be read and has no answer: it was refused, and stays in the page.
    """
    found: list[ev.Event] = []
    for number, message in enumerate(messages):
        if message.role == "user":
            try:
                content = read_parts(message.parts, f"messages[{number}].parts")
            except InvalidCommand:
                if _is_answered(messages[number + 1 :]):
                    raise
                continue
            if content:
                meta = read_meta(message.parts, message.metadata)
                found.append(ev.UserMessage(message_id=message.id, content=content, meta=meta))
        elif message.role == "assistant":
            found += _assistant(message)
        if len(found) > _MOST:
            raise InvalidCommand(
                f"this chat is new here, and takes over at most {_MOST} messages, calls and results: "
                "send fewer of them"
            )
    return tuple(found)


def _is_answered(rest: Sequence[UIMessage]) -> bool:
    return bool(rest) and rest[0].role == "assistant"


def tool_name(part: JsonObject) -> str | None:
    """The name of the tool that a part is a call of; None for any other part."""
    kind = str(part.get("type", ""))
    if kind == "dynamic-tool":
        return str(part.get("toolName") or "tool")
    return kind.removeprefix("tool-") if kind.startswith("tool-") else None


def _assistant(message: UIMessage) -> Iterator[ev.Event]:
    for part in message.parts:
        text = part.get("text") if part.get("type") == "text" else None
        if isinstance(text, str) and text:
            yield ev.Text(message_id=message.id, delta=text)
        name, call_id = tool_name(part), part.get("toolCallId")
        status = _ENDED.get(str(part.get("state")))
        if name is None or status is None or not isinstance(call_id, str) or part.get("preliminary"):
            continue
        yield ev.ToolCall(call_id=call_id, native_id=call_id, name=name, message_id=message.id)
        failed = status == "failed"
        yield ev.ToolUpdate(
            call_id=call_id,
            status="failed" if failed else "completed",
            input=part.get("input"),
            raw_output=None if failed else part.get("output"),
            reason=str(part.get("errorText") or "failed") if failed else None,
        )
