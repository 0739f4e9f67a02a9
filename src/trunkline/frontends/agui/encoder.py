"""The AG-UI encoder: neutral events to AG-UI's, legal in any prefix and closed in order.

Starts are lazy: a message or a call is opened by its first event, so nothing empty is ever announced.
Everything that is open is per lane, and is closed before the one terminal of the run. An encoder that is
primed with what a client has seen already goes on from there: nothing is sent twice.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import msgspec

from trunkline import events as ev
from trunkline.content import Content
from trunkline.cursor import Entry
from trunkline.error_redaction import without_words
from trunkline.frontends.agui.activities import activity, activity_event
from trunkline.frontends.agui.lanes import Lanes, LaneView
from trunkline.frontends.agui.legacy_interrupts import interrupt_events
from trunkline.frontends.agui.losses import CUSTOM_NAMES
from trunkline.frontends.agui.options import AguiOptions
from trunkline.frontends.agui.questions import outcome_of
from trunkline.frontends.agui.state import StateView
from trunkline.frontends.agui.substitute_messages import failure_message
from trunkline.frontends.agui.tool_calls import CallView
from trunkline.outline import CLIENT_MESSAGE_ID
from trunkline.protocols.agui import wire
from trunkline.protocols.agui.codes import ErrorCode, code_for
from trunkline.protocols.agui.results import OUTPUT_TAIL, call_metadata, content_part
from trunkline.protocols.agui.usage import usage_of
from trunkline.questions import ClientCall

_FINAL = ev.FINAL_STATUSES
_UNDER_WAY = _FINAL | {"in_progress"}
_EARLY = frozenset({"failed", "denied"})
"""What is known of a call before its framework has made a message of it."""
_SHARED = (ev.Asked, ev.Answered, ev.StateReplaced, ev.StatePatched)
"""Events of a subagent for every client, also for one that knows no subagents."""

Out = list[wire.AguiEvent]


class AguiEncoder:
    """Translates the events of one turn for one run; a Translator[Entry, AguiEvent]."""

    def __init__(
        self,
        thread_id: str,
        run_id: str,
        options: AguiOptions | None = None,
        *,
        modern: bool = True,
        state: Any = None,
        resumes: bool = False,
    ) -> None:
        """Encode for one run; ``modern`` is False for a client older than 1.0.

        ``state`` is the shared state as the client knows it when the turn begins. ``resumes`` is for a run
        that answers interrupts: the clients (0.0.59, 1.0.0) forget these at RUN_FINISHED only, and after a
        RUN_ERROR refuse every other run. So a failure of such a run is a text message, and finishes it.
        """
        self._thread_id = thread_id
        self._run_id = run_id
        self._options = options or AguiOptions()
        self._modern = modern
        self._resumes = resumes
        self._state = StateView(self._options.emit_state_snapshots, state)
        self._lanes = Lanes()
        self._views = self._lanes.views
        self._owners: dict[str, str | None] = {}
        """The lanes of messages and activities: the lane of their first event."""
        self._calls: dict[str, CallView] = {}
        self._questions: dict[str, ev.Asked] = {}
        self._client_results: set[str] = set()
        """Calls whose results the client sent."""
        self._terminals: dict[str, str] = {}
        self._media_count: dict[str, int] = {}
        self._held: dict[str, CallView] = {}
        """Calls that failed, and whose result message is not known yet."""
        self._over = False
        self._at: int | None = None
        self._began = 0
        self.needs_snapshot = False
        """Whether a client that got all events still lacks something, which a snapshot has to bring."""
        self.has_joined = False
        """Whether a message joined the turn, whose content a snapshot has to bring: a client may have it."""
        self.result_renamed = False
        """Whether a result got another id after it was sent: the client has to drop its messages first."""

    # -- the translator ----------------------------------------------------------------------------

    def begin(self, at: float | None = None, *, parent_run_id: str | None = None, input: Any = None) -> Out:
        """Start the run."""
        self._at = None if at is None else int(at * 1000)
        self._began = self._at or 0
        self._over = False
        version = wire.PROTOCOL_VERSION if self._modern else None
        return [
            wire.RunStarted(
                timestamp=self._at,
                thread_id=self._thread_id,
                run_id=self._run_id,
                protocol_version=version,
                parent_run_id=parent_run_id,
                input=input,
            )
        ]

    def announce(self) -> Out:
        """Announce what is open, where a new run begins after this encoder was primed.

        Its client has all messages up to here, also the results that wait for their ids.
        """
        self.note_snapshot()
        return self._lanes.announce(self._at)

    def note_snapshot(self) -> None:
        """Note that the client has all messages up to here, also the results that wait for their ids."""
        for call in self._held.values():
            self._result(call)
        self._held.clear()
        self.has_joined = False

    def feed(self, entry: Entry, /) -> Out:
        """Give what one event is on this wire."""
        event = entry.event
        at = int(entry.at * 1000)
        # Events from before the run get the time of its start.
        self._at = at if at > self._began else self._began
        if type(event) is ev.Text:
            return self._text(event)
        handle = self._handlers.get(type(event))
        if handle is None or (event.lane is not None and not self._modern and type(event) not in _SHARED):
            return []
        self._over = False
        return handle(self, event if self._options.shows_exception_texts else without_words(event))

    def close(self) -> Out:
        """End a run that got no terminal: close what is open, and send RUN_ERROR."""
        return [] if self._over else self.fail("the run was cut off before its end", ErrorCode.INTERRUPTED)

    def fail(self, message: str, code: str | None) -> Out:
        """End a run that cannot go on: close what is open, and send RUN_ERROR with the reason."""
        return self._finish(wire.RunError(timestamp=self._at, message=message, code=code))

    # -- messages ----------------------------------------------------------------------------------

    def _text(self, event: ev.Text) -> Out:
        if event.lane is not None and not self._modern:
            return []
        lane = self._views.get(event.lane)
        message_id = event.message_id
        if lane is not None and lane.is_open and message_id == lane.parts.current_text_id and not event.meta:
            return [
                wire.TextMessageContent(
                    timestamp=self._at, subagent_run_id=event.lane, message_id=message_id, delta=event.delta
                )
            ]
        if not event.delta:
            return []
        self._over = False
        owner = self._owners.setdefault(message_id, event.lane)
        out, lane = self._lane(owner)
        out += self._release(owner)
        out += lane.parts.start_text(message_id, self._at)
        out.append(
            wire.TextMessageContent(
                timestamp=self._at,
                subagent_run_id=owner,
                message_id=message_id,
                delta=event.delta,
                metadata=event.meta if self._modern else None,
            )
        )
        return out

    def _user(self, event: ev.UserMessage) -> Out:
        if event.prompt_id is None:
            return []  # The client sent it.
        # Any client may have sent it, also this one, and deltas would be added to the text that it has. So
        # this only says where the message stands.
        self.has_joined = True
        name = event.message_id
        return [
            *self._release(None),
            wire.TextMessageStart(timestamp=self._at, message_id=name, role="user"),
            wire.TextMessageEnd(timestamp=self._at, message_id=name),
        ]

    def _thought(self, event: ev.Thought) -> Out:
        owner = self._owners.setdefault(event.message_id, event.lane)
        out, lane = self._lane(owner)
        out += self._release(owner)
        return out + lane.parts.add_reasoning(event.message_id, event.delta, event.signature, self._at)

    def _media(self, event: ev.Media) -> Out:
        value = {"messageId": event.message_id, "part": content_part(event.content)}
        if value["part"] is None:
            value["part"] = msgspec.to_builtins(event.content)
        out, lane = self._lane(self._owners.setdefault(event.message_id, event.lane))
        out += lane.parts.end_reasoning(event.message_id, self._at)
        number = self._media_count[event.message_id] = self._media_count.get(event.message_id, 0) + 1
        return out + self._show("media", f"{event.message_id}:media:{number}", value, event)

    def _source(self, event: ev.Source) -> Out:
        out, lane = self._lane(self._owners.setdefault(event.message_id, event.lane))
        out += lane.parts.end_reasoning(event.message_id, self._at)
        return out + self._show("source", f"{event.message_id}:{event.source_id}", _fields(event), event)

    # -- tools -------------------------------------------------------------------------------------

    def _call(self, event: ev.ToolCall) -> Out:
        if event.call_id in self._calls:
            return []
        owner = event.lane
        if event.message_id is not None:
            # A call belongs to the message that carries it.
            owner = self._owners.setdefault(event.message_id, owner)
        out, lane = self._lane(owner)
        out += self._release(owner)
        out += lane.parts.end_reasoning(event.message_id, self._at)
        about = call_metadata(event.kind, event.title) if self._modern else None
        call = CallView(event.call_id, owner, event.message_id, about, event.name)
        self._calls[event.call_id] = call
        out.append(call.start(self._at))
        lane.calls[event.call_id] = call
        return out

    def _input(self, event: ev.ToolInput) -> Out:
        call = self._calls.get(event.call_id)
        if call is None or not event.delta:
            return []
        call.arguments.append(event.delta)
        if call.ended:
            self.needs_snapshot = True
            return []
        out, _ = self._lane(call.lane)
        out.append(
            wire.ToolCallArgs(
                timestamp=self._at, subagent_run_id=call.lane, tool_call_id=call.call_id, delta=event.delta
            )
        )
        return out

    def _update(self, event: ev.ToolUpdate) -> Out:
        call = self._calls.get(event.call_id)
        if call is None:
            # A call of an earlier run, which was announced to this client then.
            call = self._calls[event.call_id] = CallView(event.call_id, event.lane)
            call.ended = True
        out, lane = self._lane(call.lane)
        call.apply(event)
        if event.status in _UNDER_WAY and call.message_id is not None:
            lane.parts.complete(call.message_id)
        if event.status is not None or event.input is not None:
            out += call.end(self._at)
            lane.calls.pop(call.call_id, None)
        if event.input is not None and not call.sent_arguments_match():
            self.needs_snapshot = True
        if event.output is not None and self._options.emit_activities:
            out += call.show_output(self._at)
        if event.result_message_id is not None and call.sent_result_id not in (None, event.result_message_id):
            self.result_renamed = True
        if call.result_changed(self._options.max_ui_payload_size, self._terminals, modern=self._modern):
            self.needs_snapshot = True
        if not self._options.emit_tool_results or call.call_id in self._client_results:
            return out
        if event.status in _FINAL and not call.answered:
            call.answered = True
            if event.status in _EARLY and call.result_id is None:
                lane.parts.current_text_id = None
                self._held[call.call_id] = call
            else:
                out.append(self._result(call))
        elif event.result_message_id is not None and self._held.pop(call.call_id, None) is not None:
            out.append(self._result(call))
        return out

    def _result(self, call: CallView) -> wire.AguiEvent:
        return call.result(self._at, self._options.max_ui_payload_size, self._terminals, modern=self._modern)

    def _release(self, lane: str | None) -> Out:
        """Send the results of a lane that waited for their ids: it goes on, so they get none."""
        if not self._held:
            return []
        ready = [call for call in self._held.values() if call.lane == lane]
        for call in ready:
            del self._held[call.call_id]
        return [self._result(call) for call in ready]

    def _terminal_output(self, event: ev.TerminalOutput) -> Out:
        self._terminals[event.terminal_id] = (self._terminals.get(event.terminal_id, "") + event.data)[
            -OUTPUT_TAIL:
        ]
        return []

    # -- asking ------------------------------------------------------------------------------------

    def _asked(self, event: ev.Asked) -> Out:
        self._questions[event.question_id] = event
        out: Out = []
        if isinstance(event.question, ClientCall):
            call = self._calls.get(event.question.call_id)
            if call is not None:
                call.input = call.input if call.input is not None else event.question.input
                out += call.end(self._at)
                self._views[call.lane].calls.pop(call.call_id, None)
        return out

    def _answered(self, event: ev.Answered) -> Out:
        asked = self._questions.pop(event.question_id, None)
        if (
            asked is not None
            and isinstance(asked.question, ClientCall)
            and CLIENT_MESSAGE_ID in (event.meta or {})
        ):
            self._client_results.add(asked.question.call_id)
        return []

    def _suspended(self, event: ev.TurnSuspended) -> Out:
        open_questions = [self._questions[key] for key in event.question_ids if key in self._questions]
        asked = [q for q in open_questions if not isinstance(q.question, ClientCall)]
        outcome = outcome_of(open_questions, self._content_of, modern=self._modern)
        style = self._options.interrupts
        events: Out = [] if style == "outcome" else interrupt_events(asked, self._at)
        if events and style == "event" and len(open_questions) == 1:
            outcome = None
        return events + self._finish(self._finished(outcome), suspended=asked)

    def _content_of(self, asked: ev.Asked) -> tuple[Content, ...]:
        """What the call in question shows before it runs."""
        call = self._calls.get(getattr(asked.question, "call_id", None) or "")
        return () if call is None else call.content

    # -- the end -----------------------------------------------------------------------------------

    def _turn_finished(self, event: ev.TurnFinished) -> Out:
        usage = usage_of(event.usage)
        if event.stop_reason == "cancelled" and self._modern:
            return self._finish(self._finished({"type": "cancelled"}, usage=usage))
        result = None if event.stop_reason == "end_turn" else {"stopReason": event.stop_reason}
        # An older client knows no such outcome, and would show an error for what the person wanted.
        outcome = None if event.stop_reason == "cancelled" else {"type": "success"}
        return self._finish(self._finished(outcome, result=result, usage=usage))

    def _turn_failed(self, event: ev.TurnFailed) -> Out:
        level = self._options.error_detail_level
        code = code_for(event.code)
        message = event.message if self._options.shows_error_messages else "the run failed"
        metadata = {"trunkline": {"code": event.code, "fault": event.fault}} if level == "full" else None
        return self._finish(
            wire.RunError(
                timestamp=self._at,
                message=message,
                code=None if level == "none" else code,
                usage=usage_of(event.usage) if self._modern else None,
                metadata=metadata if self._modern else None,
            )
        )

    def _finished(
        self, outcome: dict[str, Any] | None, *, result: Any = None, usage: Any = None
    ) -> wire.RunFinished:
        return wire.RunFinished(
            timestamp=self._at,
            thread_id=self._thread_id,
            run_id=self._run_id,
            result=result,
            outcome=outcome,
            usage=usage if self._modern else None,
        )

    def _finish(self, terminal: wire.AguiEvent, suspended: list[ev.Asked] | None = None) -> Out:
        """Close everything, innermost first, and end the run."""
        out: Out = []
        failed = isinstance(terminal, wire.RunError)
        for name, lane in self._lanes.innermost_first():
            out += self._release(name)
            waiting = None if suspended is None else self._lanes.asked_below(name, suspended)
            out += lane.close(self._at, failed=failed, suspended=waiting)
        self._lanes.discard_run()
        self._over = True
        out += self._state.final(self._at)
        if self._resumes and isinstance(terminal, wire.RunError):
            return out + failure_message(terminal, self._finished({"type": "success"}), modern=self._modern)
        return [*out, terminal]

    # -- work and state ----------------------------------------------------------------------------

    def _lane(self, name: str | None) -> tuple[Out, LaneView]:
        return self._lanes.enter(name, self._at)

    def _subagent_started(self, event: ev.SubagentStarted) -> Out:
        return self._lanes.begin(event, self._at)

    def _subagent_finished(self, event: ev.SubagentFinished) -> Out:
        out, lane = self._lane(event.lane)
        out += self._release(event.lane)
        return out if lane.is_finished else out + lane.finish(event, self._at)

    def _step_started(self, event: ev.StepStarted) -> Out:
        shown = self._options.emit_steps
        if shown == "none" or event.kind not in (None, shown):
            return []
        out, lane = self._lane(event.lane)
        return out + lane.start_step(event.step_id, event.name or event.step_id, self._at)

    def _step_finished(self, event: ev.StepFinished) -> Out:
        out: Out = []
        if event.message_id is not None:
            writer = self._views.get(self._owners.get(event.message_id, event.lane))
            out += [] if writer is None else writer.parts.end_message(event.message_id, self._at)
        lane = self._views.get(event.lane)
        return out if lane is None else out + lane.finish_step(event.step_id, self._at)

    def _replaced(self, event: ev.StateReplaced) -> Out:
        return self._state.replace(event, self._at)

    def _patched(self, event: ev.StatePatched) -> Out:
        return self._state.patch(event, self._at)

    def _plan(self, event: ev.Plan) -> Out:
        value = {"entries": [_fields(entry, every=True) for entry in event.entries]}
        return self._show("plan", f"{event.turn_id or self._run_id}:plan", value, event)

    def _activity(self, event: ev.Activity) -> Out:
        if not self._options.emit_activities:
            return []
        return [activity_event(event, self._owners.setdefault(event.activity_id, event.lane), self._at)]

    def _custom(self, event: ev.Custom) -> Out:
        if event.name == "PredictState":
            self._state.predict()
        return [self._named(event.name, event.value, event)]

    def _raw(self, event: ev.Raw) -> Out:
        if not self._options.emit_raw and event.source != ev.APPLICATION:
            return []
        return [
            wire.Raw(timestamp=self._at, subagent_run_id=event.lane, event=event.payload, source=event.source)
        ]

    def _named_event(self, event: Any) -> Out:
        return [self._named(CUSTOM_NAMES[type(event)], _fields(event), event)]

    def _show(self, kind: str, message_id: str, value: dict[str, Any], event: ev.Event) -> Out:
        """Show something that is not text: as an activity, or as a CUSTOM event."""
        if self._options.emit_activities:
            return [activity(message_id, kind.upper(), value, event.lane, self._at)]
        return [self._named(f"trunkline.{kind}", value, event)]

    def _named(self, name: str, value: Any, event: ev.Event) -> wire.Custom:
        return wire.Custom(timestamp=self._at, subagent_run_id=event.lane, name=name, value=value)

    _handlers: ClassVar[dict[type[Any], Callable[[Any, Any], Out]]] = {
        ev.UserMessage: _user,
        ev.Thought: _thought,
        ev.Media: _media,
        ev.Source: _source,
        ev.ToolCall: _call,
        ev.ToolInput: _input,
        ev.ToolUpdate: _update,
        ev.TerminalOutput: _terminal_output,
        ev.Asked: _asked,
        ev.Answered: _answered,
        ev.TurnSuspended: _suspended,
        ev.TurnFinished: _turn_finished,
        ev.TurnFailed: _turn_failed,
        ev.SubagentStarted: _subagent_started,
        ev.SubagentFinished: _subagent_finished,
        ev.StepStarted: _step_started,
        ev.StepFinished: _step_finished,
        ev.StateReplaced: _replaced,
        ev.StatePatched: _patched,
        ev.Plan: _plan,
        ev.Activity: _activity,
        ev.Custom: _custom,
        ev.Raw: _raw,
        ev.Notice: _named_event,
        ev.Compaction: _named_event,
        ev.ContextUsage: _named_event,
        ev.ConfigChanged: _named_event,
        ev.CommandsChanged: _named_event,
        ev.InfoChanged: _named_event,
    }


def _fields(value: Any, *, every: bool = False) -> dict[str, Any]:
    """The fields of an event, without its type, turn, lane and meta."""
    if every:
        return msgspec.structs.asdict(value)
    fields = msgspec.to_builtins(value)
    return {key: item for key, item in fields.items() if key not in ("type", "turn_id", "lane", "meta")}
