"""The lanes of a run: the agent's own, and one for each subagent, each opened below its parent.

Everything that is open in a run is open in one lane: messages, reasoning, steps and tool calls.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from trunkline import events as ev
from trunkline.frontends.agui.text_parts import TextParts
from trunkline.frontends.agui.tool_calls import CallView
from trunkline.protocols.agui import wire

Out = list[wire.AguiEvent]


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
        self.parts = TextParts(name)
        self.calls: dict[str, CallView] = {}
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
            self.parts.complete_all()
        return [wire.StepFinished(timestamp=at, subagent_run_id=self._name, step_name=name)]

    # -- a run that begins here --------------------------------------------------------------------

    def announce(self, at: int | None) -> Out:
        """Open again what is open, for a client that saw no start of it; what is complete stays closed."""
        out = [self._start_step(shown, at) for shown in self._steps.values()]
        out += self.parts.announce(at)
        return out + [event for call in self.calls.values() for event in call.announce(at)]

    # -- the end -----------------------------------------------------------------------------------

    def _close_parts(self, at: int | None) -> Out:
        out = self.parts.close(at)
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
