"""The history that a client brings to a new thread, as events."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, cast

from trunkline import events as ev
from trunkline.protocols.agui import wire
from trunkline.protocols.agui.messages import check_message, content_of, parsed


def history_events(messages: Sequence[wire.Message]) -> list[ev.Event]:
    """Read a client's history as events: the person's messages, the agent's text, and answered calls.

    System messages and calls without a result are left out. What cannot be read raises InvalidCommand.
    """
    for message in messages:
        check_message(message)
    answers = {message.tool_call_id: message for message in messages if message.role == "tool"}
    events: list[ev.Event] = []
    for message in messages:
        if message.subagent_run_id is not None:
            continue
        if message.role == "user":
            events.append(ev.UserMessage(message_id=message.id, content=content_of(message.content)))
        elif message.role == "assistant":
            if isinstance(message.content, str) and message.content:
                events.append(ev.Text(message_id=message.id, delta=message.content))
            events += _answered_calls(message, answers)
    return events


def _answered_calls(message: wire.Message, answers: dict[str | None, wire.Message]) -> Iterable[ev.Event]:
    for call in message.tool_calls or ():
        function = cast("dict[str, Any]", call.get("function") or {})
        call_id = call.get("id")
        answer = answers.get(call_id)
        if answer is None or call_id is None:
            continue
        name = str(function.get("name") or "tool")
        yield ev.ToolCall(call_id=call_id, name=name, message_id=message.id, native_id=call_id)
        arguments = function.get("arguments")
        if isinstance(arguments, str) and arguments:
            yield ev.ToolInput(call_id=call_id, delta=arguments)
        content = content_of(answer.content)
        yield ev.ToolUpdate(
            call_id=call_id,
            status="failed" if answer.error else "completed",
            input=parsed(arguments),
            content=content,
            raw_output=answer.content,
            reason=answer.error,
            result_message_id=answer.id,
        )
