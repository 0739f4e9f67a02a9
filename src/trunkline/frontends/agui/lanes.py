"""The lanes of a run: the agent's own, and one for each subagent, each opened below its parent.

Everything that is open in a run is open in one lane: messages, reasoning, steps and tool calls.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from trunkline import events as ev
from trunkline.frontends.agui.tool_calls import CallView
from trunkline.protocols.agui import wire

__all__ = ["LaneView", "Lanes"]

Out = list[wire.AguiEvent]


class _Reasoning:
    """A part of a message's reasoning; one that a run left off may go on in the next."""

    __slots__ = ("open", "thought_id")

    def __init__(self, thought_id: str) -> None:
        self.thought_id = thought_id
        self.open = False


class LaneView:
    """What is open in one lane: the agent's own, or a subagent's."""

    def __init__(self, name: str | None, started: ev.SubagentStarted | None = None) -> None:
        """A lane; a subagent's is opened before anything is said in it."""
        self._name = name
        self._started = started or ev.SubagentStarted(lane=name, name=name or "")
        self.live = name is None
        self.over = False
        """Whether the subagent ended in this run: its name may be used no more."""
        self.current_text_id: str | None = None
        """The message whose text can go on at once."""
        self.calls: dict[str, CallView] = {}
        self._texts: dict[str, None] = {}
        self._complete: set[str] = set()
        self._thoughts: dict[str, _Reasoning] = {}
        self._thought_count: dict[str, int] = {}
        self._steps: dict[str, str] = {}

    @property
    def parent(self) -> str | None:
        """The lane that this one was started from."""
        return self._started.parent_lane

    def open(self, at: int | None, parent: str | None = None) -> Out:
        """Begin a subagent, or begin it again in another run; ``parent`` is one that the run knows."""
        if self.live or self.over:
            return []
        self.live = True
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
        """Note that a message's call is under way: whatever begins next, this one has been said."""
        self._complete.add(message_id)

    # -- words -------------------------------------------------------------------------------------

    def start_text(self, message_id: str, at: int | None) -> Out:
        """Open the text of a message; messages that were complete before it are closed now.

        Answers that come side by side (two branches of a graph) stay open side by side: a text that
        was closed cannot go on in the same run.
        """
        said = self.end_reasoning(message_id, at)
        self.current_text_id = message_id
        if message_id in self._texts:
            return said
        for other in list(self._texts):
            if other in self._complete:
                said += self._end_text(other, at)
        self._texts[message_id] = None
        return [*said, self._start_text(message_id, at)]

    def _start_text(self, message_id: str, at: int | None) -> wire.AguiEvent:
        return wire.TextMessageStart(
            timestamp=at, subagent_run_id=self._name, message_id=message_id, role="assistant"
        )

    def _end_text(self, message_id: str, at: int | None) -> Out:
        del self._texts[message_id]
        return [wire.TextMessageEnd(timestamp=at, subagent_run_id=self._name, message_id=message_id)]

    def add_reasoning(self, message_id: str, delta: str, signature: str | None, at: int | None) -> Out:
        """Say a piece of reasoning; a signature seals what was said of it."""
        said: Out = []
        self.current_text_id = None
        thinking = self._thoughts.get(message_id)
        if thinking is None:
            number = self._thought_count[message_id] = self._thought_count.get(message_id, 0) + 1
            thinking = self._thoughts[message_id] = _Reasoning(f"{message_id}:reasoning:{number}")
        thought_id = thinking.thought_id
        if not thinking.open:
            thinking.open = True
            said += self._start_thinking(thought_id, at)
        if delta:
            said.append(
                wire.ReasoningMessageContent(
                    timestamp=at, subagent_run_id=self._name, message_id=thought_id, delta=delta
                )
            )
        if signature is not None:
            said.append(
                wire.ReasoningEncryptedValue(
                    timestamp=at,
                    subagent_run_id=self._name,
                    subtype="message",
                    entity_id=thought_id,
                    encrypted_value=signature,
                )
            )
            said += self.end_reasoning(message_id, at)
        return said

    def _start_thinking(self, thought_id: str, at: int | None) -> Out:
        return [
            wire.ReasoningStart(timestamp=at, subagent_run_id=self._name, message_id=thought_id),
            wire.ReasoningMessageStart(timestamp=at, subagent_run_id=self._name, message_id=thought_id),
        ]

    def end_reasoning(self, message_id: str | None, at: int | None) -> Out:
        """End the reasoning of a message that goes on with something else."""
        thinking = self._thoughts.pop(message_id or "", None)
        return [] if thinking is None else self._interrupt(thinking, at)

    def _interrupt(self, thinking: _Reasoning, at: int | None) -> Out:
        if not thinking.open:
            return []
        thinking.open = False
        thought_id = thinking.thought_id
        return [
            wire.ReasoningMessageEnd(timestamp=at, subagent_run_id=self._name, message_id=thought_id),
            wire.ReasoningEnd(timestamp=at, subagent_run_id=self._name, message_id=thought_id),
        ]

    # -- steps -------------------------------------------------------------------------------------

    def start_step(self, step_id: str, name: str, at: int | None) -> Out:
        """Begin a step; two at once may not have the same name."""
        number, shown = 2, name
        while shown in self._steps.values():
            shown = f"{name} ({number})"
            number += 1
        self._steps[step_id] = shown
        return [self._start_step(shown, at)]

    def _start_step(self, shown: str, at: int | None) -> wire.AguiEvent:
        return wire.StepStarted(timestamp=at, subagent_run_id=self._name, step_name=shown)

    def finish_step(self, step_id: str, at: int | None) -> Out:
        """End a step."""
        name = self._steps.pop(step_id, None)
        if name is None:
            return []
        if not self._steps:
            self._complete.update(self._texts)
        return [wire.StepFinished(timestamp=at, subagent_run_id=self._name, step_name=name)]

    # -- a run that begins here --------------------------------------------------------------------

    def announce(self, at: int | None) -> Out:
        """Say again what is open, for a client that was told of none of it; what is complete stays closed."""
        for message_id in self._complete & self._texts.keys():
            del self._texts[message_id]
        if self.current_text_id not in self._texts:
            self.current_text_id = None
        said = [self._start_step(shown, at) for shown in self._steps.values()]
        for thinking in self._thoughts.values():
            if thinking.open:
                said += self._start_thinking(thinking.thought_id, at)
        said += [self._start_text(message_id, at) for message_id in self._texts]
        return said + [event for call in self.calls.values() for event in call.announce(at)]

    # -- the end -----------------------------------------------------------------------------------

    def _close_parts(self, at: int | None) -> Out:
        self.current_text_id = None
        said: Out = []
        for thinking in self._thoughts.values():
            said += self._interrupt(thinking, at)
        for message_id in list(self._texts):
            said += self._end_text(message_id, at)
        for call in self.calls.values():
            said += call.end(at)
        self.calls.clear()
        for step_id in list(self._steps):
            said += self.finish_step(step_id, at)
        return said

    def finish(self, event: ev.SubagentFinished, at: int | None) -> Out:
        """End a subagent as it ended."""
        said = self._close_parts(at)
        self.live, self.over = False, True
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
        return [*said, done]

    def close(self, at: int | None, *, failed: bool, suspended: list[str] | None) -> Out:
        """Close everything at the end of a run; a subagent waits for the next one, or has failed."""
        said = self._close_parts(at)
        if self._name is None or not self.live:
            return said
        self.live = False
        if suspended is not None and not failed:
            outcome: dict[str, Any] = {"type": "suspended"}
            if suspended:
                outcome["interruptIds"] = list(suspended)
            return [*said, wire.SubagentFinished(timestamp=at, subagent_run_id=self._name, outcome=outcome)]
        return [
            *said,
            wire.SubagentError(
                timestamp=at, subagent_run_id=self._name, message="the run ended before the subagent did"
            ),
        ]


class Lanes:
    """Knows who speaks in a run, and which subagents its client was told of."""

    def __init__(self) -> None:
        """Begin with the agent alone."""
        self.views: dict[str | None, LaneView] = {None: LaneView(None)}
        """Every lane that anything was ever said in."""
        self._started: set[str] = set()
        """Subagents that this run knows."""

    def innermost_first(self) -> Iterator[tuple[str | None, LaneView]]:
        """Give all lanes in the order in which they are closed."""
        return reversed(self.views.items())

    def enter(self, name: str | None, at: int | None) -> tuple[Out, LaneView]:
        """Give a lane; one that was closed with an earlier run is opened again, below its own parent."""
        lane = self.views.get(name)
        if lane is None:
            lane = self.views[name] = LaneView(name)
        if name is None or lane.live or lane.over:
            return [], lane
        said: Out = []
        parent = lane.parent
        if parent is not None:
            said, _ = self.enter(parent, at)
        self._started.add(name)
        said += lane.open(at, parent if parent in self._started else None)
        return said, lane

    def begin(self, event: ev.SubagentStarted, at: int | None) -> Out:
        """Begin a subagent."""
        self.views[event.lane] = LaneView(event.lane, event)
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

    def forget_run(self) -> None:
        """A run is over: the next one has been told of no subagent."""
        self._started.clear()

    def announce(self, at: int | None) -> Out:
        """Say again which subagents are at work and what is open in each lane, parents first."""
        live = [name for name, lane in self.views.items() if name is None or lane.live]
        self.forget_run()
        for name in live:
            self.views[name].live = name is None
        said: Out = []
        for name in live:
            said += self.enter(name, at)[0]
        for name in live:
            said += self.views[name].announce(at)
        return said
