"""The outline of a conversation: its ids in their order, without what was said under them.

A client that sends back what it has is compared with this, so that a thread of ten thousand turns need not
be read for the next one. The outline of a turn follows from its own events alone; that of a session is
those of its turns, one behind the other, without what was taken back.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain, islice
from typing import Union

import msgspec

from trunkline import events as ev
from trunkline.conversation import Call, CallPart, Conversation, Message, TextPart
from trunkline.folding import Folder
from trunkline.questions import ClientCall

CLIENT_MESSAGE_ID = "agui.messageId"
"""Where the meta of an answer says in which message of the client it came."""


class OutlineMessage(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A message: the person's or the agent's."""

    message_id: str
    shown: bool = True
    """Whether clients know it by its id, as one of the agent itself."""


class OutlineCall(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A call and its result."""

    call_id: str
    position: int
    """The message in its turn that it belongs to, or stands behind; -1 for none."""
    loose: bool
    """Whether it belongs to no message."""
    result_id: str
    """The message of its result, as clients know it."""
    ended: bool
    from_client: bool
    """Whether a client brought the result along."""
    of_subagent: bool
    message_id: str | None = None
    """The message that it belongs to."""


class TurnOutline(msgspec.Struct, frozen=True, array_like=True, tag="turn"):
    """The ids of one turn."""

    turn_id: str
    messages: tuple[OutlineMessage, ...]
    calls: tuple[OutlineCall, ...] = ()

    def shown_messages(self) -> Iterator[str]:
        """The messages that clients have of it, in order; a call without a message is one by itself."""
        for position in range(-1, len(self.messages)):
            if position >= 0 and self.messages[position].shown:
                yield self.messages[position].message_id
            for call in self.calls:
                if call.loose and call.position == position and not call.of_subagent:
                    yield call.call_id

    def until(self, position: int) -> TurnOutline:
        """What is left when all messages behind one of its own are taken back."""
        calls = [call for call in self.calls if call.loose or call.position <= position]
        kept = tuple(msgspec.structs.replace(call, position=min(call.position, position)) for call in calls)
        return TurnOutline(self.turn_id, self.messages[: position + 1], kept)


class TakenBack(msgspec.Struct, frozen=True, array_like=True, tag="back"):
    """The conversation went back to a message, or to its beginning."""

    to_message_id: str | None


Step = Union[TurnOutline, TakenBack]


def is_message(message: Message) -> bool:
    """Whether clients know a message by its id: one that only thinks, say, has none that they see."""
    return message.role == "user" or any(isinstance(part, TextPart | CallPart) for part in message.parts)


def client_results(conversation: Conversation) -> dict[str, tuple[str, ev.Answered]]:
    """The results that clients sent: the id of the message and the answer, by call."""
    found: dict[str, tuple[str, ev.Answered]] = {}
    for question in conversation.questions.values():
        asked, answered = question.asked.question, question.answered
        if isinstance(asked, ClientCall) and answered and CLIENT_MESSAGE_ID in (answered.meta or {}):
            found[asked.call_id] = str((answered.meta or {})[CLIENT_MESSAGE_ID]), answered
    return found


def outline_of(turn_id: str, conversation: Conversation) -> TurnOutline:
    """Give the outline of a turn from what was said in it."""
    positions = {message.message_id: position for position, message in enumerate(conversation.messages)}
    from_client = client_results(conversation)

    def outline(call: Call) -> OutlineCall:
        own, _ = from_client.get(call.call_id, (None, None))
        beside = call.after if call.message_id is None else call.message_id
        return OutlineCall(
            call_id=call.call_id,
            position=positions.get(beside or "", -1),
            loose=call.message_id is None,
            result_id=call.result_message_id or f"{call.call_id}:result" if own is None else own,
            ended=call.status in ev.FINAL_STATUSES,
            from_client=own is not None,
            of_subagent=call.lane is not None,
            message_id=call.message_id,
        )

    messages = (
        OutlineMessage(one.message_id, one.lane is None and is_message(one)) for one in conversation.messages
    )
    return TurnOutline(turn_id, tuple(messages), tuple(map(outline, conversation.calls.values())))


class OutlineReader:
    """Reads events and gives the outline of each turn once the next one begins."""

    def __init__(self) -> None:
        self._turn_id = ""
        self._folder = Folder()

    def feed(self, event: ev.Event) -> list[Step]:
        """Take one event."""
        if isinstance(event, ev.TurnStarted):
            found = self.close()
            self._turn_id = event.turn_id or ""
            return found
        if isinstance(event, ev.Rewound):
            return [*self.close(), TakenBack(event.to_message_id)]
        self._folder.feed(event)
        return []

    def close(self) -> list[Step]:
        """Give the outline of the last turn as far as it was read, and forget it."""
        found = self.peek()
        self._folder = Folder()
        return found

    def peek(self) -> list[Step]:
        """Give the outline of the last turn as far as it was read."""
        turn = outline_of(self._turn_id, self._folder.conversation)
        return [turn] if turn.messages or turn.calls else []


class Outline:
    """The ids of all turns of a session."""

    def __init__(self) -> None:
        self.turns: list[TurnOutline] = []
        self.shown_messages: list[str] = []
        """The messages that clients have, in order."""
        self.turn_of: dict[str, int] = {}
        """The number of the turn of every message, also of those that clients do not know by their ids."""
        self.calls: dict[str, OutlineCall] = {}
        self.results: dict[str, OutlineCall] = {}
        """The calls by the messages of their results."""
        self.known_ids: set[str] = set()
        """Every message, call and result, also of those that were taken back."""

    def copy(self) -> Outline:
        """Give an outline that can be changed by itself."""
        other = Outline()
        other.turns, other.shown_messages = list(self.turns), list(self.shown_messages)
        other.calls, other.results = dict(self.calls), dict(self.results)
        other.turn_of, other.known_ids = dict(self.turn_of), set(self.known_ids)
        return other

    def extend(self, steps: Iterable[Step]) -> None:
        """Take what came next; going back changes no list that a reader holds of this outline."""
        for step in steps:
            if isinstance(step, TakenBack):
                self._go_back(step.to_message_id)
            else:
                self._add(step)

    def _add(self, turn: TurnOutline) -> None:
        number = len(self.turns)
        self.turns.append(turn)
        self.shown_messages.extend(turn.shown_messages())
        for message in turn.messages:
            self.turn_of[message.message_id] = number
            self.known_ids.add(message.message_id)
        for call in turn.calls:
            self.calls[call.call_id] = self.results[call.result_id] = call
            self.known_ids |= {call.call_id, call.result_id, f"{call.call_id}:result"}

    def _go_back(self, to_message_id: str | None) -> None:
        if to_message_id is not None and to_message_id not in self.turn_of:
            return
        number = -1 if to_message_id is None else self.turn_of[to_message_id]
        kept, known_ids = self.turns[:number] if number >= 0 else [], self.known_ids
        if number >= 0:
            turn = self.turns[number]
            ids = [message.message_id for message in turn.messages]
            kept.append(turn.until(ids.index(to_message_id or "")))
        self.turns, self.shown_messages = [], []
        self.turn_of, self.calls, self.results = {}, {}, {}
        for turn in kept:
            self._add(turn)
        self.known_ids = known_ids


class PresentOutline:
    """The ids of a session up to now: those of its past, which are shared, and those of its last turn."""

    def __init__(self, past: Outline, steps: Iterable[Step]) -> None:
        last = list(steps)
        if any(isinstance(step, TakenBack) for step in last):
            # Seldom: the past that is left is another one.
            past = past.copy()
            past.extend(last)
            last = []
        self._past = past
        # What the past grows by later is not ours.
        self._turns, self._shown_messages = past.turns, past.shown_messages
        self._turn_count, self._shown_count = len(past.turns), len(past.shown_messages)
        self._last = Outline()
        self._last.extend(last)

    @property
    def shown_messages(self) -> Iterator[str]:
        """The messages that clients have, in order."""
        return chain(islice(self._shown_messages, self._shown_count), self._last.shown_messages)

    @property
    def length(self) -> int:
        """How many messages clients have."""
        return self._shown_count + len(self._last.shown_messages)

    @property
    def is_empty(self) -> bool:
        """Whether there are no messages, or all of them were taken back."""
        return not (self._past.turn_of or self._last.turn_of)

    def has_message(self, message_id: str) -> bool:
        """Whether a message is part of the conversation."""
        return message_id in self._last.turn_of or message_id in self._past.turn_of

    def has_id(self, name: str) -> bool:
        """Whether a message, a call or a result ever had this id, also if it was taken back."""
        return name in self._last.known_ids or name in self._past.known_ids

    def has_call(self, call_id: str) -> bool:
        """Whether a call is part of the conversation."""
        return call_id in self._last.calls or call_id in self._past.calls

    def result(self, message_id: str) -> OutlineCall | None:
        """The call whose result has this id."""
        return self._last.results.get(message_id) or self._past.results.get(message_id)

    @property
    def results(self) -> Iterator[OutlineCall]:
        """All calls, by their results."""
        return chain(self._past.results.values(), self._last.results.values())

    def turn_of(self, message_id: str) -> str | None:
        """The turn of a message that clients know by its id; None for any other."""
        found = self._find(message_id)
        return None if found is None else found.turn_id

    def turns_from(self, turn_id: str) -> list[str]:
        """The turns from one on that clients have messages of, the newest last."""
        found: dict[str, None] = {}
        for turn in self._backwards():
            if any(message.shown for message in turn.messages):
                found[turn.turn_id] = None
            if turn.turn_id == turn_id:
                break
        return list(found)[::-1]

    @property
    def last_message(self) -> str | None:
        """The last message that clients know by its id."""
        for turn in self._backwards():
            for message in reversed(turn.messages):
                if message.shown:
                    return message.message_id
        return None

    def before(self, message_id: str) -> str | None:
        """The message before one, of those that clients know by their ids; None for the first."""
        turns = self._backwards()
        behind = False
        for turn in turns:
            for message in reversed(turn.messages):
                if behind and message.shown:
                    return message.message_id
                behind = behind or message.message_id == message_id
        return None

    def _find(self, message_id: str) -> TurnOutline | None:
        for outline in (self._last, self._past):
            number = outline.turn_of.get(message_id)
            if number is not None:
                turn = outline.turns[number]
                known = any(one.shown and one.message_id == message_id for one in turn.messages)
                return turn if known else None
        return None

    def _backwards(self) -> Iterator[TurnOutline]:
        earlier = (self._turns[number] for number in range(self._turn_count - 1, -1, -1))
        return chain(reversed(self._last.turns), earlier)
