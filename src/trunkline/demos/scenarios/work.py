"""Scenarios about work on show: plans, modes, subagents, state, activities, compaction, notices."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import Literal

from trunkline import events as ev
from trunkline.agents.interface import Sayable
from trunkline.content import TextBlock
from trunkline.options import choose
from trunkline.session.context import TurnContext


async def plan(ctx: TurnContext, argument: str) -> AsyncIterator[Sayable]:
    """Show a plan and work through it."""
    yield _plan(("in_progress", "pending", "pending"))
    yield "I read the question. "
    yield _plan(("completed", "in_progress", "pending"))
    yield "I write the answer. "
    yield _plan(("completed", "completed", "completed"))
    yield "I checked it twice."


_STEPS: tuple[tuple[str, Literal["high", "medium", "low"]], ...] = (
    ("Read the question", "high"),
    ("Write the answer", "medium"),
    ("Check it", "low"),
)


def _plan(statuses: Sequence[Literal["pending", "in_progress", "completed"]]) -> ev.Plan:
    return ev.Plan(
        entries=tuple(
            ev.PlanEntry(content=content, priority=priority, status=status)
            for (content, priority), status in zip(_STEPS, statuses, strict=True)
        )
    )


async def modes(ctx: TurnContext, argument: str) -> AsyncIterator[Sayable]:
    """Say the mode and change to the next one, or to the one named."""
    option = next(option for option in ctx.session.options if option.category == "mode")
    values = option.values()
    following = values[(values.index(str(option.value)) + 1) % len(values)]
    wanted = argument if argument in values else following
    yield f"The mode is {option.value}. "
    yield ev.ConfigChanged(options=choose(ctx.session.options, option.option_id, wanted))
    yield f"Now it is {wanted}."


async def subagents(ctx: TurnContext, argument: str) -> AsyncIterator[Sayable]:
    """Let a subagent work, which asks another one for help."""
    turn = ctx.turn_id
    outer, inner = f"{turn}.researcher", f"{turn}.checker"
    task = ctx.start_call("task", {"question": "How high is the tower?"}, "think", "Ask the researcher")
    yield ev.ToolUpdate(call_id=task, status="in_progress")
    yield ev.SubagentStarted(
        lane=outer, name="researcher", parent_call_id=task, description="Finds things out"
    )
    yield ev.Text(lane=outer, message_id=f"{outer}.1", delta="I look at the map. ")
    search, check = f"{outer}.call1", f"{outer}.call2"
    yield ev.ToolCall(
        lane=outer, call_id=search, name="search", kind="search", title="Search", message_id=f"{outer}.1"
    )
    yield ev.ToolInput(lane=outer, call_id=search, delta='{"query": "tower"}')
    yield ev.ToolUpdate(lane=outer, call_id=search, status="completed", raw_output={"metres": 330})
    yield ev.ToolCall(lane=outer, call_id=check, name="task", kind="think", title="Ask the checker")
    yield ev.ToolUpdate(lane=outer, call_id=check, status="in_progress")
    yield ev.SubagentStarted(lane=inner, name="checker", parent_lane=outer, parent_call_id=check)
    yield ev.Thought(lane=inner, message_id=f"{inner}.1", delta="330 is what the book says. ")
    yield ev.Text(lane=inner, message_id=f"{inner}.1", delta="That is right.")
    yield ev.SubagentFinished(lane=inner, result="right")
    yield ev.ToolUpdate(lane=outer, call_id=check, status="completed")
    yield ev.Text(lane=outer, message_id=f"{outer}.1", delta="It is 330 metres high.")
    yield ev.SubagentFinished(lane=outer, result="330 metres")
    yield ev.ToolUpdate(call_id=task, status="completed", content=(TextBlock(text="330 metres"),))
    ctx.new_message()
    yield "The tower is 330 metres high."


async def state(ctx: TurnContext, argument: str) -> AsyncIterator[Sayable]:
    """Share a state and change it by patches."""
    ctx.state.replace({"counter": 0, "items": []})
    yield "The state is set. "
    ctx.state.patch([{"op": "replace", "path": "/counter", "value": 1}])
    ctx.state.patch([{"op": "add", "path": "/items/-", "value": "first"}])
    ctx.state.update(done=True)
    yield f"The counter is {ctx.state.value['counter']}."


async def activity(ctx: TurnContext, argument: str) -> AsyncIterator[Sayable]:
    """Show structured work as it goes on."""
    activity_id = f"{ctx.turn_id}.activity1"
    yield ev.Activity(
        activity_id=activity_id, activity_type="progress", content={"title": "Copying files", "done": 0}
    )
    for done in (50, 100):
        change = {"op": "replace", "path": "/done", "value": done}
        yield ev.Activity(activity_id=activity_id, activity_type="progress", patch=(change,))
    yield "The files are copied."


async def compaction(ctx: TurnContext, argument: str) -> AsyncIterator[Sayable]:
    """Shorten the context and say what is left of it."""
    compaction_id = f"{ctx.turn_id}.compaction1"
    yield ev.Compaction(compaction_id=compaction_id, status="in_progress")
    yield ev.Compaction(
        compaction_id=compaction_id, status="completed", summary="We spoke about towers and T-shirts."
    )
    yield "The context is short again."


async def notice(ctx: TurnContext, argument: str) -> AsyncIterator[Sayable]:
    """Tell something that is not part of the answer, in three degrees."""
    ctx.notice("A tip", "Type / to see every scenario.")
    ctx.notice("Slow network", "Answers may take a little longer.", severity="warning")
    ctx.notice("A source is gone", "One page could not be read.", severity="error")
    yield "There were three notices."
