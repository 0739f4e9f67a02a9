"""The lanes of a run: the agent's own, and one for each subagent, each opened below its parent."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from trunkline import events as ev
from trunkline.frontends.agui.tool_calls import LaneView
from trunkline.protocols.agui import wire

__all__ = ["Lanes"]

Out = list[wire.AguiEvent]


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
