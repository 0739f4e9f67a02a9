"""Interrupts as ag-ui-langgraph has them by default, and CopilotKit's pages for it: an event, and a command.

The event ``on_interrupt`` has the value of LangGraph's ``interrupt()`` as JSON text. The answer comes in the
next run as ``forwardedProps.command.resume``, without the id of what it answers.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from typing import Any, cast

import msgspec

from trunkline import events as ev
from trunkline.errors import InvalidCommand
from trunkline.protocols.agui import wire
from trunkline.questions import ClientCall, Form

INTERRUPT_EVENT = "on_interrupt"
"""The name of the CUSTOM event that is an interrupt."""


def interrupt_events(asked: Iterable[ev.Asked], at: int | None) -> list[wire.AguiEvent]:
    """The events of those questions that are interrupts of a graph's own."""
    return [
        wire.Custom(
            timestamp=at,
            subagent_run_id=one.lane,
            name=INTERRUPT_EVENT,
            value=_text(one.question.value),
        )
        for one in asked
        if isinstance(one.question, Form) and one.question.value is not None
    ]


def _text(value: Any) -> str:
    """The value of an interrupt as text: a text as it is, anything else as JSON."""
    return value if isinstance(value, str) else wire.encode(value).decode()


def has_answer(request: wire.RunAgentInput) -> bool:
    """Whether a request answers an interrupt, in either form."""
    return bool(request.resume) or _command_of(request).get("resume") is not None


def ignores_question(request: wire.RunAgentInput, questions: Mapping[str, ev.Asked]) -> bool:
    """Whether a request brings no answer to the interrupt that its thread waits for.

    A page that knows only the event lets its user write another message: it is asked again, as
    ag-ui-langgraph does. An error would take the question off the page.
    """
    asked = [one.question for one in questions.values()]
    own = len(asked) == 1 and isinstance(asked[0], Form) and asked[0].value is not None
    return own and not has_answer(request)


def with_resume(
    request: wire.RunAgentInput, questions: Mapping[str, ev.Asked], asked: Collection[str] = ()
) -> wire.RunAgentInput:
    """Give a request with ``resume`` in the place of the older command, which names no interrupt.

    So there must be one open question. ``asked`` are all that the thread ever asked: an answer to the last
    one that is not open any more comes too late.
    """
    command = _command_of(request)
    if request.resume or command.get("resume") is None:
        return request
    waiting = {
        key: one.question for key, one in questions.items() if not isinstance(one.question, ClientCall)
    }
    if len(waiting) > 1:
        raise InvalidCommand(
            f"command.resume does not say which of {', '.join(sorted(waiting))} it answers: "
            "send `resume` with an entry for each"
        )
    answered = next(iter(waiting), None)
    if answered is not None and not _is_about(command, waiting[answered]):
        answered = None
    if answered is None:
        earlier = [key for key in asked if key not in waiting]
        if not earlier:
            raise InvalidCommand("no run of this thread asked anything: send a message instead")
        answered = earlier[-1]
    payload = command["resume"]
    if isinstance(payload, str):
        # As ag-ui-langgraph reads it: pages send the chosen option as JSON text.
        with suppress(msgspec.DecodeError, RecursionError):
            payload = msgspec.json.decode(payload)
    entry = wire.ResumeEntry(interrupt_id=answered, status="resolved", payload=payload)
    return msgspec.structs.replace(request, resume=[entry])


def _command_of(request: wire.RunAgentInput) -> dict[str, Any]:
    props: Any = request.forwarded_props
    command: Any = cast("dict[str, Any]", props).get("command") if isinstance(props, dict) else None
    return cast("dict[str, Any]", command) if isinstance(command, dict) else {}


def _is_about(command: dict[str, Any], question: Any) -> bool:
    """Whether an answer is to this question: CopilotKit sends the value of the event with it."""
    event = command.get("interruptEvent")
    value = question.value if isinstance(question, Form) else None
    return event is None or value is None or _text(event) == _text(value)
