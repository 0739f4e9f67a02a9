"""Adapters: a tool finds the call that is shown of it, and shows nothing twice."""

from typing import Any

import pytest
from tests.hubs import collect, only, run_turn, session_for

from trunkline import events as ev
from trunkline.commands import Answer
from trunkline.session.context import Decision, TurnContext
from trunkline.tools import ToolContext, tool
from trunkline.tools.adapter_calls import ShownCall, find_call, host_of, show_calls
from trunkline.tools.calls import call_tool
from trunkline.tools.tool_context import Asking


@tool(permission="ask")
async def pay(amount: int, *, ctx: ToolContext) -> str:
    """Pay."""
    ctx.progress("paying\n")
    return f"paid {amount}"


async def test_without_an_adapter_a_call_has_a_card_under_the_id_of_the_framework() -> None:
    async def agent(ctx: TurnContext) -> None:
        assert find_call(ctx, "n1") is None
        await call_tool(pay, {"amount": 1}, host_of("n1", approved=True))

    async with session_for(agent) as session:

        async def press(asked: ev.Asked) -> None:
            await session.answer(Answer(question_id=asked.question_id, option_id="allow_once"))

        events = await collect(session, "go", {ev.Asked: press})
    assert [call.call_id for call in only(events, ev.ToolCall)] == ["n1"]


@pytest.mark.parametrize("approved", [True, False])
async def test_the_card_of_an_adapter_is_used_and_an_approved_call_is_not_asked_about(approved: bool) -> None:
    said: list[Any] = []

    async def permit(asking: Asking) -> Decision:
        said.append((asking.message, asking.before_run))
        return Decision(allowed=True, call_id="shown", input=asking.input)

    async def agent(ctx: TurnContext) -> None:
        ctx.start_call("pay", call_id="shown")
        call = ShownCall(call_id="shown", approved=approved, progress=said.append, permit=permit)
        show_calls(ctx, {"n1": call}.get)
        assert await call_tool(pay, {"amount": 1}, host_of("n1")) == "paid 1"

    events = await run_turn(agent)
    assert [call.call_id for call in only(events, ev.ToolCall)] == ["shown"]
    assert not only(events, ev.Asked)
    assert said == [*([] if approved else [("Pay?", True)]), "paying\n"]


async def test_without_functions_of_the_adapter_the_turn_shows_progress_and_asks() -> None:
    async def agent(ctx: TurnContext) -> None:
        ctx.start_call("pay", call_id="shown")
        show_calls(ctx, {"n1": ShownCall(call_id="shown")}.get)
        await call_tool(pay, {"amount": 1}, host_of("n1"))

    async with session_for(agent) as session:

        async def press(asked: ev.Asked) -> None:
            await session.answer(Answer(question_id=asked.question_id, option_id="allow_once"))

        events = await collect(session, "go", {ev.Asked: press})
    assert len(only(events, ev.ToolCall)) == len(only(events, ev.Asked)) == 1
    assert "paying\n" in [update.output for update in only(events, ev.ToolUpdate)]
