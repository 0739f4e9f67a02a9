"""The machine that carries the tables out: makes any stream of events legal."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, ClassVar, NamedTuple, cast

import msgspec

from trunkline import events as ev
from trunkline.grammar.known_ids import KnownCall, KnownIds, keep
from trunkline.grammar.table import IN_TURN, RULES, STATUS_TABLE, TURN_TABLE, Action, Phase

_VIOLATIONS = 100  # How many broken rules are remembered.

_OF_THIS_TURN = (Action.EMIT, Action.RESUME_AND_EMIT, Action.SUSPEND, Action.RESUME, Action.END)


class Violation(NamedTuple):
    """A rule that an agent broke, and where."""

    rule: str
    turn_id: str | None
    subject: str


class Grammar:
    """Makes any stream of events legal; a Translator[Event, Event] for one session."""

    def __init__(self, agent: str = "the agent") -> None:
        """Watch one session; ``agent`` is the name that reports use."""
        self.agent = agent
        self.phase = Phase.IDLE
        self.turn_id: str | None = None
        self.violations: list[Violation] = []
        self.questions: dict[str, ev.Asked] = {}
        """The questions that are open now."""
        self.known_ids = KnownIds()
        """What is known of earlier turns; all there is to know while no turn runs."""
        self._open_calls: dict[str, KnownCall] = {}
        self._lanes: dict[str, bool] = {}
        self._parents: dict[str, str | None] = {}
        self._steps: dict[tuple[str | None, str], None] = {}
        self._compacting: dict[str, None] = {}
        self._reported: set[str] = set()
        # The message and lane of the last text: the next piece of it needs no further check.
        self._flow: tuple[str | None, str, str | None] | None = None

    @property
    def reported(self) -> frozenset[str]:
        """The rules that were broken and reported since the last turn began."""
        return frozenset(self._reported)

    def recall(self, known_ids: KnownIds, turn_id: str | None, reported: Iterable[str]) -> None:
        """Go on after turns that another grammar read; no turn is open."""
        self.known_ids, self.turn_id = known_ids, turn_id
        self._reported = set(reported)

    def feed(self, event: ev.Event, /) -> list[ev.Event]:
        """Take one event and give the legal ones it stands for."""
        if type(event) is ev.Text and event.delta:
            if self._flow == (event.turn_id, event.message_id, event.lane):
                return [event]
            out = self._feed(event)
            last = out[-1] if out else None
            if type(last) is ev.Text and last is event:
                self._flow = (event.turn_id, event.message_id, event.lane)
            return out
        self._flow = None
        return self._feed(event)

    def close(self) -> list[ev.Event]:
        """Fail a turn that did not end."""
        if self.phase is Phase.IDLE:
            return []
        return self.feed(
            ev.TurnFailed(
                turn_id=self.turn_id,
                code="interrupted",
                message="the turn was interrupted before it ended; send the prompt again to retry",
                fault="ours",
            )
        )

    def report(self, rule: str, subject: str = "") -> list[ev.Event]:
        """Tell of a broken rule, once per rule and turn."""
        if rule in self._reported:
            return []
        self._reported.add(rule)
        self.violations.append(Violation(rule, self.turn_id, subject[:200]))
        del self.violations[:-_VIOLATIONS]
        about = f" ({subject[:200]})" if subject else ""
        return [
            ev.Notice(
                turn_id=self.turn_id,
                severity="warning",
                code="agent_protocol",
                title=f"{self.agent} broke the event rules",
                description=f"{RULES[rule]}{about}",
                meta={"rule": rule},
            )
        ]

    # -- the turn ----------------------------------------------------------------------------------

    def _feed(self, event: ev.Event) -> list[ev.Event]:
        action = TURN_TABLE[type(event)][self.phase]
        is_foreign = event.turn_id != self.turn_id and event.turn_id is not None
        if is_foreign and self.phase is not Phase.IDLE and action in _OF_THIS_TURN:
            return self.report("foreign-turn", _name(event))
        match action:
            case Action.EMIT | Action.EMIT_FOR_SESSION:
                return self._check(event)
            case Action.RESUME_AND_EMIT:
                return self._resumed(self._check(event))
            case Action.BEGIN:
                return self._begin(event)
            case Action.RESTART:
                return [] if event.turn_id == self.turn_id else [*self.close(), *self._begin(event)]
            case Action.END:
                return self._end(event)
            case Action.SUSPEND:
                return self._suspend(event)
            case Action.RESUME:
                self.phase = Phase.RUNNING
                return [event]
            case Action.IGNORE:
                return []
            case Action.REJECT:
                known = type(event) is ev.Answered and event.question_id in self.known_ids.asked
                return [] if known else self.report("after-end", _name(event))

    def _resumed(self, out: list[ev.Event]) -> list[ev.Event]:
        """Resume a suspended turn before an event of it."""
        if self.phase is Phase.SUSPENDED and any(TURN_TABLE[type(item)] is IN_TURN for item in out):
            self.phase = Phase.RUNNING
            return [ev.TurnResumed(turn_id=self.turn_id), *out]
        return out

    def _begin(self, event: ev.Event) -> list[ev.Event]:
        self.phase = Phase.RUNNING
        self.turn_id = event.turn_id
        self._lanes.clear()
        self._parents.clear()
        self._reported.clear()
        return [event]

    def _suspend(self, event: Any) -> list[ev.Event]:
        ids = tuple(item for item in event.question_ids if item in self.questions)
        if not ids:
            return self.report("idle-suspension")
        self.phase = Phase.SUSPENDED
        return [event if ids == event.question_ids else msgspec.structs.replace(event, question_ids=ids)]

    def _end(self, event: Any) -> list[ev.Event]:
        cancelled = type(event) is ev.TurnFinished and event.stop_reason == "cancelled"
        failed = type(event) is ev.TurnFailed
        if cancelled:
            reason = "the turn was cancelled"
        elif failed:
            reason = f"the turn failed: {event.message}"
        else:
            reason = "the agent ended its turn without finishing this"
        answers: list[ev.Event] = [
            ev.Answered(
                turn_id=self.turn_id,
                lane=asked.lane,
                question_id=asked.question_id,
                outcome="cancelled",
                reason=reason,
                by="trunkline",
            )
            for asked in self.questions.values()
        ]
        self.questions.clear()
        status, sloppy = "cancelled" if cancelled else "failed", not (cancelled or failed)
        out: list[ev.Event] = []
        for lane in reversed([name for name, is_open in self._lanes.items() if is_open]):
            out += self._close_lane(lane, status, reason, sloppy)
        out += self._close_open_parts(None, status, reason, sloppy)
        out = [*answers, *self._resumed(out), event]
        self.phase = Phase.IDLE
        return out

    def _close_open_parts(self, lane: str | None, status: Any, reason: str, sloppy: bool) -> list[ev.Event]:
        """Close the calls, steps and compactions that a lane left open."""
        out: list[ev.Event] = []
        for call_id, call in [item for item in self._open_calls.items() if item[1].lane == lane]:
            if sloppy:
                out += self.report("unfinished-call", call_id)
            call.status = status
            del self._open_calls[call_id]
            out.append(
                ev.ToolUpdate(turn_id=self.turn_id, lane=lane, call_id=call_id, status=status, reason=reason)
            )
        for step in [step for step in self._steps if step[0] == lane]:
            del self._steps[step]
            out.append(ev.StepFinished(turn_id=self.turn_id, lane=lane, step_id=step[1]))
        if lane is None:
            for compaction_id in self._compacting:
                keep(self.known_ids.compacted, compaction_id, None)
                ended = ev.Compaction(compaction_id=compaction_id, status=status, error=reason)
                out.append(msgspec.structs.replace(ended, turn_id=self.turn_id))
            self._compacting.clear()
        return out

    def _close_lane(self, lane: str, outcome: Any, reason: str, sloppy: bool) -> list[ev.Event]:
        out = self.report("unfinished-lane", lane) if sloppy else []
        out += self._close_open_parts(lane, outcome, reason, sloppy)
        self._lanes[lane] = False
        out.append(ev.SubagentFinished(turn_id=self.turn_id, lane=lane, outcome=outcome, message=reason))
        return out

    # -- the events of a turn ----------------------------------------------------------------------

    def _check(self, event: Any) -> list[ev.Event]:
        out: list[ev.Event] = []
        kind = cast("type[ev.Event]", type(event))
        if event.lane is not None and kind is not ev.SubagentStarted:
            is_open = self._lanes.get(event.lane)
            if is_open is None and TURN_TABLE[kind] is IN_TURN:
                out += self.report("unknown-lane", event.lane)
                out += self._lane_started(
                    ev.SubagentStarted(turn_id=self.turn_id, lane=event.lane, name=event.lane)
                )
            elif is_open is False and TURN_TABLE[kind] is IN_TURN:
                return self.report("closed-lane", event.lane)
        check = self._checks.get(kind)
        if check is None:
            out.append(event)
        else:
            out += check(self, event)
        return out

    def _user(self, event: ev.UserMessage) -> list[ev.Event]:
        owner = self.known_ids.messages.get(event.message_id)
        if owner is not None and owner.person:
            return []
        if owner is not None:
            # The agent has a message of this id: what the person says must not vanish in it.
            message_id = self._renamed(event.message_id)
            return self._user(msgspec.structs.replace(event, message_id=message_id))
        self.known_ids.add_message(event.message_id, self.turn_id, person=True)
        return [event]

    def _piece(self, event: Any) -> list[ev.Event]:
        if not event.delta and getattr(event, "signature", None) is None:
            return []
        return self._in_message(event)

    def _in_message(self, event: Any) -> list[ev.Event]:
        message_id = self._own(event.message_id)
        if message_id != event.message_id:
            event = msgspec.structs.replace(event, message_id=message_id)
        return [event]

    def _renamed(self, name: str) -> str:
        """Give an id that is taken another form, the same one throughout a turn."""
        return f"{name}~{self.turn_id}"

    def _own(self, message_id: str) -> str:
        """Give the id under which this turn may say this message.

        An id of the person's, or of an earlier turn, would append to a message that is over.
        """
        owner = self.known_ids.messages.get(message_id)
        if owner is None:
            self.known_ids.add_message(message_id, self.turn_id)
        elif owner.person or owner.turn_id != self.turn_id:
            return self._own(self._renamed(message_id))
        return message_id

    def _call(self, event: ev.ToolCall) -> list[ev.Event]:
        call_id = self._free_id(event.call_id)
        if self._find(call_id) is not None:
            return []
        if call_id != event.call_id:
            native_id = event.native_id or event.call_id
            event = msgspec.structs.replace(event, call_id=call_id, native_id=native_id)
        if event.message_id is not None:
            message_id = self._own(event.message_id)
            if message_id != event.message_id:
                event = msgspec.structs.replace(event, message_id=message_id)
        call = self._open_calls[call_id] = KnownCall(self.turn_id, event.lane)
        self.known_ids.add_call(call_id, call)
        return [event]

    def _find(self, call_id: str) -> KnownCall | None:
        return self._open_calls.get(call_id) or self.known_ids.calls.get(call_id)

    def _free_id(self, call_id: str) -> str:
        """Give the id under which this turn announces a call.

        Frameworks count their calls anew in every turn: the id stays unique in the session.
        """
        while (call := self._find(call_id)) is not None and call.turn_id != self.turn_id:
            call_id = self._renamed(call_id)
        return call_id

    def _known_id(self, call_id: str) -> str:
        """Give the id of the call that is meant: this turn's, or else one of an earlier turn."""
        free_id = self._free_id(call_id)
        return free_id if self._find(free_id) is not None else call_id

    def _has_ended(self, call_id: str) -> bool:
        """Whether the call that is meant is one of an earlier turn: those are all over."""
        call = self._find(self._known_id(call_id))
        return call is not None and call.turn_id != self.turn_id

    def _named(self, event: Any) -> tuple[list[ev.Event], Any, KnownCall]:
        """Find the call of this turn that an event speaks of; announce one the agent forgot to announce."""
        call_id = self._free_id(event.call_id)
        if call_id != event.call_id:
            event = msgspec.structs.replace(event, call_id=call_id)
        call = self._find(call_id)
        if call is not None:
            return [], event, call
        title = getattr(event, "title", None)
        out = self.report("unknown-call", event.call_id)
        call = ev.ToolCall(call_id=event.call_id, name=title or "unknown", title=title, lane=event.lane)
        out += self._call(msgspec.structs.replace(call, turn_id=self.turn_id))
        return out, event, self._open_calls[event.call_id]

    def _input(self, event: ev.ToolInput) -> list[ev.Event]:
        if self._has_ended(event.call_id):
            return self.report("late-input", event.call_id)
        out, event, call = self._named(event)
        if call.status != "pending":
            return out + self.report("late-input", event.call_id)
        return [*out, event] if event.delta else out

    def _update(self, event: ev.ToolUpdate) -> list[ev.Event]:
        if self._has_ended(event.call_id):
            return self.report("ended-call", event.call_id)
        out, event, call = self._named(event)
        if event.status is not None:
            # A status that only the agent knows is one of a call that still runs.
            status: ev.ToolStatus = event.status if event.status in STATUS_TABLE else "in_progress"
            if status not in STATUS_TABLE[call.status]:
                out += self.report("final-status", event.call_id)
                event = msgspec.structs.replace(event, status=None, reason=None)
            elif status == call.status and call.status in ev.FINAL_STATUSES:
                event = msgspec.structs.replace(event, status=None)
            else:
                call.status = status
                if status in ev.FINAL_STATUSES:
                    del self._open_calls[event.call_id]
        empty = ev.ToolUpdate(turn_id=event.turn_id, lane=event.lane, meta=event.meta, call_id=event.call_id)
        return out if event == empty else [*out, event]

    def _terminal(self, event: ev.TerminalOutput) -> list[ev.Event]:
        if event.terminal_id in self.known_ids.exited:
            return self.report("closed-terminal", event.terminal_id)
        if event.exited:
            keep(self.known_ids.exited, event.terminal_id, None)
        return [event] if event.data or event.exited else []

    def _ask(self, event: ev.Asked) -> list[ev.Event]:
        if event.question_id in self.known_ids.asked:
            return []
        out: list[ev.Event] = []
        call_id = getattr(event.question, "call_id", None)
        if call_id is not None:
            out, named, _ = self._named(
                ev.ToolInput(turn_id=event.turn_id, lane=event.lane, call_id=call_id, delta="")
            )
            if named.call_id != call_id:
                question = msgspec.structs.replace(event.question, call_id=named.call_id)
                event = msgspec.structs.replace(event, question=question)
        keep(self.known_ids.asked, event.question_id, None)
        self.questions[event.question_id] = event
        return [*out, event]

    def _answer(self, event: ev.Answered) -> list[ev.Event]:
        if self.questions.pop(event.question_id, None) is not None:
            return [event]
        known = event.question_id in self.known_ids.asked
        return [] if known else self.report("unknown-question", event.question_id)

    def _step_started(self, event: ev.StepStarted) -> list[ev.Event]:
        if (event.lane, event.step_id) in self._steps:
            return []
        self._steps[event.lane, event.step_id] = None
        return [event]

    def _step_finished(self, event: ev.StepFinished) -> list[ev.Event]:
        if (event.lane, event.step_id) not in self._steps:
            return self.report("unknown-step", event.step_id)
        del self._steps[event.lane, event.step_id]
        return [event] if event.message_id is None else self._in_message(event)

    def _lane_started(self, event: ev.SubagentStarted) -> list[ev.Event]:
        lane, parent, call_id = event.lane, event.parent_lane, event.parent_call_id
        if lane is None:
            return self.report("unknown-lane", "none")
        if lane in self._lanes:
            return []
        out: list[ev.Event] = []
        if parent == lane:
            # A lane below itself would have no end.
            parent = None
        elif parent is not None and parent not in self._lanes:
            out += self.report("unknown-lane", parent)
            out += self._lane_started(ev.SubagentStarted(turn_id=self.turn_id, lane=parent, name=parent))
        if call_id is not None:
            call_id = self._known_id(call_id)
        if (parent, call_id) != (event.parent_lane, event.parent_call_id):
            event = msgspec.structs.replace(event, parent_lane=parent, parent_call_id=call_id)
        self._lanes[lane] = True
        self._parents[lane] = parent
        return [*out, event]

    def _lane_finished(self, event: ev.SubagentFinished) -> list[ev.Event]:
        if event.lane is None:
            return self.report("unknown-lane", "none")
        out: list[ev.Event] = []
        status = "cancelled" if event.outcome == "cancelled" else "failed"
        sloppy = event.outcome == "completed"
        for lane in reversed([name for name, is_open in self._lanes.items() if is_open]):
            if lane != event.lane and self._is_below(lane, event.lane):
                out += self._close_lane(lane, status, "the subagent above it ended", sloppy)
        out += self._close_open_parts(event.lane, status, "the subagent ended without finishing this", sloppy)
        self._lanes[event.lane] = False
        return [*out, event]

    def _is_below(self, lane: str | None, above: str) -> bool:
        while lane is not None:
            lane = self._parents.get(lane)
            if lane == above:
                return True
        return False

    def _notice(self, event: ev.Notice) -> list[ev.Event]:
        # A report that is read back from a journal is not made a second time.
        if event.code == "agent_protocol" and event.meta is not None:
            self._reported |= RULES.keys() & {str(event.meta.get("rule"))}
        return [event]

    def _activity(self, event: ev.Activity) -> list[ev.Event]:
        if event.content is None and event.activity_id not in self.known_ids.activities:
            return self.report("unknown-activity", event.activity_id)
        keep(self.known_ids.activities, event.activity_id, None)
        return [event]

    def _compaction(self, event: ev.Compaction) -> list[ev.Event]:
        if event.compaction_id in self.known_ids.compacted:
            return []
        if event.status == "in_progress":
            self._compacting[event.compaction_id] = None
        else:
            self._compacting.pop(event.compaction_id, None)
            keep(self.known_ids.compacted, event.compaction_id, None)
        return [event]

    def _rewound(self, event: ev.Rewound) -> list[ev.Event]:
        # The ids behind the place are free again: a client may send an edited message under its old id.
        self.known_ids.free_messages(event.to_message_id)
        return [event]

    _checks: ClassVar[dict[type[ev.Event], Callable[[Grammar, Any], list[ev.Event]]]] = {
        ev.UserMessage: _user,
        ev.Text: _piece,
        ev.Thought: _piece,
        ev.Media: _in_message,
        ev.Source: _in_message,
        ev.ToolCall: _call,
        ev.ToolInput: _input,
        ev.ToolUpdate: _update,
        ev.TerminalOutput: _terminal,
        ev.Asked: _ask,
        ev.Answered: _answer,
        ev.StepStarted: _step_started,
        ev.StepFinished: _step_finished,
        ev.SubagentStarted: _lane_started,
        ev.SubagentFinished: _lane_finished,
        ev.Activity: _activity,
        ev.Compaction: _compaction,
        ev.Notice: _notice,
        ev.Rewound: _rewound,
    }


def _name(event: ev.Event) -> str:
    return type(event).__name__
