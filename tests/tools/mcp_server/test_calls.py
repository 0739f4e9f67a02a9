"""Calls for MCP clients: progress from any thread, and questions that wait for a retry."""

import asyncio
from typing import Any

from tests.hubs import soon

from trunkline.session.permissions import Permissions
from trunkline.tools import tool
from trunkline.tools.calls import call_tool
from trunkline.tools.mcp_server.calls import McpHost, WaitingCall
from trunkline.tools.tool_context import ToolContext


@tool
def tell(*, ctx: ToolContext) -> str:
    """Tell something from a thread."""
    ctx.progress("one")
    ctx.progress("two")
    return "told"


async def test_progress_of_plain_code_comes_in_order_and_before_the_result() -> None:
    said: list[str] = []
    host = McpHost("c1", Permissions(None), None, said.append)
    assert await soon(call_tool(tell, {}, host)) == "told"
    assert said == ["one", "two"]


async def test_a_form_that_is_declined_gives_nothing() -> None:
    async def decline(form: dict[str, Any]) -> Any:
        return {"action": "decline"}

    host = McpHost("c1", Permissions(None), decline, lambda text: None)
    assert await host.form("How many?", {"many": {"type": "integer"}}) is None


async def test_work_goes_on_from_question_to_question_to_its_end() -> None:
    call = WaitingCall()

    async def work() -> list[Any]:
        return [await call.elicit({"message": "a"}), await call.elicit({"message": "b"})]

    call.work = asyncio.create_task(work())
    assert await soon(call.step()) == {"message": "a"}
    call.answer(1)
    call.answer("late")
    assert await soon(call.step()) == {"message": "b"}
    call.answer(2)
    assert await soon(call.step()) is None
    assert await call.work == [1, 2]
