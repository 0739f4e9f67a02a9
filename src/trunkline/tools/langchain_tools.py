"""The tools of a registry for LangChain."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Any

from langchain_core.tools import BaseTool, ToolException

from trunkline.session.context import current
from trunkline.session.handles import in_loop
from trunkline.tools.adapter_calls import host_of, mark_declared
from trunkline.tools.calls import call_tool
from trunkline.tools.declaration import Tool
from trunkline.tools.errors import ToolError
from trunkline.tools.langchain_call_id import CalledTool, called_id
from trunkline.tools.results import model_text, write_shown


class RegistryTool(CalledTool):
    """A tool of a registry."""

    trunkline_tool: Any = None


def structured_tools(tools: Iterable[Tool], *, may_run: bool) -> list[BaseTool]:
    """Make LangChain's tools; ``may_run`` lets those run outside of a session that would ask."""
    return [_structured_tool(one, may_run) for one in tools]


def _structured_tool(tool: Tool, may_run: bool) -> BaseTool:
    async def call(**arguments: Any) -> tuple[str, dict[str, Any]]:
        try:
            result = await call_tool(tool, arguments, host_of(called_id(), may_run=may_run))
        except ToolError as error:
            raise ToolException(str(error)) from error
        return model_text(result), write_shown(result, tool.shows)

    def call_sync(**arguments: Any) -> tuple[str, dict[str, Any]]:
        if in_loop():
            raise ToolException(f"{tool.name} was called by a plain function in the loop: await it instead")
        turn = current()
        work = call(**arguments)
        return asyncio.run(work) if turn is None else turn.wait(work)

    made = RegistryTool(
        name=tool.name,
        description=tool.description or tool.name,
        args_schema=tool.schema,
        func=call_sync,
        coroutine=call,
        response_format="content_and_artifact",
        handle_tool_error=True,
    )
    mark_declared(made, tool)
    return made
