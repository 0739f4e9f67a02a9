"""A registry for MCP clients: reads, edits, asks, fails, prints, waits and draws."""

import asyncio
import os
import sys
from pathlib import Path
from typing import Any

from trunkline.content import ImageBlock
from trunkline.tools import Table, ToolContext, ToolRegistry, ToolResult, tool

registry = ToolRegistry()

PNG = "iVBORw0KGgo="


@registry.register(kind="read")
def spending(category: str, months: int = 1) -> Table:
    """Sum up what was spent.

    Args:
        category: one category
    """
    sys.stdout.write("printed by a tool\n")
    os.write(1, b"written to the descriptor\n")
    return Table(("category", "months"), [(category, months)])


@registry.register(
    kind="execute",
    permission="ask",
    options={"allow_once": "Allow once", "allow_always": "Always allow SQL", "reject_once": "Reject"},
)
async def run_sql(query: str) -> dict[str, Any]:
    """Run one query."""
    return {"rows": [query]}


@registry.register(kind="edit")
async def rename(category: str, *, ctx: ToolContext) -> str:
    """Rename a category, which asks in the middle."""
    ctx.progress("looking\n")
    await ctx.require_permission(f"Rename {category}?", content="14 transactions change")
    return "renamed"


@registry.register
def ask_plainly(*, ctx: ToolContext) -> Any:
    """Ask for a field, from a plain function."""
    return ctx.wait(ctx.form("How many?", {"many": {"type": "integer"}}))


@registry.register
async def count(to: int) -> Any:
    """Count, with progress."""
    for number in range(to):
        yield f"{number}\n"
    yield {"counted": to}


@registry.register(shows="image")
def chart() -> ToolResult:
    """Draw a chart."""
    return ToolResult({"sum": 3}, ImageBlock(mime_type="image/png", data=PNG))


@registry.register
def broken() -> None:
    """Break down."""
    raise RuntimeError("out of paper")


def _leave_mark() -> None:
    Path(os.environ["MARK"]).write_text("cancelled", encoding="utf-8")


@registry.register
async def wait_for_ever(*, ctx: ToolContext) -> None:
    """Wait, and leave a mark when it is cancelled."""
    ctx.progress("waiting")
    try:
        await asyncio.Event().wait()
    finally:
        _leave_mark()


many = ToolRegistry()


def _number(of: int) -> Any:
    def give() -> int:
        """Give a number."""
        return of

    return tool(name=f"number_{of}")(give)


for each in range(120):
    many.register(_number(each))
