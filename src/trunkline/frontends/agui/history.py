"""The history of a thread where a run begins, and what its client has to get of it first.

A client sends the messages it has. If they are those of the thread it gets nothing; if it lacks some, or
still shows what was taken back, it gets all of them. Messages that a page made by itself (a greeting, say) do
not count as a difference.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Collection, Iterable, Sequence
from operator import ne
from typing import Any, cast

from trunkline import events as ev
from trunkline.commands import Answer
from trunkline.conversation import Conversation
from trunkline.cursor import Cursor, Entry, cut, piece_of
from trunkline.folding import Folder
from trunkline.frontends.agui.options import AguiOptions
from trunkline.frontends.agui.snapshot_size import clearing, fits_frame, fitting, would_reorder
from trunkline.frontends.agui.state import first_snapshot
from trunkline.frontends.agui.thread_outline import ThreadOutline
from trunkline.outline import CLIENT_MESSAGE_ID, Outline, OutlineReader, PresentOutline, Step
from trunkline.protocols.agui import wire
from trunkline.protocols.agui.messages import snapshot_of
from trunkline.session.run_start import RunStart
from trunkline.session.session import Session

_MANY = 500
"""Messages that are written in the event loop; more are written in a thread."""


class ThreadSnapshot:
    """A conversation up to a cursor: the ids of its earlier turns, and all events after these."""

    def __init__(self, past: Outline | None = None, start: int = 1, state: Any = None) -> None:
        """Begin after ``past``, at the record ``start``, with this shared state."""
        self._past = past or Outline()
        self._start = start
        self._whole = past is None
        self._events: list[ev.Event] = []
        self._folder = Folder(Conversation(state=state))
        self._ids, self._steps = OutlineReader(), list[Step]()
        self._outline: PresentOutline | None = None
        self._messages: list[dict[str, Any]] | None = None
        self.known_ids: set[str] = set()
        """The ids of every message, call and result after the past, also of those that were taken back."""
        self._run: str | None = None
        self._prompts: dict[tuple[str | None, str], str | None] = {}
        self.state_before: Any = None
        """The shared state when the last turn began."""
        self.read_up_to: Cursor | None = None
        self.is_shown_whole = False
        """Whether the client is shown all of it, whatever it has."""

    @property
    def conversation(self) -> Conversation:
        """The events, folded; without the past unless that was loaded."""
        return self._folder.conversation

    @property
    def outline(self) -> PresentOutline:
        """The ids of everything."""
        if self._outline is None:
            self._outline = PresentOutline(self._past, [*self._steps, *self._ids.peek()])
        return self._outline

    def thread_outline(self, asked: Collection[str]) -> ThreadOutline:
        """Give what a request is compared with; ``asked`` are the questions of the thread."""
        turns = self.conversation.turns
        return ThreadOutline(
            self.outline, last=turns[-1] if turns else None, asked=asked, known_ids=self.known_ids
        )

    def has_id(self, name: str) -> bool:
        """Whether a message, a call or a result ever had this id."""
        return name in self.known_ids or name in self._past.known_ids

    async def load(self, session: Session, options: AguiOptions, *, modern: bool) -> None:
        """Read the past too, for a client that gets all messages."""
        if not self._whole:
            self._folder, self._whole = Folder(await session.history_before(self._start)), True
            for event in self._events:
                self._folder.feed(event)
        if len(self.conversation.messages) > _MANY:
            self._messages = await asyncio.to_thread(self._write_messages, options, modern)

    def feed(self, event: ev.Event) -> None:
        """Take one event."""
        self._outline = self._messages = None
        if not self._whole:
            self._events.append(event)
        self._steps += self._ids.feed(event)
        if isinstance(event, ev.TurnStarted):
            self.state_before = self.conversation.state
            self._run = event.run_id
        elif isinstance(event, ev.UserMessage):
            self._prompts[self._run, event.message_id] = event.turn_id
        elif isinstance(event, ev.ToolCall):
            self.known_ids |= {event.call_id, f"{event.call_id}:result"}
        elif isinstance(event, ev.ToolUpdate) and event.result_message_id is not None:
            self.known_ids.add(event.result_message_id)
        elif isinstance(event, ev.Answered) and CLIENT_MESSAGE_ID in (event.meta or {}):
            self.known_ids.add(str((event.meta or {})[CLIENT_MESSAGE_ID]))
        if message_id := getattr(event, "message_id", None):
            self.known_ids.add(message_id)
        self._folder.feed(event)

    def add_answer(self, answer: Answer) -> None:
        """Take the answer to a question."""
        self.feed(
            ev.Answered(
                question_id=answer.question_id,
                outcome=answer.outcome,
                content=answer.content,
                reason=answer.reason,
                meta=answer.meta,
            )
        )

    def turn_of(self, request: wire.RunAgentInput) -> str | None:
        """The last turn, if this request started it: a request that is sent again starts nothing."""
        prompts = [message.id for message in request.messages[-1:] if message.role == "user"]
        turns = self.conversation.turns
        if request.resume or not prompts or not turns:
            return None
        turn_id = self._prompts.get((request.run_id, prompts[0]))
        return turn_id if turn_id == turns[-1].turn_id else None

    def messages(self, options: AguiOptions, *, modern: bool) -> list[dict[str, Any]]:
        """Give all messages as a client holds them."""
        return self._write_messages(options, modern) if self._messages is None else self._messages

    def _write_messages(self, options: AguiOptions, modern: bool) -> list[dict[str, Any]]:
        return snapshot_of(
            self.conversation,
            options.max_ui_payload_size,
            modern=modern,
            results=options.emit_tool_results,
            with_metadata=True,
            errors=options.shows_exception_texts,
        )

    def opening(
        self,
        request: wire.RunAgentInput,
        options: AguiOptions,
        at: int,
        *,
        modern: bool,
        sends_everything: bool = False,
        announced: Sequence[wire.AguiEvent] | None = None,
    ) -> list[wire.AguiEvent]:
        """Give what the client does not have; ``sends_everything`` gives it all, whatever it has.

        ``announced`` is for a run that begins inside a turn: the events right after these, which open again
        what is open. Of open messages only the rest will be sent, so all of them have to be here. Open calls
        are sent again from their start, so their arguments are left out here.
        """
        events: list[wire.AguiEvent] = []
        mode, theirs = options.emit_state_snapshots, None if sends_everything else request.state
        state = first_snapshot(self.conversation.state, theirs, mode, at)
        if not self._whole:
            return state
        messages = self.messages(options, modern=modern)
        calls = {event.tool_call_id for event in announced or () if isinstance(event, wire.ToolCallStart)}
        messages = _without_arguments(messages, calls) if calls else messages
        lacks = announced is not None and _client_lacks(messages, request.messages)
        if sends_everything or lacks or self._differs(request.messages, options):
            if would_reorder(messages, [message.id for message in request.messages]):
                events.append(wire.MessagesSnapshot(timestamp=at, messages=clearing(messages)))
            events.append(wire.MessagesSnapshot(timestamp=at, messages=fitting(messages)))
        elif self._has_open_calls() and fits_frame(messages):
            events.append(wire.MessagesSnapshot(timestamp=at, messages=messages))
        return events + state

    def sends_messages(
        self, request: wire.RunAgentInput, options: AguiOptions, *, modern: bool, inside_turn: bool = False
    ) -> bool:
        """Whether the opening has all messages: then the past has to be loaded.

        A message that is still open is always of the last turn.
        """
        if self._has_open_calls() or self._differs(request.messages, options):
            return True
        return inside_turn and _client_lacks(self.messages(options, modern=modern), request.messages)

    def _has_open_calls(self) -> bool:
        """Whether results may come of calls that this run does not announce."""
        return any(call.status not in ev.FINAL_STATUSES for call in self.conversation.calls.values())

    def _differs(self, theirs: Iterable[wire.Message], options: AguiOptions) -> bool:
        ours = self.outline
        shown = [message for message in theirs if message.subagent_run_id is None]
        known = [one.id for one in shown if one.role in ("user", "assistant") and self.has_id(one.id)]
        if len(known) != ours.length or any(map(ne, known, ours.shown_messages)):
            return True
        # Results of calls made side by side may stand in any order.
        theirs_results = {one.id for one in shown if one.role == "tool"}
        our_results = {
            call.result_id
            for call in ours.results
            if call.from_client or (call.ended and options.emit_tool_results and not call.of_subagent)
        }
        lacks_some = not our_results <= theirs_results
        return lacks_some or any(self.has_id(name) for name in theirs_results - our_results)


def _without_arguments(messages: list[dict[str, Any]], calls: Collection[str]) -> list[dict[str, Any]]:
    return [
        {**message, "toolCalls": [_blank(call) if call["id"] in calls else call for call in made]}
        if (made := message.get("toolCalls"))
        else message
        for message in messages
    ]


def _blank(call: dict[str, Any]) -> dict[str, Any]:
    return {**call, "function": {**call["function"], "arguments": ""}}


def _client_lacks(ours: list[dict[str, Any]], theirs: Iterable[wire.Message]) -> bool:
    """Whether a client does not have every message so far, to the last character."""
    known = {message.id: message for message in theirs}
    return any(message["id"] not in known or _is_behind(message, known[message["id"]]) for message in ours)


def _is_behind(mine: dict[str, Any], theirs: wire.Message) -> bool:
    if mine["role"] not in ("assistant", "reasoning"):
        return False
    our_calls = [(call["id"], call["function"]["arguments"]) for call in mine.get("toolCalls", ())]
    their_calls = [(call.get("id"), _arguments(call)) for call in theirs.tool_calls or ()]
    return mine.get("content", "") != (theirs.content or "") or our_calls != their_calls


def _arguments(call: dict[str, Any]) -> Any:
    function: Any = call.get("function")
    return cast("dict[str, Any]", function).get("arguments") if isinstance(function, dict) else None


async def read_thread(session: Session, until: RunStart | None = None) -> ThreadSnapshot:
    """Read the events of a session before a run; all of them without one.

    Of the turns before the last one only the ids are read; ``load`` reads the rest.
    """
    past, start = await session.outline()
    if until is not None and _is_in_earlier_turn(until, start, session):
        # A run of an earlier turn that is sent again: seldom.
        thread, start = ThreadSnapshot(), 1
    else:
        thread = ThreadSnapshot(past, start, session.state_before_turn)
    async with contextlib.aclosing(session.replay(start)) as entries:
        async for entry in entries:
            event = entry.event if until is None else _cut_at(entry, until)
            if event is None:
                break
            thread.feed(event)
            thread.read_up_to = entry.cursor
    if until is not None and until.after is not None:
        thread.read_up_to = until.after
    return thread


def _is_in_earlier_turn(start: RunStart, last_turn: int, session: Session) -> bool:
    """Whether a run began before the record that begins the last turn."""
    if start.after is None:
        return (session.turn_start(start.turn_id) or 0) < last_turn
    return start.after.record < last_turn - 1


def _cut_at(entry: Entry, start: RunStart) -> ev.Event | None:
    """Give what of an entry came before a run; None when nothing did."""
    event = entry.event
    if start.after is None:
        begins = isinstance(event, ev.TurnStarted | ev.UserMessage)
        return None if event.turn_id == start.turn_id and not begins else event
    if (entry.seq, entry.offset) <= (start.after.record, start.after.offset):
        return event
    if entry.seq == start.after.record and (piece := piece_of(event)):
        return cut(event, start.after.offset - (entry.offset - len(piece)))[0]
    return None
