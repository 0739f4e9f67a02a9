"""The AG-UI encoder: neutral events to AG-UI's, legal in any prefix and closed in order.

Starts are lazy: a message or a call is opened by the first thing said of it, so nothing empty is ever
announced. Everything that is open is per lane, and is closed before the one terminal of the run. An
encoder that is primed with what a client has seen already goes on from there: nothing is said twice.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import msgspec

from trunkline import events as ev
from trunkline.cursor import Entry
from trunkline.frontends.agui import wire
from trunkline.frontends.agui.asking import interrupt_of
from trunkline.frontends.agui.codes import ErrorCode, code_for
from trunkline.frontends.agui.options import AguiOptions
from trunkline.frontends.agui.parts import CallView, LaneView
from trunkline.frontends.agui.results import part_of
from trunkline.patches import PatchError, apply_patch
from trunkline.questions import ClientCall

__all__ = ["LOSSES", "AguiEncoder"]

LOSSES: dict[type[ev.Event], str] = {
    ev.TurnStarted: "the run itself is the start",
    ev.TurnResumed: "the next run shows it",
    ev.PromptQueued: "a second run of a thread is refused (409)",
    ev.PromptDropped: "a second run of a thread is refused (409)",
    ev.Rewound: "a messages snapshot shows the shorter history",
    ev.RunOpened: "the journal's own",
    ev.RunClosed: "the journal's own",
    ev.UserMessage: "the client brought it",
    ev.Answered: "the result of the call shows it",
    ev.TerminalOutput: "the result of the call brings the output",
}
"""Events that this protocol has no form for, and where their meaning goes instead."""

_FINAL = ev.FINAL_STATUSES
_NAMES: dict[type[Any], str] = {
    ev.Notice: "trunkline.notice",
    ev.Compaction: "trunkline.compaction",
    ev.Usage: "trunkline.usage",
    ev.ConfigChanged: "trunkline.config",
    ev.CommandsChanged: "trunkline.commands",
    ev.InfoChanged: "trunkline.info",
}
"""What AG-UI has no event for is a CUSTOM of one of these names."""

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
    ) -> None:
        """Speak in a run; ``modern`` is False for a client older than 1.0.

        ``state`` is the shared state as the client knows it when the run begins.
        """
        self._thread_id = thread_id
        self._run_id = run_id
        self._options = options or AguiOptions()
        self._modern = modern
        self._state: Any = state
        self._state_known = state is not None
        self._state_changed = False
        self._lanes: dict[str | None, LaneView] = {None: LaneView(None)}
        self._calls: dict[str, CallView] = {}
        self._questions: dict[str, ev.Asked] = {}
        self._client_calls: set[str] = set()
        self._over = False
        self._at: int | None = None

    # -- the translator ----------------------------------------------------------------------------

    def begin(self, at: float | None = None, *, parent_run_id: str | None = None, input: Any = None) -> Out:
        """Say that the run starts."""
        self._at = _milliseconds(at)
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

    def feed(self, entry: Entry, /) -> Out:
        """Give what one event is on this wire."""
        event = entry.event
        self._at = int(entry.at * 1000)
        if type(event) is ev.Text:
            return self._text(event)
        handle = self._handlers.get(type(event))
        if handle is None or (event.lane is not None and not self._modern):
            return []
        self._over = False
        return handle(self, event)

    def close(self) -> Out:
        """End a run that got no end: whatever is open is closed, and the client is told."""
        if self._over:
            return []
        error = wire.RunError(
            timestamp=self._at, message="the run was cut off before its end", code=ErrorCode.INTERRUPTED
        )
        return self._finish(error)

    # -- messages ----------------------------------------------------------------------------------

    def _text(self, event: ev.Text) -> Out:
        if event.lane is not None and not self._modern:
            return []
        lane = self._lanes.get(event.lane)
        message_id = event.message_id
        if lane is not None and lane.live and message_id == lane.speaking and not event.meta:
            return [
                wire.TextMessageContent(
                    timestamp=self._at, subagent_run_id=event.lane, message_id=message_id, delta=event.delta
                )
            ]
        if not event.delta:
            return []
        self._over = False
        said, lane = self._lane(event.lane)
        said += lane.say_text(message_id, self._at)
        said.append(
            wire.TextMessageContent(
                timestamp=self._at,
                subagent_run_id=event.lane,
                message_id=message_id,
                delta=event.delta,
                metadata=event.meta if self._modern else None,
            )
        )
        return said

    def _thought(self, event: ev.Thought) -> Out:
        said, lane = self._lane(event.lane)
        return said + lane.think(event.message_id, event.delta, event.signature, self._at)

    def _media(self, event: ev.Media) -> Out:
        value = {"messageId": event.message_id, "part": part_of(event.content)}
        if value["part"] is None:
            value["part"] = msgspec.to_builtins(event.content)
        return self._show("media", f"{event.message_id}:media", value, event)

    def _source(self, event: ev.Source) -> Out:
        return self._show("source", f"{event.message_id}:{event.source_id}", _fields(event), event)

    # -- tools -------------------------------------------------------------------------------------

    def _call(self, event: ev.ToolCall) -> Out:
        said, lane = self._lane(event.lane)
        if event.call_id in self._calls:
            return said
        said += lane.stop_thinking(event.message_id, self._at)
        call = self._calls[event.call_id] = CallView(event.call_id, event.lane)
        about: dict[str, Any] = {"kind": event.kind}
        if event.title is not None:
            about["title"] = event.title
        said.append(
            wire.ToolCallStart(
                timestamp=self._at,
                subagent_run_id=event.lane,
                tool_call_id=event.call_id,
                tool_call_name=event.name,
                parent_message_id=event.message_id,
                metadata={"trunkline": about} if self._modern else None,
            )
        )
        lane.calls[event.call_id] = call
        return said

    def _input(self, event: ev.ToolInput) -> Out:
        call = self._calls.get(event.call_id)
        if call is None or call.ended or not event.delta:
            return []
        said, _ = self._lane(event.lane)
        call.argued = True
        said.append(
            wire.ToolCallArgs(
                timestamp=self._at, subagent_run_id=call.lane, tool_call_id=call.call_id, delta=event.delta
            )
        )
        return said

    def _update(self, event: ev.ToolUpdate) -> Out:
        call = self._calls.get(event.call_id)
        if call is None:
            # A call of an earlier run, which this client was told of then.
            call = self._calls[event.call_id] = CallView(event.call_id, event.lane)
            call.argued = call.ended = True
        said, lane = self._lane(call.lane)
        lane.pause()
        call.take(event)
        if event.status is not None or event.input is not None:
            said += call.end(self._at)
            lane.calls.pop(call.call_id, None)
        if event.output is not None and self._options.emit_activities:
            said += call.show_output(self._at)
        if event.status in _FINAL and not call.answered:
            call.answered = True
            if self._options.emit_tool_results and call.call_id not in self._client_calls:
                said.append(call.result(self._at, self._options.max_ui_payload_size, modern=self._modern))
        return said

    # -- asking ------------------------------------------------------------------------------------

    def _asked(self, event: ev.Asked) -> Out:
        self._questions[event.question_id] = event
        said: Out = []
        if isinstance(event.question, ClientCall):
            call = self._calls.get(event.question.call_id)
            if call is not None:
                call.input = call.input if call.input is not None else event.question.input
                said += call.end(self._at)
                self._lanes[call.lane].calls.pop(call.call_id, None)
        return said

    def _answered(self, event: ev.Answered) -> Out:
        asked = self._questions.pop(event.question_id, None)
        if asked is not None and isinstance(asked.question, ClientCall) and event.outcome == "accepted":
            # The client ran it and has the result.
            self._client_calls.add(asked.question.call_id)
        return []

    def _suspended(self, event: ev.TurnSuspended) -> Out:
        open_questions = [self._questions[key] for key in event.question_ids if key in self._questions]
        pending = [q.question.call_id for q in open_questions if isinstance(q.question, ClientCall)]
        interrupts = [interrupt_of(q) for q in open_questions if not isinstance(q.question, ClientCall)]
        outcome: dict[str, Any]
        if interrupts:
            outcome = {"type": "interrupt", "interrupts": [msgspec.to_builtins(item) for item in interrupts]}
        else:
            outcome = {"type": "success", **({"pendingToolCallIds": pending} if pending else {})}
        if not self._modern and not interrupts:
            outcome = {"type": "success"}
        return self._finish(self._finished(outcome), suspended=[item.id for item in interrupts])

    # -- the end -----------------------------------------------------------------------------------

    def _turn_finished(self, event: ev.TurnFinished) -> Out:
        usage = _usage(event.usage)
        if event.stop_reason == "cancelled":
            if not self._modern:
                error = wire.RunError(
                    timestamp=self._at, message="the run was cancelled", code=ErrorCode.CANCELLED
                )
                return self._finish(error)
            return self._finish(self._finished({"type": "cancelled"}, usage=usage))
        result = None if event.stop_reason == "end_turn" else {"stopReason": event.stop_reason}
        return self._finish(self._finished({"type": "success"}, result=result, usage=usage))

    def _turn_failed(self, event: ev.TurnFailed) -> Out:
        level = self._options.error_detail_level
        code = code_for(event.code)
        message = event.message if level in ("full", "message") else "the run failed"
        metadata = {"trunkline": {"code": event.code, "fault": event.fault}} if level == "full" else None
        return self._finish(
            wire.RunError(
                timestamp=self._at,
                message=message,
                code=None if level == "none" else code,
                usage=_usage(event.usage) if self._modern else None,
                metadata=metadata if self._modern else None,
            )
        )

    def _finished(
        self, outcome: dict[str, Any], *, result: Any = None, usage: Any = None
    ) -> wire.RunFinished:
        return wire.RunFinished(
            timestamp=self._at,
            thread_id=self._thread_id,
            run_id=self._run_id,
            result=result,
            outcome=outcome,
            usage=usage if self._modern else None,
        )

    def _finish(self, terminal: wire.AguiEvent, suspended: list[str] | None = None) -> Out:
        """Close everything, innermost first, and end the run."""
        said: Out = []
        for lane in reversed(self._lanes.values()):
            said += lane.close(self._at, failed=isinstance(terminal, wire.RunError), suspended=suspended)
        if self._options.emit_state_snapshots == "final" and self._state_changed:
            said.append(wire.StateSnapshot(timestamp=self._at, snapshot=self._state))
            self._state_changed = False
        self._over = True
        return [*said, terminal]

    # -- work and state ----------------------------------------------------------------------------

    def _lane(self, name: str | None) -> tuple[Out, LaneView]:
        """Find a lane; one that was closed with an earlier run is opened again."""
        lane = self._lanes.get(name)
        if lane is None:
            lane = self._lanes[name] = LaneView(name)
        return lane.open(self._at), lane

    def _subagent_started(self, event: ev.SubagentStarted) -> Out:
        said: Out = []
        if event.parent_lane is not None:
            said, _ = self._lane(event.parent_lane)
        lane = self._lanes[event.lane] = LaneView(event.lane, event)
        return said + lane.open(self._at)

    def _subagent_finished(self, event: ev.SubagentFinished) -> Out:
        lane = self._lanes.pop(event.lane, None)
        return [] if lane is None else lane.finish(event, self._at)

    def _step_started(self, event: ev.StepStarted) -> Out:
        said, lane = self._lane(event.lane)
        return said + lane.start_step(event.step_id, event.name or event.step_id, self._at)

    def _step_finished(self, event: ev.StepFinished) -> Out:
        lane = self._lanes.get(event.lane)
        return [] if lane is None else lane.finish_step(event.step_id, self._at)

    def _replaced(self, event: ev.StateReplaced) -> Out:
        if self._state_known and event.state == self._state:
            return []
        self._state, self._state_known, self._state_changed = event.state, True, True
        if self._options.emit_state_snapshots in ("none", "final"):
            return []
        return [wire.StateSnapshot(timestamp=self._at, snapshot=event.state)]

    def _patched(self, event: ev.StatePatched) -> Out:
        try:
            self._state = apply_patch(self._state, event.patch)
        except PatchError:
            self._state_known = False
        self._state_changed = True
        mode = self._options.emit_state_snapshots
        if mode in ("none", "final"):
            return []
        whole = self._state_known and (
            mode == "all" or len(wire.encode(self._state)) < len(wire.encode(event.patch))
        )
        if whole:
            return [wire.StateSnapshot(timestamp=self._at, snapshot=self._state)]
        return [wire.StateDelta(timestamp=self._at, delta=event.patch)]

    def _plan(self, event: ev.Plan) -> Out:
        value = {"entries": [_fields(entry, every=True) for entry in event.entries]}
        return self._show("plan", f"{event.turn_id or self._run_id}:plan", value, event)

    def _activity(self, event: ev.Activity) -> Out:
        if not self._options.emit_activities:
            return []
        if event.patch is not None:
            return [
                wire.ActivityDelta(
                    timestamp=self._at,
                    subagent_run_id=event.lane,
                    message_id=event.activity_id,
                    activity_type=event.activity_type,
                    patch=event.patch,
                )
            ]
        return [
            wire.ActivitySnapshot(
                timestamp=self._at,
                subagent_run_id=event.lane,
                message_id=event.activity_id,
                activity_type=event.activity_type,
                content=event.content or {},
            )
        ]

    def _custom(self, event: ev.Custom) -> Out:
        return [self._named(event.name, event.value, event)]

    def _raw(self, event: ev.Raw) -> Out:
        if not self._options.emit_raw:
            return []
        return [
            wire.Raw(timestamp=self._at, subagent_run_id=event.lane, event=event.payload, source=event.source)
        ]

    def _told(self, event: Any) -> Out:
        return [self._named(_NAMES[type(event)], _fields(event), event)]

    def _show(self, kind: str, message_id: str, value: dict[str, Any], event: ev.Event) -> Out:
        """Show something that is not text: as an activity, or by name to whoever looks for it."""
        if self._options.emit_activities:
            said, _ = self._lane(event.lane)
            return [
                *said,
                wire.ActivitySnapshot(
                    timestamp=self._at,
                    subagent_run_id=event.lane,
                    message_id=message_id,
                    activity_type=kind.upper(),
                    content=value,
                ),
            ]
        return [self._named(f"trunkline.{kind}", value, event)]

    def _named(self, name: str, value: Any, event: ev.Event) -> wire.Custom:
        lane = event.lane if event.lane in self._lanes else None
        return wire.Custom(timestamp=self._at, subagent_run_id=lane, name=name, value=value)

    _handlers: ClassVar[dict[type[Any], Callable[[Any, Any], Out]]] = {
        ev.Thought: _thought,
        ev.Media: _media,
        ev.Source: _source,
        ev.ToolCall: _call,
        ev.ToolInput: _input,
        ev.ToolUpdate: _update,
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
        ev.Notice: _told,
        ev.Compaction: _told,
        ev.Usage: _told,
        ev.ConfigChanged: _told,
        ev.CommandsChanged: _told,
        ev.InfoChanged: _told,
    }


def _milliseconds(at: float | None) -> int | None:
    return None if at is None else int(at * 1000)


def _fields(value: Any, *, every: bool = False) -> dict[str, Any]:
    """The fields of a value of ours, without those that say where it belongs."""
    if every:
        return msgspec.structs.asdict(value)
    told = msgspec.to_builtins(value)
    return {key: item for key, item in told.items() if key not in ("type", "turn_id", "lane", "meta")}


def _usage(spent: tuple[ev.TokenUsage, ...]) -> tuple[wire.TokenUsage, ...] | None:
    return (
        tuple(
            wire.TokenUsage(
                provider=usage.provider,
                model=usage.model,
                input_tokens=usage.input_tokens,
                output_tokens=usage.output_tokens,
                total_tokens=usage.input_tokens + usage.output_tokens,
                reasoning_tokens=usage.reasoning_tokens or None,
                cached_input_tokens=usage.cached_input_tokens or None,
                cache_write_input_tokens=usage.cache_write_tokens or None,
            )
            for usage in spent
        )
        or None
    )
