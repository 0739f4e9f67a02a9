from __future__ import annotations

from trunkline import events as ev
from trunkline.frontends.agui.lanes import LaneView
from trunkline.frontends.agui.tool_calls import CallView
from trunkline.protocols.agui import wire
from trunkline.protocols.agui.results import OUTPUT_TAIL


def test_a_call_ends_once_and_says_its_arguments_if_nobody_did() -> None:
    call = CallView("c1", "l1")
    call.apply(ev.ToolUpdate(call_id="c1", input={"a": 1}))

    args, end = call.end(7)
    assert args == wire.ToolCallArgs(timestamp=7, subagent_run_id="l1", tool_call_id="c1", delta='{"a":1}')
    assert end == wire.ToolCallEnd(timestamp=7, subagent_run_id="l1", tool_call_id="c1")
    assert call.end(8) == []
    assert call.sent_arguments_match()


def test_a_field_that_an_update_leaves_out_stays_as_it_was() -> None:
    call = CallView("c1", None)
    call.apply(
        ev.ToolUpdate(call_id="c1", status="failed", reason="no", result_message_id="r1", raw_output=1)
    )
    call.apply(ev.ToolUpdate(call_id="c1"))

    result = call.result(7, 0, {}, modern=True)
    assert (result.message_id, result.content) == ("r1", "1")
    assert result.metadata == {"trunkline": {"status": "failed", "error": "no"}}


def test_of_what_a_call_prints_the_end_is_kept() -> None:
    call = CallView("c1", None)
    for piece in ("x" * OUTPUT_TAIL, "yz"):
        call.apply(ev.ToolUpdate(call_id="c1", output=piece))

    assert len(call.output) == OUTPUT_TAIL
    assert call.output.endswith("xyz")


def test_the_agents_own_lane_is_always_there_and_ends_without_a_word() -> None:
    lane = LaneView(None)

    assert lane.open(7) == []
    assert lane.close(7, failed=True, suspended=None) == []


def test_a_subagents_lane_begins_again_in_the_next_run_and_not_after_its_end() -> None:
    lane = LaneView("l1", ev.SubagentStarted(lane="l1", name="helper", parent_lane="l0"))

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


def test_reasoning_that_a_run_left_off_goes_on_under_its_name() -> None:
    lane = LaneView(None)
    first = lane.add_reasoning("m1", "a", None, 7)
    lane.close(8, failed=False, suspended=[])
    second = lane.add_reasoning("m1", "b", None, 9)

    assert first[0] == wire.ReasoningStart(timestamp=7, message_id="m1:reasoning:1")
    assert second[0] == wire.ReasoningStart(timestamp=9, message_id="m1:reasoning:1")
