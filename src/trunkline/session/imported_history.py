"""Imports into a session what its agent remembers, or a client sent, and the journal does not know.

An agent with a memory of its own (a LangGraph thread, for example) may have been used elsewhere. The
journal is what front ends replay, so whatever the memory has beyond the last message that both know is
written there, when the session is opened. An authoritative memory wins: where the journal went on differently
from that message, it goes back to it first. One that merely ends earlier, forgot its beginning (a summary
took its place) or shares nothing with the journal takes nothing away. Any other memory, such as the replay
of an ACP agent, knows less than the journal: it only fills a session that has no turn yet.

What the memory waits for is asked again, so that open questions outlive the journal too.

A conversation that a client sent can be taken over as well.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

import msgspec

from trunkline import events as ev
from trunkline.agents.optional_methods import PROCESS_ENDED
from trunkline.conversation import (
    IMPORTED,
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
from trunkline.errors import SessionBusy
from trunkline.session.ids import new_id
from trunkline.session.questions import expiring, named
from trunkline.session.session import Session


async def import_agent_history(session: Session, *, is_new: bool = False) -> None:
    """Add to the journal what only the agent remembers; ``is_new``: the session was made just now."""
    if session.busy or not session.may_run:
        return
    remembered = await session.hooks.history(may_fill=not is_new and session.last_turn_id is None)
    if remembered is None or await _is_known(session, remembered):
        return
    news, last = unknown_to(await session.history(), remembered)
    if not news or not await session.own() or session.busy:
        return
    if last is not None:
        session.emit(last)
    questions = [state.asked for state in remembered.questions.values() if state.answered is None]
    for event in as_events(news, remembered.calls, lambda: new_id("turn"), questions):
        if isinstance(event, ev.Asked):
            event = named(expiring(event, session.settings.question_ttl), session.question_ids)
        session.emit(event)
    if questions:
        await session.recover(None if session.hooks.can_resume(questions) else PROCESS_ENDED)
    await session.durable()
    session.title.take_first_line(next((message.text for message in news if message.role == "user"), ""))


async def import_client_history(session: Session, events: Iterable[ev.Event]) -> None:
    """Take over a conversation that a client sent, marked untrusted."""
    if not await session.own() or session.last_turn_id is not None:
        raise SessionBusy("only a new session can take over a conversation")
    for turn in _split_turns(list(events)):
        turn_id = new_id(IMPORTED)
        session.emit(ev.TurnStarted(turn_id=turn_id))
        for event in turn:
            if isinstance(event, ev.UserMessage):
                event = msgspec.structs.replace(event, trusted=False)
            session.emit(msgspec.structs.replace(event, turn_id=turn_id))
        session.emit(ev.TurnFinished(turn_id=turn_id))
    await session.durable()


def _split_turns(events: Sequence[ev.Event]) -> Iterator[list[ev.Event]]:
    """Divide a conversation into turns: each message of a person begins one, unless a call goes on."""
    last = {getattr(event, "call_id", None): index for index, event in enumerate(events)}
    found: list[ev.Event] = []
    goes_on = -1
    for index, event in enumerate(events):
        if found and isinstance(event, ev.UserMessage) and index > goes_on:
            yield found
            found = []
        found.append(event)
        if (call_id := getattr(event, "call_id", None)) is not None:
            goes_on = max(goes_on, last[call_id])
    if found:
        yield found


async def _is_known(session: Session, remembered: Conversation) -> bool:
    """Whether the journal has the last message of a memory: then it has all, and need not be folded."""
    own = [message.message_id for message in remembered.messages if message.lane is None]
    return not own or await session.has_message(own[-1])


def unknown_to(known: Conversation, remembered: Conversation) -> tuple[list[Message], ev.Rewound | None]:
    """Find what is remembered beyond the last message that both know, and where to go back to first.

    Messages are known by their ids. Right after the last of those, a message with the same content is the
    same: another program may have given it a new id.
    """
    written = [message for message in known.messages if message.lane is None]
    held = [message for message in remembered.messages if message.lane is None]
    positions = {message.message_id: number for number, message in enumerate(written, 1)}
    common = max((number for number, one in enumerate(held, 1) if one.message_id in positions), default=0)
    position = positions[held[common - 1].message_id] if common else 0
    while (
        common < len(held)
        and position < len(written)
        and _content_key(held[common]) == _content_key(written[position])
    ):
        common, position = common + 1, position + 1
    news = held[common:]
    if not news or not position or position == len(written):
        return news, None
    return news, ev.Rewound(to_message_id=written[position - 1].message_id)


def _content_key(message: Message) -> tuple[str, str, int]:
    return message.role, message.text, sum(isinstance(part, CallPart) for part in message.parts)


def as_events(
    messages: list[Message],
    calls: dict[str, Call],
    new_turn: Callable[[], str],
    questions: Sequence[ev.Asked] = (),
) -> Iterator[ev.Event]:
    """Give messages as events; each message of a person begins a turn. Questions leave the last one open."""
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
    for asked in questions:
        yield msgspec.structs.replace(asked, turn_id=turn_id)
    if turn_id is not None and not questions:
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
