"""Agents that are called as tools: what they say is shown in a lane of its own.

``Agent.as_tool()`` shows nothing of the inner run unless it is given ``on_stream``, and it keeps its settings
inside its function. The copy has the same function with two other values in it: the copied inner agent, and a
listener. That uses names of the SDK that are not public: where they are missing, the tool runs as it is.
"""

from __future__ import annotations

import copy
import functools
import inspect
from collections.abc import Awaitable, Callable
from types import CellType, FunctionType
from typing import Any, cast

from agents.tool_context import ToolContext

from agents import Agent, FunctionTool
from trunkline.agents.openai.running_calls import OUTER, PARENT

_INNER_AGENT, _LISTENER = "self", "on_stream"


def inner_agent(tool: FunctionTool) -> Agent[Any] | None:
    """The agent that a tool calls; None for any other tool."""
    found: Any = getattr(tool, "_agent_instance", None)
    return cast("Agent[Any]", found) if isinstance(found, Agent) else None


class CannotShow(Exception):
    """The SDK keeps an agent's tool in another way than it did: the run of this agent cannot be shown."""


def copy_agent_tool(
    tool: FunctionTool, inner: Agent[Any], listen: Callable[[Any], Awaitable[None]]
) -> FunctionTool:
    """Give a copy of an agent's tool that calls ``inner``; ``listen`` gets the events of the inner run."""
    copied = copy.copy(tool)
    invoker: Any = copied.on_invoke_tool
    function: Any = getattr(invoker, "_invoke_tool_impl", None)
    if not isinstance(function, FunctionType) or function.__closure__ is None:
        raise CannotShow(inner.name)
    cells = dict(zip(function.__code__.co_freevars, function.__closure__, strict=True))
    if _INNER_AGENT not in cells or _LISTENER not in cells:
        raise CannotShow(inner.name)
    own: Any = cells[_LISTENER].cell_contents

    async def on_stream(payload: Any) -> None:
        await listen(payload)
        if own is not None:
            given: Any = own(payload)
            if inspect.isawaitable(given):
                await given

    cells[_INNER_AGENT], cells[_LISTENER] = CellType(inner), CellType(on_stream)
    changed = FunctionType(
        function.__code__,
        function.__globals__,
        function.__name__,
        function.__defaults__,
        tuple(cells.values()),
    )
    changed.__kwdefaults__ = function.__kwdefaults__
    changed.__dict__.update(function.__dict__)

    @functools.wraps(changed)
    async def run(context: ToolContext[Any], arguments: str) -> Any:
        outer = OUTER.set(PARENT.get())
        token = PARENT.set(context.tool_call_id)
        try:
            return await changed(context, arguments)
        finally:
            PARENT.reset(token)
            OUTER.reset(outer)

    made: Any = type(invoker)(run, invoker._on_handled_error)
    copied.on_invoke_tool = made.__agents_bind_function_tool__(copied)
    cast("Any", copied)._agent_instance = inner
    return copied
