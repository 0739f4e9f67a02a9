"""Function tools as a session runs them: a copy that asks first, shows that it runs, and fails visibly.

The user's own tool is never changed. The SDK answers the model with a text when a tool raises, and tells
nobody; so the copy's function notes the exception before the SDK sees it, and the tool's own policy for
failures stays as it is.
"""

from __future__ import annotations

import asyncio
import copy
import functools
from collections.abc import Awaitable, Callable
from typing import Any, cast

import msgspec
from agents.tool_context import ToolContext

from agents import (
    FunctionTool,
    ItemHelpers,
    RunItemStreamEvent,
    ToolCallOutputItem,
    ToolGuardrailFunctionOutput,
    ToolInputGuardrail,
    ToolInputGuardrailData,
)
from agents import tool as sdk_tool
from trunkline.agents.openai.errors import explain
from trunkline.agents.openai.permissions import REFUSED, Permissions, ToolCallRequest, read_arguments
from trunkline.agents.openai.running_calls import CALL, CallNotShown, Calls
from trunkline.tools.adapter_calls import declared_tool

Invoke = Callable[[Any, str], Awaitable[Any]]

_IMPLEMENTATION = "_invoke_tool_impl"


class ToolCopies:
    """Makes the copies of function tools for one turn."""

    def __init__(self, calls: Calls, permissions: Permissions) -> None:
        self.calls = calls
        self.permissions = permissions

    def function_tool(self, tool: FunctionTool) -> FunctionTool:
        """Give a copy of a tool."""
        self.calls.declare(tool.name, declared_tool(tool))
        self.calls.annotate(tool.name, annotations_of(tool))
        copied = copy.copy(tool)
        guard: ToolInputGuardrail[Any] = ToolInputGuardrail(
            guardrail_function=self._guard(annotations_of(tool)), name="trunkline permission"
        )
        # The user's own guardrails come first: what they reject is not asked about.
        copied.tool_input_guardrails = [*(tool.tool_input_guardrails or ()), guard]
        self._wrap(copied, tool)
        return copied

    def _guard(self, annotations: dict[str, Any] | None) -> Any:
        async def ask(data: ToolInputGuardrailData) -> ToolGuardrailFunctionOutput:
            context = data.context
            call = ToolCallRequest(
                native_id=context.tool_call_id,
                name=context.tool_name,
                input=read_arguments(context.tool_arguments),
                annotations=annotations,
                editable=True,
            )
            try:
                decision = await self.permissions.decide_live(call)
            except CallNotShown as error:
                return ToolGuardrailFunctionOutput.reject_content(str(error))
            if decision:
                return ToolGuardrailFunctionOutput.allow()
            return ToolGuardrailFunctionOutput.reject_content(decision.reason or REFUSED)

        return ask

    def _wrap(self, copied: FunctionTool, tool: FunctionTool) -> None:
        invoker: Any = copied.on_invoke_tool
        implementation: Any = getattr(invoker, _IMPLEMENTATION, None)
        if implementation is None:
            # A tool that was made by hand: its function may take a smaller context than we need.
            copied.on_invoke_tool = self.reported(functools.partial(_invoke_plain, tool))
            return
        wrapped = functools.wraps(implementation)(self.reported(implementation))
        made: Any = type(invoker)(wrapped, invoker._on_handled_error)
        # A marker among them says that the tool's function is a plain one.
        made.__dict__.update(cast("dict[str, Any]", vars(invoker)) | vars(made))
        copied.on_invoke_tool = made.__agents_bind_function_tool__(copied)

    def reported(self, invoke: Invoke) -> Invoke:
        """Show that a call runs, give it the arguments that a person edited, and note how it failed."""

        async def run(context: ToolContext[Any], arguments: str) -> Any:
            native_id, calls = context.tool_call_id, self.calls
            await calls.begin(native_id)
            if (edited := calls.edited(native_id)) is not None:
                arguments = msgspec.json.encode(edited).decode()
            token = CALL.set(native_id)
            try:
                with calls.running():
                    result = await invoke(context, arguments)
                if context.tool_call is not None:
                    calls.keep_result(native_id, _output_event(context, result))
                return result
            except asyncio.CancelledError:
                calls.fail(native_id, "the tool was cancelled")
                raise
            except Exception as error:
                calls.fail(native_id, explain(error))
                raise
            finally:
                CALL.reset(token)

        return run


def _output_event(context: ToolContext[Any], result: Any) -> RunItemStreamEvent:
    """What the SDK will say of a result, once the other calls of the response have theirs too."""
    agent: Any = context.agent
    raw: Any = ItemHelpers.tool_call_output_item(cast("Any", context.tool_call), result)
    return RunItemStreamEvent(
        name="tool_output", item=ToolCallOutputItem(agent=agent, raw_item=raw, output=result)
    )


async def _invoke_plain(tool: FunctionTool, context: ToolContext[Any], arguments: str) -> Any:
    narrow: Any = getattr(sdk_tool, "_get_function_tool_invoke_context", None)
    given: Any = context if narrow is None else narrow(tool, context)
    return await tool.on_invoke_tool(given, arguments)


def annotations_of(tool: FunctionTool) -> dict[str, Any] | None:
    """The annotations that a tool's MCP server gives, under the names of the specification."""
    given: Any = tool.mcp_annotations
    if given is None:
        return None
    return cast("dict[str, Any]", given.model_dump(by_alias=True, exclude_none=True))
