"""Standing: what a thread holds where a run begins, and what its client has to be told of that first.

A client sends the messages it has. Where they are those of the thread nothing is told; where it lacks some,
or still shows what was taken back, it gets all of them. Messages that a page made up for itself (a
greeting, say) are no difference.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Collection, Iterable, Sequence
from operator import ne
from typing import Any, cast

import msgspec

from trunkline import events as ev
from trunkline.conversation import Conversation
from trunkline.cursor import Cursor, Entry, cut, piece_of
from trunkline.folding import Folder
from trunkline.frontends.agui.decoder import ThreadOutline
from trunkline.frontends.agui.options import AguiOptions
from trunkline.frontends.agui.questions import CLIENT_MESSAGE_ID
from trunkline.frontends.agui.snapshots import clearing, fits_frame, fitting, would_reorder
from trunkline.json_patch import same_json
from trunkline.outline import Outline, OutlineReader, PresentOutline, Step
from trunkline.protocols.agui import wire
from trunkline.protocols.agui.messages import snapshot_of
from trunkline.session.session import Session

_MANY = 500
"""Messages that are told at once; for more, others may run meanwhile."""

__all__ = ["RunStart", "ThreadSnapshot", "find_run_start", "read_thread"]


class RunStart(msgspec.Struct, frozen=True):
    """Where in its turn a run begins; without a cursor: right after the message that started it."""

    turn_id: str
    after: Cursor | None


class ThreadSnapshot:
    """A conversation up to a place: the ids of its past, and all that came after it."""

    def __init__(self, past: Outline | None = None, start: int = 1, state: Any = None) -> None:
        """Begin at the record after a past, with this shared state; without one with nothing said."""
        self._past = past or Outline()
        self._start = start
        self._whole = past is None
        self._events: list[ev.Event] = []
        self._folder = Folder(Conversation(state=state))
        self._ids, self._steps = OutlineReader(), list[Step]()
        self._outline: PresentOutline | None = None
        self._told: list[dict[str, Any]] | None = None
        self.said: set[str] = set()
        """The ids of every message, call and result after the past, also of those that were taken back."""
        self._run: str | None = None
        self._prompts: dict[tuple[str | None, str], str | None] = {}
        self.state_before: Any = None
        """The shared state when the last turn began."""
        self.at: Cursor | None = None
        """The place up to which it was read."""

    @property
    def conversation(self) -> Conversation:
        """What was said, folded; without its past unless that was loaded."""
        return self._folder.conversation

    @property
    def outline(self) -> PresentOutline:
        """The ids of everything."""
        if self._outline is None:
            self._outline = PresentOutline(self._past, [*self._steps, *self._ids.peek()])
        return self._outline

    def thread(self, asked: Collection[str]) -> ThreadOutline:
        """What a request is compared with; ``asked`` are the questions of the thread."""
        turns = self.conversation.turns
        return ThreadOutline(self.outline, last=turns[-1] if turns else None, asked=asked, said=self.said)

    def has_id(self, name: str) -> bool:
        """Whether a message, a call or a result ever had this id."""
        return name in self.said or name in self._past.said

    async def load(self, session: Session, options: AguiOptions, *, modern: bool) -> None:
        """Fold the past too, for whoever is told of it; many messages are told beside the loop."""
        if not self._whole:
            self._folder, self._whole = Folder(await session.history_before(self._start)), True
            for event in self._events:
                self._folder.feed(event)
        if len(self.conversation.messages) > _MANY:
            self._told = await asyncio.to_thread(self._tell, options, modern)

    def feed(self, event: ev.Event) -> None:
        """Take one event."""
        self._outline = self._told = None
        if not self._whole:
            self._events.append(event)
        self._steps += self._ids.feed(event)
        if isinstance(event, ev.TurnStarted):
            self.state_before = self.conversation.state
            self._run = event.run_id
        elif isinstance(event, ev.UserMessage):
            self._prompts[self._run, event.message_id] = event.turn_id
        elif isinstance(event, ev.ToolCall):
            self.said |= {event.call_id, f"{event.call_id}:result"}
        elif isinstance(event, ev.ToolUpdate) and event.result_message_id is not None:
            self.said.add(event.result_message_id)
        elif isinstance(event, ev.Answered) and CLIENT_MESSAGE_ID in (event.meta or {}):
            self.said.add(str((event.meta or {})[CLIENT_MESSAGE_ID]))
        if message_id := getattr(event, "message_id", None):
            self.said.add(message_id)
        self._folder.feed(event)

    def turn_of(self, told: wire.RunAgentInput) -> str | None:
        """The last turn, if it is this very request's: one that is sent again starts nothing."""
        asked = [message.id for message in told.messages[-1:] if message.role == "user"]
        turns = self.conversation.turns
        if told.resume or not asked or not turns:
            return None
        turn_id = self._prompts.get((told.run_id, asked[0]))
        return turn_id if turn_id == turns[-1].turn_id else None

    def messages(self, options: AguiOptions, *, modern: bool) -> list[dict[str, Any]]:
        """Give all messages as a client holds them."""
        return self._tell(options, modern) if self._told is None else self._told

    def _tell(self, options: AguiOptions, modern: bool) -> list[dict[str, Any]]:
        return snapshot_of(
            self.conversation,
            options.max_ui_payload_size,
            modern=modern,
            results=options.emit_tool_results,
            about=True,
            errors=options.shows_exception_texts,
        )

    def opening(
        self,
        told: wire.RunAgentInput,
        options: AguiOptions,
        at: int,
        *,
        modern: bool,
        whole: bool = False,
        announced: Sequence[wire.AguiEvent] | None = None,
    ) -> list[wire.AguiEvent]:
        """Say what the client does not know; ``whole`` tells it everything, whatever it has.

        ``announced`` is for a run that begins inside a turn: what it is told to be open right after this.
        Of messages only the rest will be said, so all of them have to be there by now. Calls that are
        still being made are told from their start, so there is nothing of them here.
        """
        said: list[wire.AguiEvent] = []
        if not self._whole:
            return self._state(told, options, at, whole=whole)
        messages = self.messages(options, modern=modern)
        calls = {event.tool_call_id for event in announced or () if isinstance(event, wire.ToolCallStart)}
        messages = _without_arguments(messages, calls) if calls else messages
        lacks = announced is not None and _lacks(messages, told.messages)
        if whole or lacks or self._differs(told.messages, options):
            if would_reorder(messages, [message.id for message in told.messages]):
                said.append(wire.MessagesSnapshot(timestamp=at, messages=clearing(messages)))
            said.append(wire.MessagesSnapshot(timestamp=at, messages=fitting(messages)))
        elif self._has_open_calls() and fits_frame(messages):
            said.append(wire.MessagesSnapshot(timestamp=at, messages=messages))
        return said + self._state(told, options, at, whole=whole)

    def tells_messages(
        self, told: wire.RunAgentInput, options: AguiOptions, *, modern: bool, within: bool = False
    ) -> bool:
        """Whether the opening tells all messages: then the past has to be loaded.

        What is said of a message that is not over yet is of the last turn.
        """
        if self._has_open_calls() or self._differs(told.messages, options):
            return True
        return within and _lacks(self.messages(options, modern=modern), told.messages)

    def _state(
        self, told: wire.RunAgentInput, options: AguiOptions, at: int, *, whole: bool
    ) -> list[wire.AguiEvent]:
        state, shows = self.conversation.state, options.emit_state_snapshots in ("initial", "all")
        if shows and state is not None and (whole or not same_json(state, told.state, numeric=True)):
            return [wire.StateSnapshot(timestamp=at, snapshot=state)]
        return []

    def _has_open_calls(self) -> bool:
        """Whether results may come of calls that this run does not announce."""
        return any(call.status not in ev.FINAL_STATUSES for call in self.conversation.calls.values())

    def _differs(self, theirs: Iterable[wire.Message], options: AguiOptions) -> bool:
        ours = self.outline
        shown = [message for message in theirs if message.subagent_run_id is None]
        heard = [one.id for one in shown if one.role in ("user", "assistant") and self.has_id(one.id)]
        if len(heard) != ours.length or any(map(ne, heard, ours.spoken)):
            return True
        # Results of calls made side by side may stand in any order.
        taken = {one.id for one in shown if one.role == "tool"}
        told = {
            call.result_id
            for call in ours.results
            if call.brought or (call.ended and options.emit_tool_results and not call.of_subagent)
        }
        return not told <= taken or any(self.has_id(name) for name in taken - told)


def _without_arguments(messages: list[dict[str, Any]], calls: Collection[str]) -> list[dict[str, Any]]:
    return [
        {**message, "toolCalls": [_blank(call) if call["id"] in calls else call for call in made]}
        if (made := message.get("toolCalls"))
        else message
        for message in messages
    ]


def _blank(call: dict[str, Any]) -> dict[str, Any]:
    return {**call, "function": {**call["function"], "arguments": ""}}


def _lacks(ours: list[dict[str, Any]], theirs: Iterable[wire.Message]) -> bool:
    """Whether a client does not have all that was said so far, to the last character."""
    known = {message.id: message for message in theirs}
    return any(message["id"] not in known or _is_behind(message, known[message["id"]]) for message in ours)


def _is_behind(mine: dict[str, Any], theirs: wire.Message) -> bool:
    if mine["role"] not in ("assistant", "reasoning"):
        return False
    made = [(call["id"], call["function"]["arguments"]) for call in mine.get("toolCalls", ())]
    heard = [(call.get("id"), _arguments(call)) for call in theirs.tool_calls or ()]
    return mine.get("content", "") != (theirs.content or "") or made != heard


def _arguments(call: dict[str, Any]) -> Any:
    function: Any = call.get("function")
    return cast("dict[str, Any]", function).get("arguments") if isinstance(function, dict) else None


async def read_thread(session: Session, place: RunStart | None = None) -> ThreadSnapshot:
    """Read what a session said up to a place; all of it without one.

    Of the turns before the last one only the ids are read; ``load`` reads the rest.
    """
    past, start = await session.outline()
    if place is not None and _is_before(place, start, session):
        # A run of an earlier turn that is sent again: seldom.
        standing, start = ThreadSnapshot(), 1
    else:
        standing = ThreadSnapshot(past, start, session.state_before_turn)
    async with contextlib.aclosing(session.replay(start)) as entries:
        async for entry in entries:
            event = entry.event if place is None else _before(entry, place)
            if event is None:
                break
            standing.feed(event)
            standing.at = entry.cursor
    if place is not None and place.after is not None:
        standing.at = place.after
    return standing


async def find_run_start(session: Session) -> RunStart | None:
    """Find where the present run of the running turn began: with its message, or with the last answers."""
    turn_id = session.running_turn_id
    if turn_id is None:
        return None
    after: Cursor | None = None
    async for entry in session.replay(await session.start_of(turn_id)):
        if isinstance(entry.event, ev.UserMessage | ev.TurnResumed) and entry.event.turn_id == turn_id:
            after = entry.cursor
    return RunStart(turn_id, after)


def _is_before(place: RunStart, start: int, session: Session) -> bool:
    """Whether a place is before the last turn."""
    if place.after is None:
        return (session.turn_start(place.turn_id) or 0) < start
    return place.after.record < start - 1


def _before(entry: Entry, place: RunStart) -> ev.Event | None:
    """What of an entry was said before a place; None when that is behind us."""
    event = entry.event
    if place.after is None:
        begins = isinstance(event, ev.TurnStarted | ev.UserMessage)
        return None if event.turn_id == place.turn_id and not begins else event
    if (entry.seq, entry.offset) <= (place.after.record, place.after.offset):
        return event
    if entry.seq == place.after.record and (piece := piece_of(event)):
        return cut(event, place.after.offset - (entry.offset - len(piece)))[0]
    return None
