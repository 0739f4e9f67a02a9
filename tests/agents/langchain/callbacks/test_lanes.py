from typing import Any

import pytest

from trunkline import events as ev
from trunkline.agents.langchain.callbacks.lanes import SubagentLanes
from trunkline.agents.langchain.messages.emitter import Emitter


@pytest.fixture
def events() -> list[Any]:
    return []


@pytest.fixture
def lanes(events: list[Any]) -> SubagentLanes:
    """A graph "root" whose tool "task" has called an inner graph "inner"."""
    emitter = Emitter(events.append, "t1")
    made = SubagentLanes(emitter)
    made.add_run("root", None)
    made.add_run("task", "root")
    made.add_tool("task", "c1", "task")
    made.add_run("inner", "task")
    emitter.announce(None, "c1", "task", None)
    events.clear()
    return made


def test_a_run_below_no_tool_is_in_the_agents_own_lane(lanes: SubagentLanes, events: list[Any]) -> None:
    assert lanes.lane_of("root") is None
    assert lanes.lane_of("unknown") is None
    assert events == []


def test_the_first_run_below_a_tool_starts_a_subagent_once(lanes: SubagentLanes, events: list[Any]) -> None:
    assert (lanes.lane_of("inner", "Researcher"), lanes.lane_of("inner")) == ("c1", "c1")
    assert events == [ev.SubagentStarted(turn_id="t1", lane="c1", name="Researcher", parent_call_id="c1")]


def test_a_subagent_without_a_name_has_the_name_of_its_tool(lanes: SubagentLanes, events: list[Any]) -> None:
    lanes.lane_of("inner")
    assert events[0].name == "task"


def test_the_lane_of_a_subagents_subagent_is_below_its_callers(
    lanes: SubagentLanes, events: list[Any]
) -> None:
    lanes.add_run("deeper", "inner")
    assert lanes.add_tool("deeper", "c2", "task").lane == "c1"
    lanes.add_run("deepest", "deeper")
    assert lanes.lane_of("deepest") == "c1/c2"
    assert [(event.lane, event.parent_lane) for event in events] == [("c1", None), ("c1/c2", "c1")]


def test_a_finished_tool_ends_its_lane_and_leaves_its_runs_stray(
    lanes: SubagentLanes, events: list[Any]
) -> None:
    lanes.lane_of("inner")
    assert not lanes.is_stray("inner")
    lanes.finish("task", "failed")
    assert events[-1] == ev.SubagentFinished(turn_id="t1", lane="c1", outcome="failed")
    lanes.add_run("late", "inner")
    assert lanes.is_stray("late")
    assert not lanes.is_stray("root")


def test_a_tool_that_called_no_model_has_no_lane_to_finish(lanes: SubagentLanes, events: list[Any]) -> None:
    lanes.finish("task", "completed")
    assert events == []


def test_a_namespace_has_the_lane_of_the_nearest_graph_in_which_a_model_ran(lanes: SubagentLanes) -> None:
    lanes.add_namespace({"langgraph_checkpoint_ns": "tools:1|inner:2|model:3"}, "c1")
    assert lanes.has_model(("tools:1", "inner:2"))
    assert not lanes.has_model(("tools:1",))
    assert lanes.lane_of_namespace(("tools:1", "inner:2", "other:4")) == "c1"
    assert lanes.lane_of_namespace(("tools:1",)) is None
