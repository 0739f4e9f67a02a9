"""The tools of a registry for LangChain."""

from __future__ import annotations

import asyncio
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from langchain_core.tools import BaseTool, StructuredTool, ToolException
from typing_extensions import override

from trunkline.session.context import current
from trunkline.session.handles import in_loop
from trunkline.tools.adapter_calls import host_of, mark_declared
from trunkline.tools.calls import call_tool
from trunkline.tools.declaration import Tool
from trunkline.tools.failures import ToolError
from trunkline.tools.results import model_text, write_shown

_CALL_ID: ContextVar[str | None] = ContextVar("trunkline_registry_call", default=None)


class RegistryTool(StructuredTool):
    """A tool of a registry; it knows which call it runs for.

    LangChain gives a tool the id of its call only as an argument, and does not run it without one then.
    """

    trunkline_tool: Any = None

    @override
    async def arun(self, tool_input: Any, *args: Any, tool_call_id: str | None = None, **kwargs: Any) -> Any:
        with _calling(tool_call_id):
            return await super().arun(tool_input, *args, tool_call_id=tool_call_id, **kwargs)

    @override
    def run(self, tool_input: Any, *args: Any, tool_call_id: str | None = None, **kwargs: Any) -> Any:
        with _calling(tool_call_id):
            return super().run(tool_input, *args, tool_call_id=tool_call_id, **kwargs)


@contextmanager
def _calling(tool_call_id: str | None) -> Generator[None]:
    token = _CALL_ID.set(tool_call_id)
    try:
        yield
    finally:
        _CALL_ID.reset(token)


def structured_tools(tools: Iterable[Tool], *, may_run: bool) -> list[BaseTool]:
    """Make LangChain's tools; ``may_run`` lets those run outside of a session that would ask."""
    return [_structured_tool(one, may_run) for one in tools]


def _structured_tool(tool: Tool, may_run: bool) -> BaseTool:
    async def call(**arguments: Any) -> tuple[str, dict[str, Any]]:
        try:
            result = await call_tool(tool, arguments, host_of(_CALL_ID.get(), may_run=may_run))
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
