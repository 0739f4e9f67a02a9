"""What is legal, written down a second time: simple, slow, and without the grammar's own tables."""

from typing import Any, cast

from trunkline import events as ev

OF_ANY_TURN = (ev.PromptQueued, ev.PromptDropped, ev.Rewound, ev.RunOpened, ev.RunClosed)
ANYTIME = (
    *OF_ANY_TURN, ev.Notice, ev.ConfigChanged, ev.CommandsChanged, ev.InfoChanged, ev.ContextUsage, ev.Custom,
    ev.Raw,
)  # fmt: skip
ALSO_WHILE_SUSPENDED = (ev.UserMessage, ev.Answered, ev.TurnResumed, ev.TurnFinished, ev.TurnFailed)
SPOKEN = (ev.Text, ev.Thought, ev.Media, ev.Source)
NEXT = {
    "pending": {"pending", "in_progress", "completed", "failed", "denied", "cancelled"},
    "in_progress": {"in_progress", "completed", "failed", "denied", "cancelled"},
}


def breaches(events: list[ev.Event], *, ended: bool) -> list[str]:
    """Give a sentence for each rule that a stream breaks; ``ended`` if nothing may be left open."""
    judge = _Judge()
    for number, event in enumerate(events):
        judge.number = number
        judge.hear(event)
    if ended and judge.phase != "idle":
        judge.object("the stream ends inside a turn")
    return judge.found


class _Judge:
    def __init__(self) -> None:
        self.found: list[str] = []
        self.number = 0
        self.phase = "idle"
        self.turn_id: str | None = None
        self.statuses: dict[str, str] = {}
        self.call_lanes: dict[str, str | None] = {}
        self.call_turns: dict[str, str | None] = {}
        self.open_questions: set[str] = set()
        self.questions: set[str] = set()
        self.lanes: dict[str, bool] = {}
        self.parents: dict[str, str | None] = {}
        self.steps: set[tuple[str | None, str]] = set()
        self.compactions: dict[str, str] = {}
        self.activities: set[str] = set()
        self.exited: set[str] = set()
        self.speakers: dict[str, str] = {}

    def object(self, sentence: str) -> None:
        self.found.append(f"{self.number}: {sentence}")

    def expect(self, fine: bool, sentence: str) -> None:
        if not fine:
            self.object(sentence)

    def hear(self, event: Any) -> None:
        kind = cast("type[ev.Event]", type(event))
        if kind is ev.TurnStarted:
            self.expect(self.phase == "idle", "a turn starts inside a turn")
            self.phase, self.turn_id = "running", event.turn_id
            self.lanes.clear()
            return
        if self.phase != "idle" and kind not in OF_ANY_TURN:
            self.expect(event.turn_id in (None, self.turn_id), "it belongs to another turn")
        if kind not in ANYTIME:
            self.expect(self.phase != "idle", f"{kind.__name__} outside of a turn")
            if kind not in ALSO_WHILE_SUSPENDED:
                self.expect(self.phase != "suspended", f"{kind.__name__} while suspended")
                if event.lane is not None and kind is not ev.SubagentStarted:
                    self.expect(self.lanes.get(event.lane, False), f"lane {event.lane} is not open")
        check = getattr(self, f"on_{kind.__struct_config__.tag}", None)
        if check is not None:
            check(event)
        if kind in SPOKEN:
            self.speak(event.message_id)

    def speak(self, message_id: str) -> None:
        speaker = self.speakers.setdefault(message_id, f"turn {self.turn_id}")
        self.expect(speaker == f"turn {self.turn_id}", f"message {message_id} belongs to {speaker}")

    # -- the turn --

    def on_turn_suspended(self, event: ev.TurnSuspended) -> None:
        self.expect(bool(event.question_ids), "suspended without a question")
        self.expect(set(event.question_ids) <= self.open_questions, "suspended for a closed question")
        self.phase = "suspended"

    def on_turn_resumed(self, event: ev.TurnResumed) -> None:
        self.expect(self.phase == "suspended", "resumed without being suspended")
        self.phase = "running"

    def on_turn_finished(self, event: ev.Event) -> None:
        open_calls = [c for c, status in self.statuses.items() if status in NEXT]
        self.expect(not open_calls, f"the turn ends with calls {open_calls}")
        self.expect(not self.open_questions, f"the turn ends with questions {self.open_questions}")
        self.expect(not any(self.lanes.values()), f"the turn ends with lanes {self.lanes}")
        self.expect(not self.steps, f"the turn ends with steps {self.steps}")
        self.expect("in_progress" not in self.compactions.values(), "the turn ends while compacting")
        self.phase = "idle"

    on_turn_failed = on_turn_finished

    # -- messages --

    def on_user_message(self, event: ev.UserMessage) -> None:
        self.expect(event.message_id not in self.speakers, f"message {event.message_id} is taken")
        self.speakers[event.message_id] = "the person"

    def on_text(self, event: ev.Text) -> None:
        self.expect(event.delta != "", "an empty text")

    def on_thought(self, event: ev.Thought) -> None:
        self.expect(event.delta != "" or event.signature is not None, "an empty thought")

    def on_rewound(self, event: ev.Rewound) -> None:
        ids = list(self.speakers)
        if event.to_message_id is None:
            self.speakers.clear()
        elif event.to_message_id in ids:
            for message_id in ids[ids.index(event.to_message_id) + 1 :]:
                del self.speakers[message_id]

    # -- tools --

    def on_tool_call(self, event: ev.ToolCall) -> None:
        self.expect(event.call_id not in self.statuses, f"call {event.call_id} is announced twice")
        self.statuses[event.call_id] = "pending"
        self.call_lanes[event.call_id] = event.lane
        self.call_turns[event.call_id] = self.turn_id
        if event.message_id is not None:
            self.speak(event.message_id)

    def on_tool_input(self, event: ev.ToolInput) -> None:
        self.expect(self.statuses.get(event.call_id) == "pending", f"input for {event.call_id}")
        self.expect(event.delta != "", "an empty input")

    def on_tool_update(self, event: ev.ToolUpdate) -> None:
        before = self.statuses.get(event.call_id)
        self.expect(before is not None, f"an update of the unknown call {event.call_id}")
        of_this_turn = self.call_turns.get(event.call_id) == self.turn_id
        self.expect(of_this_turn, f"an update of {event.call_id}, which is of an earlier turn")
        if event.status is not None and before is not None:
            self.expect(event.status in NEXT.get(before, ()), f"{event.status} after {before}")
            self.statuses[event.call_id] = event.status

    def on_terminal_output(self, event: ev.TerminalOutput) -> None:
        self.expect(event.terminal_id not in self.exited, "output of an exited terminal")
        if event.exited:
            self.exited.add(event.terminal_id)

    # -- asking --

    def on_asked(self, event: ev.Asked) -> None:
        self.expect(event.question_id not in self.questions, f"{event.question_id} is asked twice")
        call_id = event.question.call_id
        of_this_turn = call_id is None or self.call_turns.get(call_id, ...) == self.turn_id
        self.expect(of_this_turn, f"asked about call {call_id}, which is not of this turn")
        self.questions.add(event.question_id)
        self.open_questions.add(event.question_id)

    def on_answered(self, event: ev.Answered) -> None:
        self.expect(event.question_id in self.open_questions, f"{event.question_id} is not open")
        self.open_questions.discard(event.question_id)

    # -- work --

    def on_step_started(self, event: ev.StepStarted) -> None:
        self.expect((event.lane, event.step_id) not in self.steps, f"step {event.step_id} is open")
        self.steps.add((event.lane, event.step_id))

    def on_step_finished(self, event: ev.StepFinished) -> None:
        self.expect((event.lane, event.step_id) in self.steps, f"step {event.step_id} is not open")
        self.steps.discard((event.lane, event.step_id))

    def on_subagent_started(self, event: ev.SubagentStarted) -> None:
        lane = event.lane
        if lane is None:
            self.object("a subagent without a lane")
            return
        self.expect(lane not in self.lanes, f"lane {lane} is announced twice")
        self.expect(event.parent_lane in (None, *self.lanes), f"lane {event.parent_lane} is unknown")
        self.lanes[lane] = True
        self.parents[lane] = event.parent_lane

    def on_subagent_finished(self, event: ev.SubagentFinished) -> None:
        lane = event.lane
        if lane is None:
            self.object("the end of no subagent")
            return
        self.lanes[lane] = False
        below = [child for child, is_open in self.lanes.items() if is_open and self.parents[child] == lane]
        self.expect(not below, f"lane {lane} ends before {below}")
        calls = [c for c, status in self.statuses.items() if status in NEXT and self.call_lanes[c] == lane]
        self.expect(not calls, f"lane {lane} ends with calls {calls}")
        self.expect(all(step[0] != lane for step in self.steps), f"lane {lane} ends with an open step")

    def on_activity(self, event: ev.Activity) -> None:
        fine = event.content is not None or event.activity_id in self.activities
        self.expect(fine, "a patch of an unknown activity")
        self.activities.add(event.activity_id)

    def on_compaction(self, event: ev.Compaction) -> None:
        before = self.compactions.get(event.compaction_id, "in_progress")
        self.expect(before == "in_progress", "a finished compaction changes")
        self.compactions[event.compaction_id] = event.status
