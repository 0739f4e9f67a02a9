"""Which lane a run of a graph belongs to: a tool that calls a model is a subagent, and its call is a lane.

LangChain's callbacks name each run and its parent. A model or tool belongs to the lane of the nearest tool
above it; the lane's name is the id of that tool's call, below the lane of its own caller.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from trunkline import events as ev
from trunkline.agents.langchain.messages.emitter import Emitter

Key = Hashable
"""What stands for the id of a run."""


def key_of(run_id: Any) -> Key:
    """The key of a run in a table: the number of its UUID, because a UUID's own hash is slow."""
    try:
        return run_id.int
    except AttributeError:
        return run_id


class ToolRun(NamedTuple):
    """A tool that runs for a call."""

    lane: str | None
    native_id: str
    name: str


class SubagentLanes:
    """The lanes of one turn; emits SubagentStarted and SubagentFinished."""

    def __init__(self, emitter: Emitter) -> None:
        """Begin with the agent's own lane, None."""
        self._emitter = emitter
        self._parents: dict[Key, Key] = {}
        self._tools: dict[Key, ToolRun] = {}
        self._finished: set[Key] = set()
        self._lanes: dict[Key, str] = {}
        self._namespaces: dict[str, str | None] = {}

    def add_run(self, run: Key, parent: Key) -> None:
        """Remember which run started a run."""
        self._parents[run] = parent

    def add_tool(self, run: Key, native_id: str, name: str) -> ToolRun:
        """Remember that a run is a tool which runs for a call."""
        tool = self._tools[run] = ToolRun(self.lane_of(self._parents.get(run)), native_id, name)
        return tool

    def tool(self, run: Key) -> ToolRun | None:
        """The tool that a run is."""
        return self._tools.get(run)

    def lane_of(self, run: Key, name: str | None = None) -> str | None:
        """The lane of a run: that of the nearest tool above it, which is a subagent then."""
        tool = self._tool_above(run) if self._tools else None
        return self._open(tool, name) if tool is not None else None

    def _tool_above(self, run: Key) -> Key:
        while run is not None and run not in self._tools:
            run = self._parents.get(run)
        return run

    def is_stray(self, run: Key) -> bool:
        """Whether a run outlived its subagent: one that failed may leave tools running in threads."""
        if not self._finished:
            return False
        tool = self._tool_above(run)
        while tool is not None and tool not in self._finished:
            tool = self._tool_above(self._parents.get(tool))
        return tool is not None

    def _open(self, tool: Key, name: str | None) -> str:
        lane = self._lanes.get(tool)
        if lane is None:
            parent_lane, native_id, called = self._tools[tool]
            lane = self._lanes[tool] = native_id if parent_lane is None else f"{parent_lane}/{native_id}"
            self._emitter.emit(
                ev.SubagentStarted(
                    turn_id=self._emitter.turn_id,
                    lane=lane,
                    name=name or called,
                    parent_lane=parent_lane,
                    parent_call_id=self._emitter.call_id_of(parent_lane, native_id),
                )
            )
        return lane

    def finish(self, tool: Key, outcome: Literal["completed", "failed"]) -> None:
        """End the lane of a tool, if it has one: its open calls end, and its later runs are stray."""
        lane = self._lanes.get(tool)
        if lane is not None:
            self._emitter.finish_calls(lane)
            self._emitter.emit(ev.SubagentFinished(turn_id=self._emitter.turn_id, lane=lane, outcome=outcome))
        self._finished.add(tool)

    # -- namespaces: how LangGraph's stream names the graphs inside a graph ---------------------------

    def add_namespace(self, metadata: Mapping[str, Any], lane: str | None) -> None:
        """Remember the lane of the graph in which a model runs.

        ``langgraph_checkpoint_ns`` is ``node:task|node:task``; its last part is the model's own node.
        """
        self._namespaces[str(metadata.get("langgraph_checkpoint_ns", "")).rpartition("|")[0]] = lane

    def has_model(self, namespace: Sequence[str]) -> bool:
        """Whether a model ran in this graph."""
        return "|".join(namespace) in self._namespaces

    def lane_of_namespace(self, namespace: Sequence[str]) -> str | None:
        """The lane of a graph inside the graph, or of the nearest graph around it that has one."""
        for depth in range(len(namespace), 0, -1):
            if (key := "|".join(namespace[:depth])) in self._namespaces:
                return self._namespaces[key]
        return None
