"""Scenarios about work on show."""

from tests.demos.scenario_runs import answer_of, meaning, on_a_hub, play

from trunkline import events as ev
from trunkline.folding import fold
from trunkline.session.hub import Hub
from trunkline.testing import ScriptedAgent


async def test_a_plan_goes_through_three_states() -> None:
    plans = [event for event in await play("plan") if isinstance(event, ev.Plan)]

    assert [[entry.status[:2] for entry in plan.entries] for plan in plans] == [
        ["in", "pe", "pe"], ["co", "in", "pe"], ["co", "co", "co"],
    ]  # fmt: skip


async def test_subagents_are_nested_and_bring_their_own_calls() -> None:
    output = await meaning("/subagents")

    outer, inner = output.lanes.values()
    assert (outer.name, inner.name) == ("researcher", "checker")
    assert inner.parent_lane == next(iter(output.lanes))
    assert {lane.outcome for lane in output.lanes.values()} == {"completed"}
    assert [call.lane for call in output.calls.values()] == [None, inner.parent_lane, inner.parent_lane]
    assert outer.parent_call_id in output.calls
    assert answer_of(output) == "The tower is 330 metres high."


async def test_state_activity_compaction_and_notices_arrive() -> None:
    assert (await meaning("/state")).state == {"counter": 1, "items": ["first"], "done": True}
    assert list((await meaning("/activity")).activities.values()) == [{"title": "Copying files", "done": 100}]
    (compaction,) = (await meaning("/compaction")).compactions.values()
    assert (compaction.status, bool(compaction.summary)) == ("completed", True)
    notices = (await meaning("/notice")).notices
    assert [notice.severity for notice in notices] == ["info", "warning", "error"]


async def test_modes_say_the_mode_and_change_it() -> None:
    async def work(hub: Hub, agent: ScriptedAgent) -> None:
        session = await hub.create()
        output: list[str] = []
        for prompt in ("/modes", "/modes plan", "/modes nonsense"):
            output.append(answer_of(fold([event async for event in session.stream(prompt)])))
        assert output == [
            "The mode is ask. Now it is code.",
            "The mode is code. Now it is plan.",
            "The mode is plan. Now it is ask.",
        ]
        assert session.view.mode == "ask"

    await on_a_hub(work)
