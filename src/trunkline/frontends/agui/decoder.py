"""The AG-UI decoder: what a request means for a session, decided without touching it.

A client sends its whole history with every run. The server's own history wins: of the client's only
what is new counts, which is a message, the answers to open questions, or a place to go back to.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Union

import msgspec

from trunkline import events as ev
from trunkline.commands import Answer, Prompt
from trunkline.conversation import Conversation
from trunkline.errors import InvalidCommand
from trunkline.frontends.agui import wire
from trunkline.frontends.agui.asking import BROUGHT, answer_of
from trunkline.frontends.agui.messages import check_message, content_of, history_events, is_message, shown_id
from trunkline.frontends.agui.pages import Page
from trunkline.questions import ClientCall

__all__ = [
    "GoOn",
    "Intent",
    "NoRewind",
    "Start",
    "TooLate",
    "client_answers",
    "intent_of",
    "is_modern",
    "read_input",
    "says_state",
    "seen_turn",
]

_decoder = msgspec.json.Decoder(wire.RunAgentInput)
_LONGEST_ID = 512
_MOST_IMPORTED = 5_000
"""Messages, calls and results that a new thread takes over at once, while nothing else runs."""

NoRewind: Any = object()
"""Stands for: leave the history as it is."""


class Start(msgspec.Struct, frozen=True, kw_only=True):
    """Start a turn; before it, go back to a message, or take over a history, or give up what waits."""

    prompt: Prompt
    rewind_to: Any = NoRewind
    history: tuple[ev.Event, ...] = ()
    gives_up: bool = False
    """Whether the turn that waits for its client tools is cancelled for it."""


class GoOn(msgspec.Struct, frozen=True, kw_only=True):
    """Answer what the turn waits for."""

    answers: tuple[Answer, ...]


class TooLate(msgspec.Struct, frozen=True, kw_only=True):
    """The answers are to questions that nobody asks any more."""

    question_ids: tuple[str, ...]


Intent = Union[Start, GoOn, TooLate]


def read_input(body: bytes, *, most: int | None = None) -> wire.RunAgentInput:
    """Read a request; one that is not RunAgentInput raises InvalidCommand saying where.

    ``most`` is how many messages it may have.
    """
    try:
        told = _decoder.decode(body)
    except RecursionError:
        raise InvalidCommand("the request is nested too deeply") from None
    except msgspec.ValidationError as error:
        raise InvalidCommand(f"the request is no RunAgentInput: {error}") from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise InvalidCommand(f"the request is not JSON: {error}") from None
    for name, value in (("threadId", told.thread_id), ("runId", told.run_id)):
        if not value or len(value) > _LONGEST_ID or not value.isprintable():
            raise InvalidCommand(f"{name} must be a printable text of 1 to {_LONGEST_ID} characters")
    if most is not None and len(told.messages) > most:
        raise InvalidCommand(
            f"the request has {len(told.messages)} messages, and {most} are the most: begin a new thread"
        )
    return told


def is_modern(told: wire.RunAgentInput) -> bool:
    """Whether the client speaks 1.0 or later."""
    major = (told.protocol_version or "").partition(".")[0]
    return major.isascii() and major.isdecimal() and major.strip("0") != ""


def says_state(state: Any) -> bool:
    """Whether a client says something of the shared state; an empty object is how each one begins."""
    return state is not None and state != {}


def intent_of(
    told: wire.RunAgentInput,
    conversation: Conversation,
    questions: Mapping[str, ev.Asked],
    *,
    said: Collection[str] = (),
    by: str | None = None,
    page: Page | None = None,
) -> Intent:
    """Decide what a request means for a conversation with these open questions.

    ``said`` are the ids of everything that was ever said in the thread. ``page`` is who sends the request;
    without one it is taken to have seen everything.
    """
    last = told.messages[-1] if told.messages else None
    is_new = last is not None and last.role == "user" and conversation.message(last.id) is None
    waiting = {
        asked.question.call_id: asked
        for asked in questions.values()
        if isinstance(asked.question, ClientCall)
    }
    answers = client_answers(told.messages, waiting, by)
    if told.resume:
        if is_new and questions and all(entry.status == "cancelled" for entry in told.resume):
            return _start(told, conversation, said, page, gives_up=True)
        if is_new and questions:
            raise InvalidCommand("answer what is open first, and send the new message in a run of its own")
        return _resume(told.resume, conversation, questions, by, answers.values())
    _check_results(told.messages, conversation, [said, waiting])
    interrupts = [key for key, asked in questions.items() if not isinstance(asked.question, ClientCall)]
    if waiting and not is_new:
        missing = sorted(call_id for call_id in waiting if call_id not in answers)
        if missing:
            raise InvalidCommand(
                f"the run waits for the results of {', '.join(missing)}: send a tool message for each"
            )
        return GoOn(answers=tuple(answers.values()))
    if interrupts:
        raise InvalidCommand(
            f"the thread waits for an answer to {', '.join(sorted(interrupts))}: send `resume` with an entry "
            'for each ("resolved" with a payload, or "cancelled")'
        )
    if last is not None and last.role == "tool":
        return TooLate(question_ids=())
    return _start(told, conversation, said, page, gives_up=bool(waiting))


# -- answers ---------------------------------------------------------------------------------------


def _resume(
    entries: Sequence[wire.ResumeEntry],
    conversation: Conversation,
    questions: Mapping[str, ev.Asked],
    by: str | None,
    brought: Iterable[Answer],
) -> Intent:
    """Answer every open interrupt, and with them the tools of the front end that it has run by now."""
    given = {entry.interrupt_id: entry for entry in entries}
    unknown = sorted(set(given) - conversation.questions.keys() - questions.keys())
    if unknown and conversation.messages:
        raise InvalidCommand(f"no run of this thread asked {', '.join(unknown)}")
    wanted = {key for key, asked in questions.items() if not isinstance(asked.question, ClientCall)}
    if not wanted & given.keys():
        return TooLate(question_ids=tuple(given))
    missing = sorted(wanted - given.keys())
    if missing:
        raise InvalidCommand(
            f"the resume leaves out {', '.join(missing)}: give an entry for every open interrupt at once"
        )
    answers = [answer_of(questions[key], given[key], by) for key in sorted(wanted)]
    return GoOn(answers=(*answers, *brought))


def client_answers(
    messages: Sequence[wire.Message], waiting: Mapping[str, ev.Asked], by: str | None
) -> dict[str, Answer]:
    """Read the results of the front end's own tools."""
    found: dict[str, Answer] = {}
    for message in messages:
        asked = waiting.get(message.tool_call_id or "") if message.role == "tool" else None
        if asked is None:
            continue
        failed = message.error is not None
        found[message.tool_call_id or ""] = Answer(
            question_id=asked.question_id,
            outcome="declined" if failed else "accepted",
            content=message.content,
            reason=message.error,
            by=by,
            key=f"result:{asked.question_id}",
            meta={BROUGHT: message.id},
        )
    return found


def _check_results(
    messages: Sequence[wire.Message], conversation: Conversation, known: Sequence[Collection[str]]
) -> None:
    """Refuse results of calls that the agent never made; those of calls it made are its own to know."""
    if not conversation.messages:
        return
    for message in messages:
        call_id = message.tool_call_id or ""
        if message.role == "tool" and not any(call_id in ids for ids in (conversation.calls, *known)):
            raise InvalidCommand(f"message {message.id!r} answers the call {call_id!r}, which nobody made")


# -- prompts ---------------------------------------------------------------------------------------


def _start(
    told: wire.RunAgentInput,
    conversation: Conversation,
    said: Collection[str],
    page: Page | None,
    *,
    gives_up: bool,
) -> Start:
    last = told.messages[-1] if told.messages else None
    if last is None or last.role != "user":
        raise InvalidCommand("there is nothing to answer: the last message must be the user's")
    check_message(last)
    prompt = Prompt(
        content=content_of(last.content),
        message_id=last.id,
        run_id=told.run_id,
        tools=tuple(msgspec.to_builtins(tool) for tool in told.tools or ()),
        state=told.state if says_state(told.state) else None,
        context=tuple({"description": item.description, "value": item.value} for item in told.context or ()),
        meta=_meta(told, last),
    )
    if not prompt.content:
        raise InvalidCommand(f"message {last.id!r} is empty: say something, or attach something")
    if not conversation.messages:
        return Start(prompt=prompt, history=_imported(told.messages[:-1]))
    place = _place(told.messages, conversation, said, page)
    return Start(prompt=prompt, rewind_to=place, gives_up=gives_up)


def _imported(messages: Sequence[wire.Message]) -> tuple[ev.Event, ...]:
    if len(messages) > _MOST_IMPORTED or len(events := history_events(messages)) > _MOST_IMPORTED:
        raise InvalidCommand(
            f"this thread is new here, and takes over at most {_MOST_IMPORTED} messages, calls and results: "
            "send fewer of them"
        )
    return tuple(events)


def _meta(told: wire.RunAgentInput, last: wire.Message) -> dict[str, Any] | None:
    meta: dict[str, Any] = dict(last.metadata or {})
    if told.forwarded_props:
        meta["forwardedProps"] = told.forwarded_props
    return meta or None


def _place(
    messages: Sequence[wire.Message], conversation: Conversation, said: Collection[str], page: Page | None
) -> Any:
    """Find the message that the conversation goes back to before it goes on.

    The client's last message is new: what stands before it in the client's history is the last word
    that counts. It is known: it is asked again, and what followed it is taken back. A page that may not
    have seen what would be dropped drops nothing.
    """
    turns = _turns(conversation)
    ours, last = list(turns), messages[-1].id
    order = list(dict.fromkeys(turns.values()))
    if last in turns:
        if _is_behind(page, order, turns[last]):
            raise InvalidCommand(
                f"the thread went on after message {last!r}, perhaps unseen by this page: load the thread "
                "again, and then ask again"
            )
        at = ours.index(last)
        return ours[at - 1] if at else None
    found, is_outdated = _last_known(messages[:-1], conversation, turns, said)
    if is_outdated:
        # It shows what was taken back since: it is behind, whatever it has seen.
        return NoRewind
    if found is None:
        # The first message, edited, or one of a page that has not loaded the thread.
        return None if page is not None and order and page.has_seen(order[-1]) else NoRewind
    if found == ours[-1] or turns[found] == _cut_off(conversation):
        return NoRewind
    return NoRewind if _is_behind(page, order, turns[found]) else found


def seen_turn(
    messages: Sequence[wire.Message], conversation: Conversation, said: Collection[str]
) -> str | None:
    """The last turn that a client's history has something of; a text for one that was taken back."""
    turns = _turns(conversation)
    found, is_outdated = _last_known(messages, conversation, turns, said)
    if is_outdated:
        return ""
    return None if found is None else turns[found]


def _turns(conversation: Conversation) -> dict[str, str | None]:
    """The messages that clients know, in order, each with its turn."""
    shown = (message for message in conversation.messages if message.lane is None and is_message(message))
    return {message.message_id: message.turn_id for message in shown}


def _last_known(
    messages: Sequence[wire.Message],
    conversation: Conversation,
    turns: Mapping[str, str | None],
    said: Collection[str],
) -> tuple[str | None, bool]:
    """The last message of a history that is ours, and whether one behind it was taken back."""
    results = {shown_id(conversation, call): call for call in conversation.calls.values()}
    is_outdated = False
    for message in reversed(messages):
        # A result belongs to the message that made the call.
        found = results[message.id].message_id if message.id in results else message.id
        if found in turns:
            return found, is_outdated
        if message.role in ("user", "assistant") and message.subagent_run_id is None:
            # A call without a message is one by itself.
            is_outdated = is_outdated or (message.id in said and message.id not in conversation.calls)
    return None, is_outdated


def _is_behind(page: Page | None, order: Sequence[str | None], turn_id: str | None) -> bool:
    """Whether a page that goes back to a turn may never have seen all of the later ones."""
    later = order[order.index(turn_id) : -1]
    return page is not None and bool(later) and page.may_be_behind(later)


def _cut_off(conversation: Conversation) -> str:
    """The last turn, if it was stopped or failed: a client may have left before it heard all of it."""
    turn = conversation.turns[-1] if conversation.turns else None
    if turn is None or not (turn.status == "failed" or turn.stop_reason == "cancelled"):
        return ""
    return turn.turn_id
