"""Scenarios that ask: permissions, a form, a link, a tool of the front end."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from typing import Any, cast

from trunkline import events as ev
from trunkline.agents.interface import Sayable
from trunkline.content import DiffBlock
from trunkline.demos.scenarios.tools import path_of
from trunkline.errors import WorkspaceError
from trunkline.session.context import TurnContext

_FIELDS = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "title": "Your name"},
        "colour": {"type": "string", "title": "A colour", "enum": ["red", "green", "blue"]},
        "copies": {"type": "integer", "title": "How many copies", "default": 1},
        "gift": {"type": "boolean", "title": "As a gift", "default": False},
    },
    "required": ["name", "colour"],
}


def permission(ctx: TurnContext, argument: str) -> AsyncIterator[Sayable]:
    """Ask before writing hello.txt, then really write it."""
    return _write(ctx, "Write hello.txt?", allows_edit=False)


def edit(ctx: TurnContext, argument: str) -> AsyncIterator[Sayable]:
    """Ask before writing hello.txt; the arguments may be edited."""
    return _write(ctx, "Write hello.txt? You may change what is written.", allows_edit=True)


async def _write(ctx: TurnContext, message: str, *, allows_edit: bool) -> AsyncIterator[Sayable]:
    yield "I would like to write a file. "
    proposed = {"path": "hello.txt", "content": "hello\n"}
    call_id = ctx.start_call(
        "write_file", proposed, "edit", "Write hello.txt", (path_of(ctx, proposed["path"]),)
    )
    decision = await ctx.permission(
        message,
        tool="write_file",
        kind="edit",
        input=proposed,
        call_id=call_id,
        allows_edit=allows_edit,
        paths=(path_of(ctx, proposed["path"]),),
        content=await _diff(ctx, proposed["path"], proposed["content"]),
    )
    if not decision:
        yield "Nothing was written."
        return
    path, content = _wanted(decision.input)
    written = await _diff(ctx, path, content)
    if ctx.session.cwd is not None:
        await ctx.files.write(path, content)
    yield ev.ToolUpdate(call_id=call_id, status="completed", content=(written,))
    if ctx.session.cwd is None:
        yield f"{path} would be written if this session had a folder."
    else:
        yield f"{path} is written."


async def _diff(ctx: TurnContext, path: str, content: str) -> DiffBlock:
    """What writing would change: a file that is there is overwritten, and the person sees that."""
    old = None
    if ctx.session.cwd is not None:
        with contextlib.suppress(WorkspaceError):
            old = await ctx.files.read(path) if await ctx.files.exists(path) else None
    return DiffBlock(path=path_of(ctx, path), old=old, new=content)


def _wanted(input: Any) -> tuple[str, str]:
    """Read arguments that a person may have edited."""
    given = cast("dict[str, Any]", input)
    return str(given.get("path", "hello.txt")), str(given.get("content", ""))


async def permission_twice(ctx: TurnContext, argument: str) -> AsyncIterator[Sayable]:
    """Ask for two permissions at the same time."""
    group = f"{ctx.turn_id}.group1"

    async def may(name: str, kind: ev.ToolKind) -> str:
        decision = await ctx.permission(f"{name}?", tool=name, kind=kind, input={"step": name}, group=group)
        return f"{name}: {'allowed' if decision else 'refused'}"

    answers = await asyncio.gather(may("read_notes", "read"), may("send_report", "execute"))
    yield ", ".join(answers)


async def form(ctx: TurnContext, argument: str) -> AsyncIterator[Sayable]:
    """Ask for a few fields."""
    order = await ctx.form("Please order a T-shirt.", _FIELDS)
    yield (
        "No order, then."
        if order is None
        else f"Ordered: {json.dumps(order, sort_keys=True, ensure_ascii=False)}"
    )


async def link(ctx: TurnContext, argument: str) -> AsyncIterator[Sayable]:
    """Ask to visit an address."""
    visited = await ctx.link("Please confirm the device in your browser.", "https://example.com/device")
    yield "Thank you, the device is confirmed." if visited else "The device was not confirmed."


async def client_tool(ctx: TurnContext, argument: str) -> AsyncIterator[Sayable]:
    """Call a tool of the front end."""
    tools = ctx.prompt.tools
    name = str(tools[0].get("name", "pick_colour")) if tools else "pick_colour"
    result = await ctx.client_call(name, {"choices": ["red", "green", "blue"]})
    yield (
        "The front end gave nothing."
        if result is None
        else f"The front end gave {json.dumps(result, ensure_ascii=False)}."
    )
