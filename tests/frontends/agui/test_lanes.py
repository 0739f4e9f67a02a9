from trunkline import events as ev
from trunkline.frontends.agui.lanes import LaneView
from trunkline.protocols.agui import wire


def test_the_agents_own_lane_is_always_open_and_ends_without_events() -> None:
    lane = LaneView(None, set())

    assert lane.open(7) == []
    assert lane.close(7, failed=True, suspended=None) == []


def test_a_subagents_lane_begins_again_in_the_next_run_and_not_after_its_end() -> None:
    lane = LaneView("l1", set(), ev.SubagentStarted(lane="l1", name="helper", parent_lane="l0"))

    assert lane.parent == "l0"
    assert lane.close(6, failed=False, suspended=[]) == []
    (started,) = lane.open(7, "l0")
    assert isinstance(started, wire.SubagentStarted)
    assert (started.name, started.parent_subagent_run_id) == ("helper", "l0")
    (waits,) = lane.close(8, failed=False, suspended=[])
    assert waits == wire.SubagentFinished(timestamp=8, subagent_run_id="l1", outcome={"type": "suspended"})
    assert len(lane.open(9)) == 1
    assert len(lane.finish(ev.SubagentFinished(lane="l1"), 10)) == 1
    assert lane.open(11) == []
