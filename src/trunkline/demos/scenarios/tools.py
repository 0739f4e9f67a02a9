"""Scenarios with tool calls: streamed arguments, parallel calls, a diff, a terminal."""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncIterator

from trunkline import events as ev
from trunkline.agents.interface import Sayable
from trunkline.content import DiffBlock, TerminalBlock, TextBlock
from trunkline.session.context import TurnContext

_COMMAND = ("-c", "for number in (1, 2, 3): print('line', number, flush=True)")


def path_of(ctx: TurnContext, name: str) -> str:
    """Name a file of the session; one without a folder has files in an imaginary one."""
    return os.path.join(ctx.session.cwd or "/demo", name)


async def tools(ctx: TurnContext, argument: str) -> AsyncIterator[Sayable]:
    """Call a tool: arguments, output and result."""
    yield "Let me look that up. "
    call_id = ctx.start_call("search", kind="search", title="Search the notes")
    for piece in ('{"que', 'ry": "trunk', 'line", "limit": 2}'):
        yield ev.ToolInput(call_id=call_id, delta=piece)
    query = {"query": "trunkline", "limit": 2}
    yield ev.ToolUpdate(call_id=call_id, status="in_progress", input=query)
    hits = ["notes/design.md", "notes/names.md"]
    for hit in hits:
        yield ev.ToolUpdate(call_id=call_id, output=f"{hit}\n")
    yield ev.ToolUpdate(
        call_id=call_id,
        status="completed",
        content=(TextBlock(text="Found 2 notes."),),
        raw_output={"hits": hits},
        result_message_id=f"{ctx.turn_id}.result1",
    )
    ctx.new_message()
    yield "There are two notes about trunkline."


async def parallel_tools(ctx: TurnContext, argument: str) -> AsyncIterator[Sayable]:
    """Call two tools at once; the second ends first and the first fails."""
    paris = ctx.start_call("weather", kind="fetch", title="Weather in Paris")
    oslo = ctx.start_call("weather", kind="fetch", title="Weather in Oslo")
    for first, second in (('{"city"', '{"city": "O'), (': "Paris"}', 'slo"}')):
        yield ev.ToolInput(call_id=paris, delta=first)
        yield ev.ToolInput(call_id=oslo, delta=second)
    yield ev.ToolUpdate(call_id=paris, status="in_progress", input={"city": "Paris"})
    yield ev.ToolUpdate(call_id=oslo, status="in_progress", input={"city": "Oslo"})
    yield ev.ToolUpdate(call_id=oslo, status="completed", output="-3 °C", raw_output={"celsius": -3})
    yield ev.ToolUpdate(call_id=paris, status="failed", reason="the station does not answer")
    ctx.new_message()
    yield "Oslo has -3 °C. The station of Paris does not answer."


async def diff(ctx: TurnContext, argument: str) -> AsyncIterator[Sayable]:
    """Show a change of a file; nothing is written."""
    path = path_of(ctx, "greeting.py")
    location = ev.Location(path=path, line=2)
    call_id = ctx.start_call("edit_file", {"path": path}, "edit", "Edit greeting.py", (location,))
    yield ev.ToolUpdate(call_id=call_id, status="in_progress")
    old = 'def greet():\n    return "hello"\n'
    yield ev.ToolUpdate(
        call_id=call_id,
        status="completed",
        content=(DiffBlock(path=path, old=old, new=old.replace("hello", "hello, world")),),
    )
    yield "The greeting is friendlier now."


async def terminal(ctx: TurnContext, argument: str) -> AsyncIterator[Sayable]:
    """Run a command in a terminal and show its output."""
    call_id = ctx.start_call("run_command", {"command": "count to three"}, "execute", "Count to three")
    yield ev.ToolUpdate(call_id=call_id, status="in_progress")
    if ctx.session.cwd is None:
        # Without a folder there is no place to run anything in.
        terminal_id = f"{ctx.turn_id}.terminal1"
        yield ev.ToolUpdate(call_id=call_id, content=(TerminalBlock(terminal_id=terminal_id),))
        for number in (1, 2, 3):
            yield ev.TerminalOutput(terminal_id=terminal_id, data=f"line {number}\n")
        code = 0
        yield ev.TerminalOutput(terminal_id=terminal_id, exited=True, exit_code=code)
    else:
        running = await ctx.terminals.create([sys.executable, *_COMMAND])
        try:
            terminal_id = running.terminal_id
            yield ev.ToolUpdate(call_id=call_id, content=(TerminalBlock(terminal_id=terminal_id),))
            async for piece in running.stream():
                yield ev.TerminalOutput(terminal_id=terminal_id, data=piece)
            code, signal = await running.wait()
            yield ev.TerminalOutput(terminal_id=terminal_id, exited=True, exit_code=code, signal=signal)
        finally:
            await running.release()
    yield ev.ToolUpdate(call_id=call_id, status="completed", raw_output={"exit_code": code})
    yield "The command counted to three."
