"""Legal sessions together with what they mean, written without the grammar and without the fold."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import msgspec
from hypothesis import strategies as st

from trunkline import events as ev
from trunkline import questions as qu
from trunkline.content import TextBlock
from trunkline.conversation import CallPart, Conversation, MediaPart, SourcePart, TextPart, ThoughtPart
from trunkline.grammar import Grammar, Phase

T = TypeVar("T")

_PIECES = st.text(alphabet="ab é😀\n", min_size=1, max_size=5)
_DELTAS: dict[type[ev.Event], tuple[str, str]] = {
    ev.Text: ("message_id", "delta"),
    ev.Thought: ("message_id", "delta"),
    ev.ToolInput: ("call_id", "delta"),
    ev.TerminalOutput: ("terminal_id", "data"),
}


@dataclass
class Meaning:
    """What a session comes down to, in plain values."""

    messages: dict[str, tuple[str, str | None, list[Any]]] = field(
        default_factory=dict[str, tuple[str, str | None, list[Any]]]
    )
    calls: dict[str, dict[str, Any]] = field(default_factory=dict[str, dict[str, Any]])
    turns: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    questions: dict[str, str | None] = field(default_factory=dict[str, "str | None"])
    lanes: dict[str, str | None] = field(default_factory=dict[str, "str | None"])
    steps: dict[str, bool] = field(default_factory=dict[str, bool])
    terminals: dict[str, tuple[str, int | None]] = field(default_factory=dict[str, "tuple[str, int | None]"])
    activities: dict[str, dict[str, Any]] = field(default_factory=dict[str, dict[str, Any]])
    compactions: dict[str, str] = field(default_factory=dict[str, str])
    plan: list[str] = field(default_factory=list[str])
    state: Any = None
    title: str | None = None
    notices: list[str] = field(default_factory=list[str])


def meaning_of(folded: Conversation) -> Meaning:
    """Read a folded conversation as a Meaning."""
    return Meaning(
        messages={m.message_id: (m.role, m.lane, _parts(m) or [m.text]) for m in folded.messages},
        calls={
            call.call_id: {
                "status": call.status,
                "arguments": call.arguments,
                "output": call.output,
                "input": call.input,
                "title": call.title,
                "turn": call.turn_id,
                "message": call.message_id,
            }
            for call in folded.calls.values()
        },
        turns=[(turn.turn_id, turn.code or turn.stop_reason or turn.status) for turn in folded.turns],
        questions={key: q.answered and q.answered.outcome for key, q in folded.questions.items()},
        lanes={name: lane.outcome for name, lane in folded.lanes.items()},
        steps=dict(folded.steps),
        terminals={name: (t.data, t.exit_code if t.exited else None) for name, t in folded.terminals.items()},
        activities=dict(folded.activities),
        compactions={name: compaction.status for name, compaction in folded.compactions.items()},
        plan=[entry.content for entry in folded.plan],
        state=folded.state,
        title=folded.title,
        notices=[notice.title for notice in folded.notices],
    )


def _parts(message: Any) -> list[Any]:
    read: list[Any] = []
    for number, part in enumerate(message.parts):
        assert part.part_id == f"{message.message_id}:{number}"
        match part:
            case TextPart():
                read.append(("text", part.text))
            case ThoughtPart():
                read.append(("thought", part.text, part.signature))
            case MediaPart():
                read.append(("media", part.content))
            case SourcePart():
                read.append(("source", part.source_id))
            case CallPart():
                read.append(("call", part.call_id))
            case _:
                raise AssertionError(part)
    return read


class LegalSession:
    """A session that is told event by event; every act is legal where it is played."""

    def __init__(self, draw: Callable[[st.SearchStrategy[Any]], Any]) -> None:
        """Begin with nothing said."""
        self.draw = draw
        self.events: list[ev.Event] = []
        self.meant = Meaning()
        self.count = 0
        self.turn_id = ""
        self.speaking: dict[str | None, str] = {}
        self.calls: dict[str, str | None] = {}
        self.lanes: dict[str, str | None] = {}
        self.steps: dict[str, str | None] = {}
        self.terminals: dict[str, str] = {}
        self.compactions: list[str] = []
        self.questions: list[str] = []

    # -- how it is told --

    def pick(self, choices: Sequence[T]) -> T:
        return self.draw(st.sampled_from(choices))

    def new(self, letter: str) -> str:
        self.count += 1
        return f"{letter}{self.count}"

    def say(self, kind: type[ev.Event], **fields: Any) -> None:
        self.events.append(kind(turn_id=self.turn_id, **fields))

    def lane(self) -> str | None:
        return self.pick([None, *self.lanes])

    def message(self, lane: str | None) -> tuple[str, list[Any]]:
        if lane not in self.speaking or self.pick(range(4)) == 0:
            self.speaking[lane] = self.new("m")
        message_id = self.speaking[lane]
        return message_id, self.meant.messages.setdefault(message_id, ("agent", lane, []))[2]

    def run(self, number: int) -> None:
        """Play one turn."""
        self.turn_id = f"t{number}"
        self.meant.turns.append((self.turn_id, "running"))
        self.say(ev.TurnStarted)
        asked = self.new("u")
        self.say(ev.UserMessage, message_id=asked, content=(TextBlock(text=asked),))
        self.meant.messages[asked] = ("user", None, [asked])
        acts = st.sampled_from(_ACTS)
        for act in self.draw(st.lists(acts, max_size=4) | st.lists(acts, min_size=8, max_size=20)):
            act(self)
        self.end()
        if self.pick(range(4)) == 0:
            self.rewind()

    def end(self) -> None:
        """Leave nothing open, and finish, give up or fail."""
        ending = self.pick(["end_turn", "refusal", "cancelled", "broken"])
        final = "cancelled" if ending == "cancelled" else "completed"
        while self.questions:
            self.answer("cancelled")
        for lane in reversed(list(self.lanes)):
            self.finish_lane(lane, final)
        for call_id in list(self.calls):
            self.finish_call(call_id, final)
        for step_id in list(self.steps):
            self.finish_step(step_id)
        for compaction_id in self.compactions:
            self.say(ev.Compaction, compaction_id=compaction_id, status="completed")
            self.meant.compactions[compaction_id] = "completed"
        self.compactions.clear()
        self.speaking.clear()
        if ending == "broken":
            self.say(ev.TurnFailed, code=ending, message="it broke")
        else:
            self.say(ev.TurnFinished, stop_reason=ending)
        self.meant.turns[-1] = (self.turn_id, ending)

    def rewind(self) -> None:
        """Go back to a message, or to the beginning."""
        messages = self.meant.messages
        to = self.pick([None, *messages])
        self.events.append(ev.Rewound(to_message_id=to))
        ids = list(messages)
        for message_id in ids if to is None else ids[ids.index(to) + 1 :]:
            del messages[message_id]
        # A turn is gone when what the person said in it is.
        left = {e.turn_id for e in self.events if isinstance(e, ev.UserMessage) and e.message_id in messages}
        for call_id, call in list(self.meant.calls.items()):
            message_id = call["message"]
            if call["turn"] not in left if message_id is None else message_id not in messages:
                del self.meant.calls[call_id]

    # -- what can happen in a turn --

    def text(self) -> None:
        lane, piece = self.lane(), self.draw(_PIECES)
        message_id, parts = self.message(lane)
        self.say(ev.Text, lane=lane, message_id=message_id, delta=piece)
        if parts and parts[-1][0] == "text":
            parts[-1] = ("text", parts[-1][1] + piece)
        else:
            parts.append(("text", piece))

    def steer(self) -> None:
        said, prompt_id = self.new("u"), self.new("k")
        if self.pick([True, False]):
            self.say(ev.PromptQueued, prompt_id=prompt_id, content=(TextBlock(text=said),))
        content = (TextBlock(text=said),)
        self.say(ev.UserMessage, message_id=said, content=content, prompt_id=prompt_id)
        self.meant.messages[said] = ("user", None, [said])
        self.speaking.pop(None, None)  # What the agent says now, it says after this.

    def thought(self) -> None:
        lane, piece = self.lane(), self.draw(_PIECES)
        signature = self.pick([None, None, "sealed"])
        message_id, parts = self.message(lane)
        self.say(ev.Thought, lane=lane, message_id=message_id, delta=piece, signature=signature)
        if parts and parts[-1][0] == "thought" and parts[-1][2] is None:
            parts[-1] = ("thought", parts[-1][1] + piece, signature)
        else:
            parts.append(("thought", piece, signature))

    def media(self) -> None:
        lane, block = self.lane(), TextBlock(text=self.draw(_PIECES))
        message_id, parts = self.message(lane)
        self.say(ev.Media, lane=lane, message_id=message_id, content=block)
        parts.append(("media", block))

    def source(self) -> None:
        lane, source_id = self.lane(), self.new("s")
        message_id, parts = self.message(lane)
        self.say(ev.Source, lane=lane, message_id=message_id, source_id=source_id)
        parts.append(("source", source_id))

    def call(self) -> None:
        lane, call_id, message_id = self.lane(), self.new("c"), None
        if self.pick([True, False]):
            message_id, parts = self.message(lane)
            parts.append(("call", call_id))
        self.say(ev.ToolCall, lane=lane, call_id=call_id, name="tool", message_id=message_id)
        self.calls[call_id] = lane
        self.meant.calls[call_id] = {
            "status": "pending", "arguments": "", "output": "", "input": None, "title": None,
            "turn": self.turn_id, "message": message_id,
        }  # fmt: skip

    def argue(self) -> None:
        waiting = [c for c in self.calls if self.meant.calls[c]["status"] == "pending"]
        if waiting:
            call_id, piece = self.pick(waiting), self.draw(_PIECES)
            self.say(ev.ToolInput, lane=self.calls[call_id], call_id=call_id, delta=piece)
            self.meant.calls[call_id]["arguments"] += piece

    def work(self) -> None:
        if self.calls:
            call_id, piece = self.pick(list(self.calls)), self.draw(_PIECES)
            lane, call = self.calls[call_id], self.meant.calls[call_id]
            call |= {"status": "in_progress", "title": piece, "input": [piece]}
            call["output"] += piece
            self.say(
                ev.ToolUpdate, lane=lane, call_id=call_id, status="in_progress", title=piece, output=piece,
                input=[piece],
            )  # fmt: skip

    def result(self) -> None:
        if self.calls:
            self.finish_call(self.pick(list(self.calls)), self.pick(["completed", "failed", "denied"]))

    def finish_call(self, call_id: str, status: str) -> None:
        self.say(ev.ToolUpdate, lane=self.calls.pop(call_id), call_id=call_id, status=status)
        self.meant.calls[call_id]["status"] = status

    def terminal(self) -> None:
        lane, piece = self.lane(), self.draw(_PIECES)
        terminal_id = self.pick([*self.terminals, self.new("x")])
        exited = self.pick([False, False, True])
        code = 3 if exited else None
        self.say(
            ev.TerminalOutput, lane=lane, terminal_id=terminal_id, data=piece, exited=exited, exit_code=code
        )
        self.terminals[terminal_id] = data = self.terminals.get(terminal_id, "") + piece
        self.meant.terminals[terminal_id] = (data, code)
        if exited:
            del self.terminals[terminal_id]

    def ask(self) -> None:
        lane, question_id = self.lane(), self.new("q")
        question: qu.Question = qu.Form(fields={})
        if self.calls:
            call_id = self.pick(list(self.calls))
            question = self.pick([qu.Permission(call_id=call_id), qu.ClientCall(call_id=call_id), question])
        self.say(ev.Asked, lane=lane, question_id=question_id, question=question)
        self.questions.append(question_id)
        self.meant.questions[question_id] = None

    def answer(self, outcome: str = "accepted") -> None:
        if self.questions:
            question_id = self.questions.pop(self.pick(range(len(self.questions))))
            self.say(ev.Answered, question_id=question_id, outcome=outcome)
            self.meant.questions[question_id] = outcome

    def wait(self) -> None:
        if self.questions:
            self.say(ev.TurnSuspended, question_ids=tuple(self.questions))
            self.pick([self.note, self.answer])()
            self.answer()
            self.say(ev.TurnResumed)

    def delegate(self) -> None:
        parent, lane = self.lane(), self.new("l")
        self.say(ev.SubagentStarted, lane=lane, name=lane, parent_lane=parent)
        self.lanes[lane] = parent
        self.meant.lanes[lane] = None

    def report(self) -> None:
        leaves = [lane for lane in self.lanes if lane not in self.lanes.values()]
        if leaves:
            self.finish_lane(self.pick(leaves), self.pick(["completed", "failed", "cancelled"]))

    def finish_lane(self, lane: str, outcome: str) -> None:
        for call_id in [c for c, where in self.calls.items() if where == lane]:
            self.finish_call(call_id, outcome)
        for step_id in [s for s, where in self.steps.items() if where == lane]:
            self.finish_step(step_id)
        self.say(ev.SubagentFinished, lane=lane, outcome=outcome)
        del self.lanes[lane]
        self.speaking.pop(lane, None)
        self.meant.lanes[lane] = outcome

    def step(self) -> None:
        if self.steps and self.pick([True, False]):
            self.finish_step(self.pick(list(self.steps)))
        else:
            lane, step_id = self.lane(), self.new("p")
            self.say(ev.StepStarted, lane=lane, step_id=step_id)
            self.steps[step_id] = lane
            self.meant.steps[step_id] = False

    def finish_step(self, step_id: str) -> None:
        self.say(ev.StepFinished, lane=self.steps.pop(step_id), step_id=step_id)
        self.meant.steps[step_id] = True

    def compact(self) -> None:
        compaction_id = self.new("k")
        self.say(ev.Compaction, compaction_id=compaction_id, status="in_progress")
        self.compactions.append(compaction_id)
        self.meant.compactions[compaction_id] = "in_progress"

    def plan(self) -> None:
        self.meant.plan = self.draw(st.lists(_PIECES, max_size=2))
        entries = tuple(ev.PlanEntry(content=line) for line in self.meant.plan)
        self.say(ev.Plan, lane=self.lane(), entries=entries)

    def remember(self) -> None:
        key, value = self.pick(["a", "b"]), self.pick([1, True, ["x"]])
        before = self.meant.state
        self.meant.state = {**(before or {}), key: value}
        if before is None:
            self.say(ev.StateReplaced, state=self.meant.state)
        else:
            self.say(ev.StatePatched, patch=({"op": "add", "path": f"/{key}", "value": value},))

    def show(self) -> None:
        activity_id, value = self.pick(["v1", "v2"]), self.draw(_PIECES)
        fields: dict[str, Any] = {"content": {"x": value}}
        if activity_id in self.meant.activities:
            fields = {"patch": ({"op": "replace", "path": "/x", "value": value},)}
        self.say(ev.Activity, lane=self.lane(), activity_id=activity_id, activity_type="t", **fields)
        self.meant.activities[activity_id] = {"x": value}

    def note(self) -> None:
        title = self.draw(_PIECES)
        self.say(ev.Notice, title=title)
        self.say(ev.InfoChanged, title=title)
        self.say(ev.Custom, name="n", value=json.loads("[1]"))
        self.meant.notices.append(title)
        self.meant.title = title


_ACTS: list[Callable[[LegalSession], None]] = [
    LegalSession.text, LegalSession.text, LegalSession.thought, LegalSession.media, LegalSession.source,
    LegalSession.call, LegalSession.call, LegalSession.argue, LegalSession.argue, LegalSession.work,
    LegalSession.result, LegalSession.terminal, LegalSession.ask, LegalSession.answer, LegalSession.wait,
    LegalSession.delegate, LegalSession.report, LegalSession.step, LegalSession.compact,
    LegalSession.plan, LegalSession.remember, LegalSession.show, LegalSession.note, LegalSession.steer,
]  # fmt: skip


@st.composite
def legal_sessions(draw: st.DrawFn) -> LegalSession:
    """Give a well-formed session of up to three turns."""
    story = LegalSession(draw)
    for number in range(draw(st.integers(1, 3))):
        story.run(number)
    return story


# -- the same stream in other pieces ---------------------------------------------------------------


@st.composite
def rechunked(draw: st.DrawFn, events: list[ev.Event]) -> list[ev.Event]:
    """Give the stream with its deltas cut and joined at other places."""
    pieces: list[Any] = []
    for event in events:
        pieces += _cut(event, draw(st.integers(0, 5))) if draw(st.booleans()) else [event]
    joined = pieces[:1]
    for event in pieces[1:]:
        if draw(st.booleans()) and _continues(joined[-1], event):
            field = _DELTAS[type(event)][1]
            both = getattr(joined[-1], field) + getattr(event, field)
            joined[-1] = msgspec.structs.replace(event, **{field: both})
        else:
            joined.append(event)
    return joined


def _cut(event: Any, at: int) -> list[ev.Event]:
    if type(event) not in _DELTAS:
        return [event]
    field = _DELTAS[type(event)][1]
    text = getattr(event, field)
    head = msgspec.structs.replace(event, **{field: text[:at], **_unfinished(event)})
    return [head, msgspec.structs.replace(event, **{field: text[at:]})]


def _continues(first: Any, second: Any) -> bool:
    if type(first) is not type(second) or type(first) not in _DELTAS:
        return False
    name = _DELTAS[type(first)][0]
    return (
        getattr(first, name) == getattr(second, name)
        and first.lane == second.lane
        and msgspec.structs.replace(first, **_unfinished(first)) == first
    )


def _unfinished(event: Any) -> dict[str, Any]:
    # The seal of a thought and the exit of a terminal belong to the last piece.
    if isinstance(event, ev.Thought):
        return {"signature": None}
    return {"exited": False, "exit_code": None} if isinstance(event, ev.TerminalOutput) else {}


@st.composite
def rewound_sessions(draw: Any) -> list[ev.Event]:
    """Legal sessions that go back now and then, between turns."""
    story: LegalSession = draw(legal_sessions())
    output: list[ev.Event] = []
    outputs: list[str | None] = [None]
    grammar = Grammar()
    for event in story.events:
        output += grammar.feed(event)
        if message_id := getattr(event, "message_id", None):
            outputs.append(message_id)
        if grammar.phase is Phase.IDLE and draw(st.integers(0, 3)) == 0:
            output += grammar.feed(ev.Rewound(to_message_id=draw(st.sampled_from(outputs))))
    return output + grammar.close()
