"""Adoption: a session takes over what its agent remembers and the journal does not know.

An agent with a memory of its own (a LangGraph thread, say) may have been talked to elsewhere. The
journal is what front ends replay, so whatever the memory has beyond the last message that both know is
told there, when the session is opened. The memory wins: where the journal went on differently from
that message, it goes back to it first. A memory that merely ends earlier, or forgot its beginning (a
summary took its place), takes nothing away.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from trunkline import events as ev
from trunkline.agents.interface import HasHistory
from trunkline.conversation import (
    Call,
    CallPart,
    Conversation,
    MediaPart,
    Message,
    Part,
    SourcePart,
    TextPart,
    ThoughtPart,
)
from trunkline.ids import new_id

if TYPE_CHECKING:
    from trunkline.session import Session

__all__ = ["adopt", "retell", "unknown_to"]

log = logging.getLogger("trunkline.session")


async def adopt(session: Session) -> None:
    """Tell the journal what only the agent remembers."""
    agent = session.agent
    if session.busy or not session.hub.may_run(session.info) or not isinstance(agent, HasHistory):
        return
    try:
        remembered = await agent.history(session.view)
    except Exception:
        # What is known can be shown all the same.
        log.exception("%s could not say what it remembers of %s", session.agent_name, session.session_id)
        return
    if remembered is None:
        return
    news, last = unknown_to(await session.history(), remembered)
    if not news or not await session.own() or session.busy:
        return
    if last is not None:
        session.line.say(last)
    for event in retell(news, remembered.calls, lambda: new_id("turn")):
        session.line.say(event)
    await session.line.durable()
    first = next((message.text.strip() for message in news if message.role == "user"), "")
    if session.info.title is None and first:
        session.name(first.splitlines()[0][:80])


def unknown_to(known: Conversation, remembered: Conversation) -> tuple[list[Message], ev.Rewound | None]:
    """Find what is remembered beyond the last message that both know, and where to go back to first."""
    told = [message for message in known.messages if message.lane is None]
    held = [message for message in remembered.messages if message.lane is None]
    places = {key: place for place, message in enumerate(told) for key in _keys(message, known.calls)}
    for number in range(len(held) - 1, -1, -1):
        found = [places[key] for key in _keys(held[number], remembered.calls) if key in places]
        if found:
            last = told[max(found)]
            away = last is not told[-1]
            return held[number + 1 :], ev.Rewound(to_message_id=last.message_id) if away else None
    return held, ev.Rewound() if told else None


def _keys(message: Message, calls: dict[str, Call]) -> list[tuple[str, ...]]:
    """How a message can be known again: by its id, or, where that was lost, by what it says."""
    made = [part.call_id for part in message.parts if isinstance(part, CallPart)]
    natives = [calls[call_id].native_id or call_id for call_id in made if call_id in calls]
    said = (message.role, message.text, *natives)
    return [(message.message_id,), said] if any(said[1:]) else [(message.message_id,)]


def retell(
    messages: list[Message], calls: dict[str, Call], new_turn: Callable[[], str]
) -> Iterator[ev.Event]:
    """Give messages as events; each message of a person begins a turn."""
    turn_id: str | None = None
    for message in messages:
        if turn_id is None or message.role == "user":
            if turn_id is not None:
                yield ev.TurnFinished(turn_id=turn_id)
            turn_id = new_turn()
            yield ev.TurnStarted(turn_id=turn_id)
        if message.role == "user":
            yield ev.UserMessage(
                turn_id=turn_id,
                message_id=message.message_id,
                content=message.content,
                trusted=message.trusted,
            )
        for part in message.parts:
            yield from _retell_part(part, message.message_id, calls, turn_id)
    if turn_id is not None:
        yield ev.TurnFinished(turn_id=turn_id)


def _retell_part(part: Part, message_id: str, calls: dict[str, Call], turn_id: str) -> Iterator[ev.Event]:
    if isinstance(part, TextPart):
        yield ev.Text(turn_id=turn_id, message_id=message_id, delta=part.text)
    elif isinstance(part, ThoughtPart):
        yield ev.Thought(turn_id=turn_id, message_id=message_id, delta=part.text, signature=part.signature)
    elif isinstance(part, MediaPart):
        yield ev.Media(turn_id=turn_id, message_id=message_id, content=part.content)
    elif isinstance(part, SourcePart):
        yield ev.Source(
            turn_id=turn_id,
            message_id=message_id,
            source_id=part.source_id,
            url=part.url,
            title=part.title,
            document=part.document,
            mime_type=part.mime_type,
        )
    elif part.call_id in calls:
        yield from _retell_call(calls[part.call_id], turn_id)


def _retell_call(call: Call, turn_id: str) -> Iterator[ev.Event]:
    yield ev.ToolCall(
        turn_id=turn_id,
        call_id=call.call_id,
        name=call.name,
        title=call.title,
        kind=call.kind,
        message_id=call.message_id,
        native_id=call.native_id,
    )
    yield ev.ToolUpdate(
        turn_id=turn_id,
        call_id=call.call_id,
        status=call.status,
        input=call.input,
        locations=call.locations or None,
        content=call.content or None,
        output=call.output or None,
        raw_output=call.raw_output,
        reason=call.reason,
        result_message_id=call.result_message_id,
    )
