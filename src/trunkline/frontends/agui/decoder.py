"""The AG-UI decoder: what a request means for a session, decided without touching it.

A client sends its whole history with every run. The server's own history wins: of the client's only
what is new counts, which is a message, the answers to open questions, or a message to go back to.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

import msgspec

from trunkline import events as ev
from trunkline.commands import Prompt
from trunkline.errors import InvalidCommand
from trunkline.frontends.agui.questions import check_tool_results, read_resume, read_tool_results
from trunkline.frontends.agui.rewind import find_rewind_target
from trunkline.frontends.agui.seen_turns import Page
from trunkline.frontends.agui.thread_outline import ThreadOutline
from trunkline.intents import AnswerQuestions, Intent, StartTurn, TooLate
from trunkline.protocols.agui import wire
from trunkline.protocols.agui.imported_history import history_events
from trunkline.protocols.agui.messages import check_message, content_of
from trunkline.questions import ClientCall

_decoder = msgspec.json.Decoder(wire.RunAgentInput)
_MAX_ID = 512
_MAX_IMPORTED = 5_000
"""Messages, calls and results that a new thread imports at once, while nothing else runs."""


_FAULT = re.compile(
    r"(?:Object missing required field `(?P<missing>\w+)`|Expected `(?P<wanted>[^`]+)`, got `(?P<got>[^`]+)`)"
    r"(?: - at `\$(?P<path>[^`]*)`)?"
)
_KINDS = {
    "str": "a text", "int": "a whole number", "float": "a number", "bool": "a boolean",
    "array": "a list", "object": "an object",
}  # fmt: skip


def read_input(body: Any, *, most: int | None = None) -> wire.RunAgentInput:
    """Read a request; one that is not RunAgentInput raises InvalidCommand saying where.

    ``body`` is what the client sent, as bytes, as text or read as JSON already, or the ``RunAgentInput`` of
    ``ag_ui.core``. ``most`` is how many messages it may have.
    """
    try:
        if isinstance(body, bytes | bytearray | str):
            request = _decoder.decode(body)
        else:
            dump: Any = getattr(body, "model_dump", None)
            given: Any = body if dump is None else dump(by_alias=True, mode="json")
            request = msgspec.convert(given, wire.RunAgentInput)
    except RecursionError:
        raise InvalidCommand("the request is nested too deeply") from None
    except msgspec.ValidationError as error:
        raise InvalidCommand(f"the request is no RunAgentInput: {_explain(str(error))}") from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise InvalidCommand(f"the request is not JSON: {error}") from None
    for name, value in (("threadId", request.thread_id), ("runId", request.run_id)):
        if not value or len(value) > _MAX_ID or not value.isprintable():
            raise InvalidCommand(f"{name} must be a printable text of 1 to {_MAX_ID} characters")
    if most is not None and len(request.messages) > most:
        raise InvalidCommand(
            f"the request has {len(request.messages)} messages, and {most} are the most: begin a new thread"
        )
    return request


def _explain(fault: str) -> str:
    """Say in plain words which field of a request is wrong, and what it must be."""
    found = _FAULT.fullmatch(fault)
    if found is None:
        return fault
    path = (found["path"] or "").lstrip(".")
    if found["missing"]:
        return f"the field {path + '.' if path else ''}{found['missing']} is missing"
    wanted = " or ".join(_KINDS.get(kind, kind) for kind in found["wanted"].split(" | "))
    got = _KINDS.get(found["got"], found["got"])
    return f"{'the field ' + path if path else 'it'} must be {wanted}, not {got}"


def forwarded_props(request: wire.RunAgentInput) -> dict[str, Any]:
    """What a client passes on to the agent, without the answer of an older client and what is for us."""
    props: Any = request.forwarded_props
    given = cast("dict[str, Any]", props) if isinstance(props, dict) else {}
    return {name: value for name, value in given.items() if name not in ("command", "trunkline")}


def is_modern(request: wire.RunAgentInput) -> bool:
    """Whether the client speaks 1.0 or later."""
    major = (request.protocol_version or "").partition(".")[0]
    return major.isascii() and major.isdecimal() and major.strip("0") != ""


def has_state(state: Any) -> bool:
    """Whether a client sends a shared state; an empty object is what each one begins with."""
    return state is not None and state != {}


def count_new_bytes(request: wire.RunAgentInput, has_id: Callable[[str], bool]) -> int:
    """How large a request is without the messages that its thread has."""
    unknown = [message for message in request.messages if not has_id(message.id)]
    return len(wire.encode(msgspec.structs.replace(request, messages=unknown)))


def read_intent(
    request: wire.RunAgentInput,
    thread: ThreadOutline,
    questions: Mapping[str, ev.Asked],
    *,
    by: str | None = None,
    page: Page | None = None,
) -> Intent:
    """Decide what a request means for a thread with these open questions.

    ``page`` is the client that sends the request; without one it is taken to have seen everything.
    """
    last = request.messages[-1] if request.messages else None
    is_new = last is not None and last.role == "user" and not thread.outline.has_message(last.id)
    waiting = {
        asked.question.call_id: asked
        for asked in questions.values()
        if isinstance(asked.question, ClientCall)
    }
    answers = read_tool_results(request.messages, waiting, by)
    if request.resume:
        if is_new and questions and all(entry.status == "cancelled" for entry in request.resume):
            return _start(request, thread, page, cancels_waiting=True)
        if is_new and questions:
            raise InvalidCommand("answer what is open first, and send the new message in a run of its own")
        return read_resume(request.resume, thread, questions, by, answers.values())
    check_tool_results(request.messages, thread, waiting)
    interrupts = [key for key, asked in questions.items() if not isinstance(asked.question, ClientCall)]
    if waiting and not is_new:
        missing = sorted(call_id for call_id in waiting if call_id not in answers)
        if missing:
            raise InvalidCommand(
                f"the run waits for the results of {', '.join(missing)}: send a tool message for each"
            )
        return AnswerQuestions(answers=tuple(answers.values()))
    if interrupts:
        # "If a thread has unresolved interrupts, any RunAgentInput on that thread must include a resume
        # addressing them." (https://docs.ag-ui.com/concepts/interrupts#contract-rules)
        raise InvalidCommand(
            f"the thread waits for an answer to {', '.join(sorted(interrupts))}: send `resume` with an entry "
            'for each ("resolved" with a payload, or "cancelled")'
        )
    if last is not None and last.role == "tool":
        return TooLate(question_ids=())
    return _start(request, thread, page, cancels_waiting=bool(waiting))


# -- prompts ---------------------------------------------------------------------------------------


def read_prompt(request: wire.RunAgentInput) -> Prompt:
    """Make a prompt of the last message, which must be the user's."""
    last = request.messages[-1] if request.messages else None
    if last is None or last.role != "user":
        raise InvalidCommand("there is nothing to answer: the last message must be the user's")
    check_message(last)
    prompt = Prompt(
        content=content_of(last.content),
        message_id=last.id,
        run_id=request.run_id,
        tools=tuple(msgspec.to_builtins(tool) for tool in request.tools or ()),
        state=request.state if has_state(request.state) else None,
        context=tuple(
            {"description": item.description, "value": item.value} for item in request.context or ()
        ),
        forwarded=forwarded_props(request),
        meta=last.metadata or None,
    )
    if not prompt.content:
        raise InvalidCommand(f"message {last.id!r} is empty: say something, or attach something")
    return prompt


def _start(
    request: wire.RunAgentInput, thread: ThreadOutline, page: Page | None, *, cancels_waiting: bool
) -> StartTurn:
    prompt = read_prompt(request)
    if thread.outline.is_empty:
        return StartTurn(prompt=prompt, history=_imported(request.messages[:-1]))
    rewind_to = find_rewind_target(request.messages, thread, page)
    return StartTurn(prompt=prompt, rewind_to=rewind_to, cancels_waiting=cancels_waiting)


def _imported(messages: Sequence[wire.Message]) -> tuple[ev.Event, ...]:
    if len(messages) > _MAX_IMPORTED or len(events := history_events(messages)) > _MAX_IMPORTED:
        raise InvalidCommand(
            f"this thread is new here, and takes over at most {_MAX_IMPORTED} messages, calls and results: "
            "send fewer of them"
        )
    return tuple(events)
