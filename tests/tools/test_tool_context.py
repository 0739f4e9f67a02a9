"""The context of a tool: inside of a turn and outside of one."""

import asyncio
from typing import Any

import pytest
from tests.hubs import collect, only, run_turn, session_for

from trunkline import events as ev
from trunkline.commands import Answer
from trunkline.content import TextBlock
from trunkline.questions import Form, Permission
from trunkline.tools import ToolContext, ToolDenied, ToolError, ToolRegistry, tool


@tool(kind="edit")
async def rename(category: str, *, ctx: ToolContext) -> str:
    """Rename a category."""
    await ctx.require_permission(f"Rename {category}?", content="14 transactions change")
    return "renamed"


@tool
def survey(*, ctx: ToolContext) -> Any:
    """Ask something, from a plain function."""
    return ctx.wait(ctx.form("How many?", {"many": {"type": "integer"}}))


@tool
async def look(*, ctx: ToolContext) -> Any:
    """Look around."""
    ctx.progress("")
    assert ctx.turn is not None
    return [ctx.session is ctx.turn.session, ctx.call_id, ctx.files is ctx.turn.files]


async def test_outside_of_a_session_nobody_is_asked_and_there_are_no_files() -> None:
    ctx = ToolContext(rename, {})
    assert (ctx.session, ctx.turn, ctx.call_id) == (None, None, None)
    ctx.progress("nobody sees it")
    with pytest.raises(ToolError, match="works on the files of a session"):
        _ = ctx.files
    with pytest.raises(ToolError, match="no session in which somebody could be asked"):
        await ctx.form("How many?", {})
    with pytest.raises(RuntimeError, match="write await instead"):
        ctx.wait(ctx.permission("Go on?"))
    assert not await asyncio.to_thread(lambda: ctx.wait(ctx.permission("Go on?")))
    with pytest.raises(ToolDenied, match="there is no session in which"):
        await ctx.require_permission("Go on?")
    assert not await ctx.permission("Go on?")


@pytest.mark.parametrize(("option", "status"), [("allow_once", "completed"), ("reject_once", "denied")])
async def test_a_tool_asks_in_the_middle_of_its_work_with_what_would_change(option: str, status: str) -> None:
    async def agent() -> None:
        await ToolRegistry([rename]).call("rename", {"category": "Food"})

    async with session_for(agent) as session:

        async def press(asked: ev.Asked) -> None:
            await session.answer(Answer(question_id=asked.question_id, option_id=option))

        events = await collect(session, "go", {ev.Asked: press})
    (asked,) = only(events, ev.Asked)
    assert isinstance(asked.question, Permission)
    assert asked.question.message == "Rename Food?"
    updates = only(events, ev.ToolUpdate)
    assert (TextBlock(text="14 transactions change"),) in [update.content for update in updates]
    assert [update.status for update in updates if update.status][-1] == status


async def test_a_plain_tool_asks_for_fields() -> None:
    results: list[Any] = []

    async def agent() -> None:
        results.append(await ToolRegistry([survey]).call("survey"))

    async with session_for(agent) as session:

        async def fill_in(asked: ev.Asked) -> None:
            assert isinstance(asked.question, Form)
            await session.answer(
                Answer(question_id=asked.question_id, outcome="accepted", content={"many": 3})
            )

        await collect(session, "go", {ev.Asked: fill_in})
    assert results == [{"many": 3}]


async def test_in_a_turn_a_tool_has_the_session_and_its_files() -> None:
    results: list[Any] = []

    async def agent() -> None:
        results.append(await ToolRegistry([look]).call("look", call_id="call_1"))

    await run_turn(agent)
    assert results == [[True, "call_1", True]]
