"""Folding: from events to the conversation they mean.

The fold is the meaning of a stream. Two streams that fold equal said the same thing, however they
were cut into pieces; every test that asks "did anything get lost" compares folds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, ClassVar, cast

import msgspec

from trunkline import events as ev
from trunkline.conversation import (
    Call,
    CallPart,
    Conversation,
    LaneState,
    MediaPart,
    Message,
    QuestionState,
    SourcePart,
    TerminalState,
    TextPart,
    ThoughtPart,
    TurnState,
    is_imported,
)
from trunkline.json_patch import PatchError, apply_patch

__all__ = ["Folder", "fold"]


def fold(events: Iterable[ev.Event]) -> Conversation:
    """Give the conversation that these events mean."""
    folder = Folder()
    for event in events:
        folder.feed(event)
    return folder.conversation


class Folder:
    """Folds events one by one; ``conversation`` is right after every event."""

    def __init__(self, past: Conversation | None = None) -> None:
        """Begin with an empty conversation, or with the turns of another one, which stays as it is."""
        self._folded = Conversation() if past is None else _copy(past)
        self._past: dict[str, Call] = {} if past is None else past.calls
        self._messages = {message.message_id: message for message in self._folded.messages}
        # Text grows piece by piece: joining at the end keeps a long answer linear.
        self._pieces: dict[tuple[int, str], tuple[Any, str, list[str]]] = {}

    @property
    def conversation(self) -> Conversation:
        """The conversation so far."""
        for holder, field, pieces in self._pieces.values():
            setattr(holder, field, "".join(pieces))
        self._pieces.clear()
        return self._folded

    def feed(self, event: ev.Event) -> None:
        """Take one event."""
        fold_one = self._folds.get(type(event))
        if fold_one is not None:
            fold_one(self, event)

    # -- how text grows --

    def _grow(self, holder: Any, field: str, piece: str) -> None:
        known = self._pieces.get((id(holder), field))
        if known is None:
            self._pieces[id(holder), field] = (holder, field, [getattr(holder, field), piece])
        else:
            known[2].append(piece)

    def _message(self, event: Any) -> Message:
        message = self._messages.get(event.message_id)
        if message is None:
            message = Message(
                message_id=event.message_id,
                role="agent",
                turn_id=event.turn_id,
                lane=event.lane,
                trusted=not is_imported(event.turn_id),
            )
            self._messages[event.message_id] = message
            self._folded.messages.append(message)
        return message

    # -- messages --

    def _user(self, event: ev.UserMessage) -> None:
        message = self._messages.get(event.message_id)
        if message is None:
            message = Message(
                message_id=event.message_id, role="user", turn_id=event.turn_id, lane=event.lane
            )
            self._messages[event.message_id] = message
            self._folded.messages.append(message)
        message.content = event.content
        message.trusted = event.trusted
        if event.prompt_id in self._folded.queued:
            self._folded.queued.remove(event.prompt_id)

    def _text(self, event: ev.Text) -> None:
        message = self._message(event)
        if not message.parts or not isinstance(message.parts[-1], TextPart):
            message.parts.append(TextPart(part_id=_part_id(message)))
        self._grow(message.parts[-1], "text", event.delta)

    def _thought(self, event: ev.Thought) -> None:
        message = self._message(event)
        last = message.parts[-1] if message.parts else None
        if not isinstance(last, ThoughtPart) or last.signature is not None:
            last = ThoughtPart(part_id=_part_id(message))
            message.parts.append(last)
        self._grow(last, "text", event.delta)
        if event.signature is not None:
            last.signature = event.signature

    def _media(self, event: ev.Media) -> None:
        message = self._message(event)
        message.parts.append(MediaPart(part_id=_part_id(message), content=event.content))

    def _source(self, event: ev.Source) -> None:
        message = self._message(event)
        for part in message.parts:
            if isinstance(part, SourcePart) and part.source_id == event.source_id:
                return
        message.parts.append(
            SourcePart(
                part_id=_part_id(message),
                source_id=event.source_id,
                url=event.url,
                title=event.title,
                document=event.document,
                mime_type=event.mime_type,
            )
        )

    # -- tools --

    def _call(self, event: ev.ToolCall) -> None:
        if event.call_id in self._folded.calls:
            return
        call = self._folded.calls[event.call_id] = Call(
            call_id=event.call_id,
            name=event.name,
            title=event.title,
            kind=event.kind,
            message_id=event.message_id,
            lane=event.lane,
            turn_id=event.turn_id,
            native_id=event.native_id,
            trusted=not is_imported(event.turn_id),
        )
        if event.message_id is not None:
            message = self._message(event)
            message.parts.append(CallPart(part_id=_part_id(message), call_id=event.call_id))
        elif self._folded.messages:
            call.after = self._folded.messages[-1].message_id

    def _input(self, event: ev.ToolInput) -> None:
        call = self._folded.calls.get(event.call_id)
        if call is not None:
            self._grow(call, "arguments", event.delta)

    def _update(self, event: ev.ToolUpdate) -> None:
        call = self._folded.calls.get(event.call_id)
        if call is None:
            return
        if self._past.get(event.call_id) is call:
            # Older journals have updates of calls that were over.
            call = self._folded.calls[event.call_id] = msgspec.structs.replace(call)
        for name in ("status", "title", "kind", "locations", "content", "raw_output", "reason"):
            value = getattr(event, name)
            if value is not None:
                setattr(call, name, value)
        if event.input is not None:
            call.input = event.input
        if event.result_message_id is not None:
            call.result_message_id = event.result_message_id
        if event.output:
            self._grow(call, "output", event.output)

    def _terminal(self, event: ev.TerminalOutput) -> None:
        terminal = self._folded.terminals.setdefault(event.terminal_id, TerminalState())
        self._grow(terminal, "data", event.data)
        if event.exited:
            terminal.exited, terminal.exit_code, terminal.signal = True, event.exit_code, event.signal

    # -- turns and questions --

    def _started(self, event: ev.TurnStarted) -> None:
        self._folded.turns.append(TurnState(turn_id=event.turn_id or ""))
        if event.prompt_id in self._folded.queued:
            self._folded.queued.remove(event.prompt_id)

    def _suspended(self, event: ev.TurnSuspended) -> None:
        self._set_turn(status="suspended")

    def _resumed(self, event: ev.TurnResumed) -> None:
        self._set_turn(status="running")

    def _finished(self, event: ev.TurnFinished) -> None:
        self._set_turn(status="finished", stop_reason=event.stop_reason, usage=event.usage)

    def _failed(self, event: ev.TurnFailed) -> None:
        self._set_turn(
            status="failed", code=event.code, message=event.message, fault=event.fault, usage=event.usage
        )

    def _set_turn(self, **fields: Any) -> None:
        if self._folded.turns:
            for name, value in fields.items():
                setattr(self._folded.turns[-1], name, value)

    def _queued(self, event: ev.PromptQueued) -> None:
        if event.prompt_id not in self._folded.queued:
            self._folded.queued.append(event.prompt_id)

    def _dropped(self, event: ev.PromptDropped) -> None:
        if event.prompt_id in self._folded.queued:
            self._folded.queued.remove(event.prompt_id)

    def _rewound(self, event: ev.Rewound) -> None:
        messages = self._folded.messages
        keep = 0
        if event.to_message_id is not None:
            ids = [message.message_id for message in messages]
            if event.to_message_id not in ids:
                return
            keep = ids.index(event.to_message_id) + 1
        gone = {message.message_id for message in messages[keep:]}
        # A call without a message goes with its turn, if nothing of that is left.
        turns = {m.turn_id for m in messages[keep:]} - {m.turn_id for m in messages[:keep]}
        del messages[keep:]
        for message_id in gone:
            del self._messages[message_id]
        for call in list(self._folded.calls.values()):
            if call.turn_id in turns if call.message_id is None else call.message_id in gone:
                del self._folded.calls[call.call_id]

    def _asked(self, event: ev.Asked) -> None:
        self._folded.questions.setdefault(event.question_id, QuestionState(asked=event))

    def _answered(self, event: ev.Answered) -> None:
        question = self._folded.questions.get(event.question_id)
        if question is not None and question.answered is None:
            question.answered = event

    # -- work, state and session --

    def _step_started(self, event: ev.StepStarted) -> None:
        # What a framework does is no part of the conversation.
        if event.kind is None:
            self._folded.steps[event.step_id] = False

    def _step_finished(self, event: ev.StepFinished) -> None:
        if event.step_id in self._folded.steps:
            self._folded.steps[event.step_id] = True

    def _lane_started(self, event: ev.SubagentStarted) -> None:
        self._folded.lanes[event.lane or ""] = LaneState(
            name=event.name,
            parent_lane=event.parent_lane,
            parent_call_id=event.parent_call_id,
            description=event.description,
        )

    def _lane_finished(self, event: ev.SubagentFinished) -> None:
        lane = self._folded.lanes.get(event.lane or "")
        if lane is not None:
            lane.outcome, lane.message, lane.result = event.outcome, event.message, event.result

    def _activity(self, event: ev.Activity) -> None:
        if event.content is not None:
            self._folded.activities[event.activity_id] = event.content
        elif event.patch is not None:
            content = self._folded.activities.get(event.activity_id, {})
            try:
                self._folded.activities[event.activity_id] = apply_patch(content, event.patch)
            except PatchError:
                return

    def _compaction(self, event: ev.Compaction) -> None:
        known = self._folded.compactions.get(event.compaction_id)
        if known is not None:
            event = msgspec.structs.replace(
                event, summary=event.summary or known.summary, error=event.error or known.error
            )
        self._folded.compactions[event.compaction_id] = event

    def _patched(self, event: ev.StatePatched) -> None:
        try:
            self._folded.state = apply_patch(self._folded.state, event.patch)
        except PatchError:
            return

    def _plan(self, event: ev.Plan) -> None:
        self._folded.plan = event.entries

    def _notice(self, event: ev.Notice) -> None:
        self._folded.notices.append(event)

    def _replaced(self, event: ev.StateReplaced) -> None:
        self._folded.state = event.state

    def _options(self, event: ev.ConfigChanged) -> None:
        self._folded.options = event.options

    def _commands(self, event: ev.CommandsChanged) -> None:
        self._folded.commands = event.commands

    def _info(self, event: ev.InfoChanged) -> None:
        self._folded.title = event.title

    def _usage(self, event: ev.ContextUsage) -> None:
        self._folded.usage = event

    def _custom(self, event: ev.Custom) -> None:
        self._folded.customs.append(event)

    def _raw(self, event: ev.Raw) -> None:
        self._folded.raws.append(event)

    _folds: ClassVar[dict[type[ev.Event], Callable[[Folder, Any], None]]] = {
        ev.TurnStarted: _started,
        ev.TurnSuspended: _suspended,
        ev.TurnResumed: _resumed,
        ev.TurnFinished: _finished,
        ev.TurnFailed: _failed,
        ev.PromptQueued: _queued,
        ev.PromptDropped: _dropped,
        ev.Rewound: _rewound,
        ev.UserMessage: _user,
        ev.Text: _text,
        ev.Thought: _thought,
        ev.Media: _media,
        ev.Source: _source,
        ev.ToolCall: _call,
        ev.ToolInput: _input,
        ev.ToolUpdate: _update,
        ev.TerminalOutput: _terminal,
        ev.Asked: _asked,
        ev.Answered: _answered,
        ev.Plan: _plan,
        ev.StepStarted: _step_started,
        ev.StepFinished: _step_finished,
        ev.SubagentStarted: _lane_started,
        ev.SubagentFinished: _lane_finished,
        ev.Activity: _activity,
        ev.Compaction: _compaction,
        ev.Notice: _notice,
        ev.StateReplaced: _replaced,
        ev.StatePatched: _patched,
        ev.ConfigChanged: _options,
        ev.CommandsChanged: _commands,
        ev.InfoChanged: _info,
        ev.ContextUsage: _usage,
        ev.Custom: _custom,
        ev.Raw: _raw,
    }


def _copy(past: Conversation) -> Conversation:
    """Copy what grows; what is in it belongs to turns that are over, and does not change any more."""
    copies: dict[str, Any] = {}
    for name in past.__struct_fields__:
        value: Any = getattr(past, name)
        if isinstance(value, list | dict):
            copies[name] = cast("list[Any]", value).copy()
    # A terminal may go on in a later turn.
    copies["terminals"] = {name: msgspec.structs.replace(one) for name, one in past.terminals.items()}
    return msgspec.structs.replace(past, **copies)


def _part_id(message: Message) -> str:
    return f"{message.message_id}:{len(message.parts)}"
