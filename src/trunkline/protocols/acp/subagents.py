"""Subagents of an ACP agent as lanes.

ACP v1 has no subagents, so agents mark what a subagent does with the call that started it. Its lane is open
from its first update until that call has ended and nothing in the lane is open any more, or until the turn
ends. A lane is not opened twice: one that speaks again gets another name.
"""

from __future__ import annotations

from typing import Any

from trunkline import events as ev


class Lane:
    """One subagent at work."""

    def __init__(self, name: str, key: str, parent: str | None) -> None:
        """Begin with a lane that was just opened; ``key`` is what updates call it by."""
        self.name = name
        self.key = key
        self.parent = parent
        self.outcome: Any = None
        """How the subagent ended, as soon as that is known."""


class Lanes:
    """The open lanes of a turn."""

    def __init__(self) -> None:
        """Have no lane."""
        self._open: dict[str, Lane] = {}
        self._used: dict[str, int] = {}

    def begin_turn(self) -> None:
        """Let all lanes be those of earlier turns."""
        self._open.clear()

    def get(self, key: str) -> Lane | None:
        """Give an open lane by what updates call it."""
        return self._open.get(key)

    def is_open(self, name: str | None) -> bool:
        """Whether something may be said in a lane."""
        return name is None or any(lane.name == name for lane in self._open.values())

    def innermost_first(self) -> list[Lane]:
        """Give the open lanes in the order in which they are closed."""
        return list(self._open.values())[::-1]

    def contains(self, name: str | None, key: str) -> bool:
        """Whether a lane is the one of a key, or lies below it."""
        by_name = {lane.name: lane for lane in self._open.values()}
        while name is not None and (lane := by_name.get(name)) is not None:
            if lane.key == key:
                return True
            name = lane.parent
        return False

    def has_lanes_below(self, name: str) -> bool:
        """Whether another subagent was started from this lane and is at work."""
        return any(lane.parent == name for lane in self._open.values())

    def open(
        self,
        key: str,
        *,
        parent: str | None = None,
        parent_call_id: str | None = None,
        title: str | None = None,
        description: str | None = None,
    ) -> tuple[Lane, ev.SubagentStarted]:
        """Begin a lane."""
        number = self._used[key] = self._used.get(key, 0) + 1
        name = key if number == 1 else f"{key}.{number}"
        lane = self._open[key] = Lane(name, key, parent if self.is_open(parent) else None)
        started = ev.SubagentStarted(
            lane=name,
            name=title or name,
            parent_lane=lane.parent,
            parent_call_id=parent_call_id,
            description=description,
        )
        return lane, started

    def finish(self, lane: Lane, outcome: Any, message: str | None = None) -> ev.SubagentFinished:
        """End a lane in which nothing is open."""
        del self._open[lane.key]
        return ev.SubagentFinished(lane=lane.name, outcome=outcome, message=message)
