"""A session's own tools, for a graph that is compiled already: its MCP servers' and its front end's.

They are offered to the model request by request, and carried out call by call. Whoever wraps model and
tool calls of a graph may do so here (our doors, a middleware, both): what is offered already is not
offered again. A graph with a model node of its own can ask for them: ``session_tools()``.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from typing import Any, cast

from langchain_core.messages import ToolMessage
from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_tool

from trunkline import events as ev
from trunkline.agents.langchain.channel import Channel, current_channel, use_channel
from trunkline.agents.langchain.errors import answer_error
from trunkline.agents.langchain.tools.attached_servers import (
    attached_tools,
    server_failures,
    wait_for_servers,
)
from trunkline.agents.langchain.tools.client_tools import (
    client_tools,
    restore_client_tools,
    restored_client_tools,
)
from trunkline.agents.langchain.tools.current_call import keep_content_types
from trunkline.errors import TurnCancelled
from trunkline.session.ids import new_id

__all__ = [
    "answer_open_calls",
    "run_tool_call",
    "run_tool_call_sync",
    "tools_of",
    "find_tool",
    "wait_for_tools",
    "add_tools",
    "session_tools",
    "warn_unbound_tools",
]

_SAID = "trunkline.tools.said"
_ASKED = "trunkline.tools.asked"


async def wait_for_tools(channel: Channel) -> list[BaseTool]:
    """Wait for the session's servers, tell what is wrong with any, and give all tools there are.

    Call it where a turn begins, before the graph runs.
    """
    await wait_for_servers(channel.memory)
    await restore_client_tools(channel)
    _tell_news(channel)
    return tools_of(channel)


def tools_of(channel: Channel) -> list[BaseTool]:
    """The tools of this session beside the agent's own; a server's goes before a front end's of its name."""
    named: dict[str, BaseTool] = {}
    for tool in attached_tools(channel.memory):
        named.setdefault(tool.name, tool)
    for tool in client_tools(channel):
        if named.setdefault(tool.name, tool) is not tool:
            _tell_clash(channel, tool.name)
    return list(named.values())


def find_tool(channel: Channel | None, name: str) -> BaseTool | None:
    """The session's own tool of this name; its metadata is what its server says of it."""
    found = [*tools_of(channel), *restored_client_tools(channel)] if channel is not None else ()
    return next((tool for tool in found if tool.name == name), None)


def session_tools() -> list[BaseTool]:
    """The session's own tools, for a graph that binds its model by itself: call it inside a node."""
    channel = current_channel()
    if channel is None:
        return []
    channel.memory[_ASKED] = True
    return tools_of(channel)


class OfferedTool(dict[str, Any]):
    """A tool as models take it. Unlike a BaseTool, a graph does not insist on knowing it beforehand."""

    metadata: dict[str, Any] | None = None


def add_tools(request: Any, channel: Channel | None) -> Any:
    """Add the session's tools to a request to the model, unless they are there; the graph's own win."""
    tools = tools_of(channel) if channel is not None else []
    if channel is None or not tools:
        return request
    _tell_news(channel)
    present = {_name_of(tool): tool for tool in request.tools}
    added: list[Any] = []
    for tool in tools:
        if tool.name not in present:
            made = OfferedTool(convert_to_openai_tool(tool))
            made.metadata = tool.metadata
            added.append(made)
        elif not isinstance(present[tool.name], OfferedTool):
            _tell_clash(channel, tool.name)
    return request.override(tools=[*request.tools, *added]) if added else request


async def run_tool_call(
    request: Any, handler: Callable[[Any], Awaitable[Any]], channel: Channel | None
) -> Any:
    """Carry a tool call out, with the session's tool if the graph has none of that name."""
    with keep_content_types() as restore:
        return restore(await handler(_with_tool(request, channel)))


def run_tool_call_sync(request: Any, handler: Callable[[Any], Any], channel: Channel | None) -> Any:
    """Carry a tool call out, with the session's tool if the graph has none of that name."""
    with keep_content_types() as restore:
        return restore(handler(_with_tool(request, channel)))


def _with_tool(request: Any, channel: Channel | None) -> Any:
    tool = find_tool(channel, request.tool_call["name"]) if request.tool is None else None
    return request if tool is None else request.override(tool=tool)


async def answer_open_calls(
    calls: Sequence[Mapping[str, Any]], channel: Channel, own: Collection[str] = ()
) -> list[ToolMessage]:
    """Carry out those calls that are the session's to answer, side by side.

    For calls that a graph left open. Its ``own`` tools and those that nobody knows stay as they are.
    """
    if not calls:
        return []
    await restore_client_tools(channel)
    found = ((find_tool(channel, call["name"]), call) for call in calls if call["name"] not in own)
    ours = [_answer(tool, call, channel) for tool, call in found if tool is not None]
    with use_channel(channel):
        return list(await asyncio.gather(*ours))


async def _answer(tool: BaseTool, call: Any, channel: Channel) -> ToolMessage:
    channel.emitter.tool_started(None, call["id"], tool.name, call["args"])
    try:
        answered: ToolMessage = await tool.ainvoke({**call, "type": "tool_call"})
    except TurnCancelled:
        raise
    except (Exception, SystemExit) as error:
        answered = answer_error(call, error)
    answered.id = answered.id or new_id("result")
    channel.emitter.tool_message(None, answered)
    return answered


# -- telling ---------------------------------------------------------------------------------------


def _tell_news(channel: Channel) -> None:
    for notice in server_failures(channel.memory):
        channel.say(notice)


def warn_unbound_tools(channel: Channel) -> None:
    """Say that this graph offered the session's tools to nobody; call it when its run is over."""
    tools = tools_of(channel)
    if tools and not channel.memory.get(_ASKED):
        names = ", ".join(tool.name for tool in tools[:5]) + (" and others" if len(tools) > 5 else "")
        _say_once(
            channel,
            ev.Notice(
                title="This agent does not use the tools of the session",
                description=f"its graph has a model node of its own, and {names} must be bound there: "
                "give its model trunkline.agents.langchain.session_tools()",
                severity="warning",
                code="tools_unbound",
            ),
        )


def _tell_clash(channel: Channel, name: str) -> None:
    _say_once(
        channel,
        ev.Notice(
            title=f"Two tools are called {name!r}",
            description="the agent's side has it already, and the other one is not used: rename that one",
            severity="warning",
            code="tool_clash",
        ),
    )


def _say_once(channel: Channel, notice: ev.Notice) -> None:
    said: set[str] = channel.memory.setdefault(_SAID, set())
    if notice.title not in said:
        said.add(notice.title)
        channel.say(notice)


def _name_of(tool: Any) -> str:
    if not isinstance(tool, dict):
        return str(getattr(tool, "name", ""))
    given = cast("dict[str, Any]", tool)
    return str(cast("dict[str, Any]", given.get("function") or given).get("name") or "")
