"""A session's own tools, for a graph that is compiled already: those of its MCP servers and its front end.

They are added to each model request, and run call by call. The hooks of the instrumented graph and our
middlewares both do that: a tool that is in the request already is not added again. A graph with a model node
of its own binds them itself: ``session_tools()``.
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
from trunkline.agents.langchain.permissions.operator_policy import decide_by_policy
from trunkline.agents.langchain.permissions.verdicts import answer_of
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

_EMITTED = "trunkline.tools.emitted"
_BOUND = "trunkline.tools.bound"


async def wait_for_tools(channel: Channel) -> list[BaseTool]:
    """Wait for the session's servers, report those that failed, and give all tools.

    Call it at the start of a turn, before the graph runs.
    """
    await wait_for_servers(channel.memory)
    await restore_client_tools(channel)
    _emit_failures(channel)
    return tools_of(channel)


def tools_of(channel: Channel) -> list[BaseTool]:
    """The session's own tools; of two with one name the server's is used, not the front end's."""
    named: dict[str, BaseTool] = {}
    for tool in attached_tools(channel.memory):
        named.setdefault(tool.name, tool)
    for tool in client_tools(channel):
        if named.setdefault(tool.name, tool) is not tool:
            _warn_clash(channel, tool.name)
    return list(named.values())


def find_tool(channel: Channel | None, name: str) -> BaseTool | None:
    """The session's own tool of this name; its metadata has the annotations of its server."""
    found = [*tools_of(channel), *restored_client_tools(channel)] if channel is not None else ()
    return next((tool for tool in found if tool.name == name), None)


def session_tools() -> list[BaseTool]:
    """The session's own tools, for a graph that binds its model itself: call it inside a node."""
    channel = current_channel()
    if channel is None:
        return []
    channel.memory[_BOUND] = True
    return tools_of(channel)


class OfferedTool(dict[str, Any]):
    """A tool as models take it: ``create_agent`` refuses a BaseTool that it does not know, but no dict."""

    metadata: dict[str, Any] | None = None


def add_tools(request: Any, channel: Channel | None) -> Any:
    """Add the session's tools to a model request, unless they are there; a tool of the graph comes first."""
    tools = tools_of(channel) if channel is not None else []
    if channel is None or not tools:
        return request
    _emit_failures(channel)
    present = {_name_of(tool): tool for tool in request.tools}
    added: list[Any] = []
    for tool in tools:
        if tool.name not in present:
            made = OfferedTool(convert_to_openai_tool(tool))
            made.metadata = tool.metadata
            added.append(made)
        elif not isinstance(present[tool.name], OfferedTool):
            _warn_clash(channel, tool.name)
    return request.override(tools=[*request.tools, *added]) if added else request


async def run_tool_call(
    request: Any, handler: Callable[[Any], Awaitable[Any]], channel: Channel | None
) -> Any:
    """Run a tool call, with the session's tool if the graph has none of that name."""
    with keep_content_types() as restore:
        return restore(await handler(_with_tool(request, channel)))


def run_tool_call_sync(request: Any, handler: Callable[[Any], Any], channel: Channel | None) -> Any:
    """Run a tool call, with the session's tool if the graph has none of that name."""
    with keep_content_types() as restore:
        return restore(handler(_with_tool(request, channel)))


def _with_tool(request: Any, channel: Channel | None) -> Any:
    tool = find_tool(channel, request.tool_call["name"]) if request.tool is None else None
    return request if tool is None else request.override(tool=tool)


async def answer_open_calls(
    calls: Sequence[Mapping[str, Any]], channel: Channel, own: Collection[str] = ()
) -> list[ToolMessage]:
    """Run the calls that a graph left open and that are for the session's tools, side by side.

    Calls of the graph's ``own`` tools and of unknown ones are left open.
    """
    if not calls:
        return []
    await restore_client_tools(channel)
    found = ((find_tool(channel, call["name"]), call) for call in calls if call["name"] not in own)
    ours = [_answer(tool, call, channel) for tool, call in found if tool is not None]
    with use_channel(channel):
        return list(await asyncio.gather(*ours))


async def _answer(tool: BaseTool, call: Any, channel: Channel) -> ToolMessage:
    verdict = await decide_by_policy(channel, call)
    if verdict is not None and not verdict:
        return _emit_result(channel, answer_of(call, verdict))
    if verdict is not None and verdict.args is not None:
        call = {**call, "args": verdict.args}
    channel.emitter.tool_started(None, call["id"], tool.name, call["args"])
    try:
        answered: ToolMessage = await tool.ainvoke({**call, "type": "tool_call"})
    except TurnCancelled:
        raise
    except (Exception, SystemExit) as error:
        answered = answer_error(call, error)
    return _emit_result(channel, answered)


def _emit_result(channel: Channel, answered: ToolMessage) -> ToolMessage:
    answered.id = answered.id or new_id("result")
    channel.emitter.tool_message(None, answered)
    return answered


# -- notices ---------------------------------------------------------------------------------------


def _emit_failures(channel: Channel) -> None:
    for notice in server_failures(channel.memory):
        channel.emit(notice)


def warn_unbound_tools(channel: Channel) -> None:
    """Emit a notice if no model of this graph got the session's tools; call it at the end of a run."""
    tools = tools_of(channel)
    if tools and not channel.memory.get(_BOUND):
        names = ", ".join(tool.name for tool in tools[:5]) + (" and others" if len(tools) > 5 else "")
        _emit_once(
            channel,
            ev.Notice(
                title="This agent does not use the tools of the session",
                description=f"its graph has a model node of its own, and {names} must be bound there: "
                "give its model trunkline.agents.langchain.session_tools()",
                severity="warning",
                code="tools_unbound",
            ),
        )


def _warn_clash(channel: Channel, name: str) -> None:
    _emit_once(
        channel,
        ev.Notice(
            title=f"Two tools are called {name!r}",
            description="the agent's side has it already, and the other one is not used: rename that one",
            severity="warning",
            code="tool_clash",
        ),
    )


def _emit_once(channel: Channel, notice: ev.Notice) -> None:
    emitted: set[str] = channel.memory.setdefault(_EMITTED, set())
    if notice.title not in emitted:
        emitted.add(notice.title)
        channel.emit(notice)


def _name_of(tool: Any) -> str:
    if not isinstance(tool, dict):
        return str(getattr(tool, "name", ""))
    given = cast("dict[str, Any]", tool)
    return str(cast("dict[str, Any]", given.get("function") or given).get("name") or "")
