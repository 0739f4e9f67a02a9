"""The lanes of a run: the agent's own, and one for each subagent, each opened below its parent.

Everything that is open in a run is open in one lane: messages, reasoning, steps and tool calls.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from trunkline import events as ev
from trunkline.frontends.agui.tool_calls import CallView
from trunkline.protocols.agui import wire

Out = list[wire.AguiEvent]


class _Reasoning:
    """A part of a message's reasoning; one that a run left off may go on in the next."""

    __slots__ = ("is_open", "reasoning_id")

    def __init__(self, reasoning_id: str) -> None:
        self.reasoning_id = reasoning_id
        self.is_open = False


class LaneView:
    """What is open in one lane: the agent's own, or a subagent's."""

    def __init__(
        self, name: str | None, step_names: set[str], started: ev.SubagentStarted | None = None
    ) -> None:
        """Describe a lane; a subagent's is opened before its first event.

        ``step_names`` are those of the open steps of all lanes.
        """
        self._name = name
        self._step_names = step_names
        self._started = started or ev.SubagentStarted(lane=name, name=name or "")
        self.is_open = name is None
        self.is_finished = False
        """Whether the subagent ended in this run: its id may be used no more."""
        self.current_text_id: str | None = None
        """The message whose text can go on at once."""
        self.calls: dict[str, CallView] = {}
        self._texts: dict[str, None] = {}
        self._complete: set[str] = set()
        self._reasoning: dict[str, _Reasoning] = {}
        self._reasoning_count: dict[str, int] = {}
        self._steps: dict[str, str] = {}

    @property
    def parent(self) -> str | None:
        """The lane that this one was started from."""
        return self._started.parent_lane

    def open(self, at: int | None, parent: str | None = None) -> Out:
        """Begin a subagent, or begin it again in another run; ``parent`` is one that the run knows."""
        if self.is_open or self.is_finished:
            return []
        self.is_open = True
        about = self._started
        return [
            wire.SubagentStarted(
                timestamp=at,
                subagent_run_id=self._name or "",
                name=about.name or self._name or "",
                description=about.description,
                parent_subagent_run_id=parent,
                parent_tool_call_id=about.parent_call_id,
            )
        ]

    def complete(self, message_id: str) -> None:
        """Note that a call of a message runs: its text is complete, whatever begins next."""
        self._complete.add(message_id)

    # -- text and reasoning ------------------------------------------------------------------------

    def start_text(self, message_id: str, at: int | None) -> Out:
        """Open the text of a message; messages that were complete before it are closed now.

        Answers that come side by side (two branches of a graph) stay open side by side: a text that
        was closed cannot go on in the same run.
        """
        out = self.end_reasoning(message_id, at)
        self.current_text_id = message_id
        if message_id in self._texts:
            return out
        for other in list(self._texts):
            if other in self._complete:
                out += self._end_text(other, at)
        self._texts[message_id] = None
        return [*out, self._start_text(message_id, at)]

    def _start_text(self, message_id: str, at: int | None) -> wire.AguiEvent:
        return wire.TextMessageStart(
            timestamp=at, subagent_run_id=self._name, message_id=message_id, role="assistant"
        )

    def _end_text(self, message_id: str, at: int | None) -> Out:
        del self._texts[message_id]
        return [wire.TextMessageEnd(timestamp=at, subagent_run_id=self._name, message_id=message_id)]

    def add_reasoning(self, message_id: str, delta: str, signature: str | None, at: int | None) -> Out:
        """Add a piece of reasoning; a signature ends it."""
        out: Out = []
        self.current_text_id = None
        reasoning = self._reasoning.get(message_id)
        if reasoning is None:
            number = self._reasoning_count[message_id] = self._reasoning_count.get(message_id, 0) + 1
            reasoning = self._reasoning[message_id] = _Reasoning(f"{message_id}:reasoning:{number}")
        reasoning_id = reasoning.reasoning_id
        if not reasoning.is_open:
            reasoning.is_open = True
            out += self._start_reasoning(reasoning_id, at)
        if delta:
            out.append(
                wire.ReasoningMessageContent(
                    timestamp=at, subagent_run_id=self._name, message_id=reasoning_id, delta=delta
                )
            )
        if signature is not None:
            out.append(
                wire.ReasoningEncryptedValue(
                    timestamp=at,
                    subagent_run_id=self._name,
                    subtype="message",
                    entity_id=reasoning_id,
                    encrypted_value=signature,
                )
            )
            out += self.end_reasoning(message_id, at)
        return out

    def _start_reasoning(self, reasoning_id: str, at: int | None) -> Out:
        return [
            wire.ReasoningStart(timestamp=at, subagent_run_id=self._name, message_id=reasoning_id),
            wire.ReasoningMessageStart(timestamp=at, subagent_run_id=self._name, message_id=reasoning_id),
        ]

    def end_reasoning(self, message_id: str | None, at: int | None) -> Out:
        """End the reasoning of a message that goes on with something else."""
        reasoning = self._reasoning.pop(message_id or "", None)
        return [] if reasoning is None else self._interrupt(reasoning, at)

    def _interrupt(self, reasoning: _Reasoning, at: int | None) -> Out:
        if not reasoning.is_open:
            return []
        reasoning.is_open = False
        reasoning_id = reasoning.reasoning_id
        return [
            wire.ReasoningMessageEnd(timestamp=at, subagent_run_id=self._name, message_id=reasoning_id),
            wire.ReasoningEnd(timestamp=at, subagent_run_id=self._name, message_id=reasoning_id),
        ]

    def end_message(self, message_id: str, at: int | None) -> Out:
        """End the reasoning and the text of a message that is complete."""
        out = self.end_reasoning(message_id, at)
        if message_id not in self._texts:
            return out
        if message_id == self.current_text_id:
            self.current_text_id = None
        return out + self._end_text(message_id, at)

    # -- steps -------------------------------------------------------------------------------------

    def start_step(self, step_id: str, name: str, at: int | None) -> Out:
        """Begin a step; two at once may not have the same name, in whatever lane: clients find it by name."""
        number, shown = 2, name
        while shown in self._step_names:
            shown = f"{name} ({number})"
            number += 1
        self._step_names.add(shown)
        self._steps[step_id] = shown
        return [self._start_step(shown, at)]

    def _start_step(self, shown: str, at: int | None) -> wire.AguiEvent:
        return wire.StepStarted(timestamp=at, subagent_run_id=self._name, step_name=shown)

    def finish_step(self, step_id: str, at: int | None) -> Out:
        """End a step."""
        name = self._steps.pop(step_id, None)
        if name is None:
            return []
        self._step_names.discard(name)
        if not self._steps:
            self._complete.update(self._texts)
        return [wire.StepFinished(timestamp=at, subagent_run_id=self._name, step_name=name)]

    # -- a run that begins here --------------------------------------------------------------------

    def announce(self, at: int | None) -> Out:
        """Open again what is open, for a client that saw no start of it; what is complete stays closed."""
        for message_id in self._complete & self._texts.keys():
            del self._texts[message_id]
        if self.current_text_id not in self._texts:
            self.current_text_id = None
        out = [self._start_step(shown, at) for shown in self._steps.values()]
        for reasoning in self._reasoning.values():
            if reasoning.is_open:
                out += self._start_reasoning(reasoning.reasoning_id, at)
        out += [self._start_text(message_id, at) for message_id in self._texts]
        return out + [event for call in self.calls.values() for event in call.announce(at)]

    # -- the end -----------------------------------------------------------------------------------

    def _close_parts(self, at: int | None) -> Out:
        self.current_text_id = None
        out: Out = []
        for reasoning in self._reasoning.values():
            out += self._interrupt(reasoning, at)
        for message_id in list(self._texts):
            out += self._end_text(message_id, at)
        for call in self.calls.values():
            out += call.end(at)
        self.calls.clear()
        for step_id in list(self._steps):
            out += self.finish_step(step_id, at)
        return out

    def finish(self, event: ev.SubagentFinished, at: int | None) -> Out:
        """End a subagent as it ended."""
        out = self._close_parts(at)
        self.is_open, self.is_finished = False, True
        if event.outcome == "completed":
            done: wire.AguiEvent = wire.SubagentFinished(
                timestamp=at,
                subagent_run_id=self._name or "",
                result=event.result,
                outcome={"type": "success"},
            )
        else:
            done = wire.SubagentError(
                timestamp=at,
                subagent_run_id=self._name or "",
                message=event.message or f"the subagent {event.outcome}",
                code=event.outcome.upper(),
            )
        return [*out, done]

    def close(self, at: int | None, *, failed: bool, suspended: list[str] | None) -> Out:
        """Close everything at the end of a run; a subagent waits for the next one, or has failed."""
        out = self._close_parts(at)
        if self._name is None or not self.is_open:
            return out
        self.is_open = False
        if suspended is not None and not failed:
            outcome: dict[str, Any] = {"type": "suspended"}
            if suspended:
                outcome["interruptIds"] = list(suspended)
            return [*out, wire.SubagentFinished(timestamp=at, subagent_run_id=self._name, outcome=outcome)]
        return [
            *out,
            wire.SubagentError(
                timestamp=at, subagent_run_id=self._name, message="the run ended before the subagent did"
            ),
        ]


class Lanes:
    """The lanes of one run, and which subagents were announced in it."""

    def __init__(self) -> None:
        self._step_names: set[str] = set()
        self.views: dict[str | None, LaneView] = {None: LaneView(None, self._step_names)}
        """Every lane that had an event."""
        self._started: set[str] = set()
        """Subagents that were announced in this run."""

    def innermost_first(self) -> Iterator[tuple[str | None, LaneView]]:
        """Give all lanes in the order in which they are closed."""
        return reversed(self.views.items())

    def enter(self, name: str | None, at: int | None) -> tuple[Out, LaneView]:
        """Give a lane; one that was closed with an earlier run is opened again, below its own parent."""
        lane = self.views.get(name)
        if lane is None:
            lane = self.views[name] = LaneView(name, self._step_names)
        if name is None or lane.is_open or lane.is_finished:
            return [], lane
        out: Out = []
        parent = lane.parent
        if parent is not None:
            out, _ = self.enter(parent, at)
        self._started.add(name)
        out += lane.open(at, parent if parent in self._started else None)
        return out, lane

    def begin(self, event: ev.SubagentStarted, at: int | None) -> Out:
        """Begin a subagent."""
        self.views[event.lane] = LaneView(event.lane, self._step_names, event)
        return self.enter(event.lane, at)[0]

    def asked_below(self, name: str | None, questions: Iterable[ev.Asked]) -> list[str]:
        """The questions that a subagent waits for: its own, and those of the ones it started."""
        found: list[str] = []
        for asked in questions:
            lane = asked.lane
            while lane is not None and lane != name:
                lane = self.views[lane].parent if lane in self.views else None
            if lane == name:
                found.append(asked.question_id)
        return found

    def discard_run(self) -> None:
        """End a run: the next one has announced no subagent."""
        self._started.clear()

    def announce(self, at: int | None) -> Out:
        """Announce again which subagents work and what is open in each lane, parents first."""
        is_open = [name for name, lane in self.views.items() if name is None or lane.is_open]
        self.discard_run()
        for name in is_open:
            self.views[name].is_open = name is None
        out: Out = []
        for name in is_open:
            out += self.enter(name, at)[0]
        for name in is_open:
            out += self.views[name].announce(at)
        return out
