"""Scenarios that go wrong: an error with a name, one without, and an agent that keeps no rules."""

from __future__ import annotations

from collections.abc import AsyncIterator

from trunkline import events as ev
from trunkline.agents.interface import Sayable
from trunkline.errors import AgentError
from trunkline.session.context import TurnContext


async def fails(ctx: TurnContext, argument: str) -> AsyncIterator[Sayable]:
    """Fail with an error that says what to do."""
    yield "This goes well until "
    raise AgentError("the demo failed on purpose; send anything else to see it work")


async def raises(ctx: TurnContext, argument: str) -> AsyncIterator[Sayable]:
    """Raise an exception in the middle of a sentence."""
    yield "This sentence has no "
    async with ctx.tool("work", title="Work until it breaks"):
        raise RuntimeError("something broke inside the agent, on purpose")


async def breaks_grammar(ctx: TurnContext, argument: str) -> AsyncIterator[Sayable]:
    """Break every rule that one turn can break; it still ends well."""
    turn = ctx.turn_id
    yield "I never learned the rules. "
    yield ev.ToolUpdate(call_id=f"{turn}.ghost", status="completed", title="Never announced")
    yield ev.ToolUpdate(call_id=f"{turn}.ghost", status="failed")
    yield ev.ToolInput(call_id=f"{turn}.ghost", delta="{}")
    yield ev.Text(turn_id="a-turn-of-nobody", message_id=ctx.message_id, delta="Whose turn is it? ")
    yield ev.Text(lane=f"{turn}.stranger", message_id=f"{turn}.stranger.1", delta="Nobody knows me. ")
    yield ev.SubagentFinished(lane=f"{turn}.stranger")
    yield ev.Text(lane=f"{turn}.stranger", message_id=f"{turn}.stranger.1", delta="Still here. ")
    yield ev.SubagentStarted(lane=f"{turn}.forgotten", name="forgotten")
    yield ev.StepFinished(step_id="never-started")
    yield ev.Activity(
        activity_id=f"{turn}.unseen",
        activity_type="progress",
        patch=({"op": "replace", "path": "/done", "value": 1},),
    )
    yield ev.TerminalOutput(terminal_id=f"{turn}.terminal1", data="bye\n", exited=True, exit_code=0)
    yield ev.TerminalOutput(terminal_id=f"{turn}.terminal1", data="not quite\n")
    yield ev.TurnSuspended()
    yield ev.Answered(question_id=f"{turn}.unasked", outcome="accepted")
    ctx.start_call("endless", title="Never finished")
    yield "But I mean well."
    yield ev.TurnFinished()
    yield "One more thing."
