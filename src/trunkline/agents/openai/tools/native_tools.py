"""Shell, patch and custom tools as a session runs them: their own approvals carry the operator's policy.

Guardrails do not cover these tools. A call that the tool's author wants to be approved stops the run, as
without us; any other is asked about while the run goes on, if the operator gave a policy.
"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Mapping
from typing import Any, cast

from agents import ApplyPatchTool, CustomTool, LocalShellTool, ShellTool
from trunkline.agents.openai.permissions import REFUSED, ToolCallRequest, read_arguments
from trunkline.agents.openai.running_calls import CallNotShown
from trunkline.agents.openai.tools.function_tools import ToolCopies

NativeTool = ShellTool | ApplyPatchTool | CustomTool | LocalShellTool


def copy_native_tool(tool: NativeTool, copies: ToolCopies) -> NativeTool:
    """Give a copy of a tool; one that the provider runs itself has nothing to copy."""
    if isinstance(tool, LocalShellTool):
        return dataclasses.replace(tool, executor=_local_executor(tool, copies))
    if isinstance(tool, ShellTool):
        if tool.executor is None:
            return tool
        return dataclasses.replace(
            tool, executor=_shell_executor(tool.executor, copies), **_approvals(tool, copies)
        )
    if isinstance(tool, CustomTool):
        made = dataclasses.replace(tool, **_approvals(tool, copies))
        made.on_invoke_tool = copies.reported(_awaited(tool.on_invoke_tool))
        return made
    return dataclasses.replace(tool, **_approvals(tool, copies))


def _approvals(tool: Any, copies: ToolCopies) -> dict[str, Any]:
    """The two settings of a tool that decide about its calls."""
    permissions = copies.permissions
    wanted_by_author: set[str] = set()

    async def needs_approval(context: Any, request: Any, call_id: str) -> bool:
        setting: Any = tool.needs_approval
        wanted: Any = setting(context, request, call_id) if callable(setting) else setting
        if inspect.isawaitable(wanted):
            wanted = await wanted
        if wanted:
            wanted_by_author.add(call_id)
        return bool(wanted) or permissions.has_policy

    async def on_approval(context: Any, item: Any) -> Any:
        native_id = str(item.call_id)
        if native_id in wanted_by_author:
            answer: Any = None if tool.on_approval is None else tool.on_approval(context, item)
            if inspect.isawaitable(answer):
                answer = await answer
            approved = isinstance(answer, Mapping) and cast("Any", answer).get("approve") is True
            if not approved or not permissions.has_policy:
                # Refused, or nothing said: then the run stops and a person is asked.
                return cast("Any", answer)
        try:
            decision = await permissions.decide_live(request_of(item))
        except CallNotShown as error:
            return {"approve": False, "reason": str(error)}
        return {"approve": bool(decision), "reason": decision.reason or REFUSED}

    return {"needs_approval": needs_approval, "on_approval": on_approval}


def request_of(item: Any) -> ToolCallRequest:
    """The call that an approval item is about; only the arguments of function tools can be edited."""
    raw: Any = item.raw_item
    kind = _field(raw, "type")
    given: Any = item.arguments
    if kind in ("shell_call", "local_shell_call"):
        given = _shell_input(_field(raw, "action"))
    elif kind == "apply_patch_call":
        given = _plain(_field(raw, "operation"))
    elif kind == "custom_tool_call":
        given = {"input": _field(raw, "input")}
    return ToolCallRequest(
        native_id=str(item.call_id or _field(raw, "id") or ""),
        name=str(item.tool_name or _field(raw, "name") or kind or "tool"),
        input=read_arguments(given),
        editable=kind == "function_call",
    )


def _shell_input(action: Any) -> Any:
    fields: Any = _plain(action)
    commands: Any = cast("dict[str, Any]", fields).get("commands") if isinstance(fields, dict) else None
    if isinstance(commands, list):
        # The policy judges one command line: several commands are one that takes a shell to read.
        line = "; ".join(str(one) for one in cast("list[Any]", commands))
        return {**cast("dict[str, Any]", fields), "command": line}
    return cast("Any", fields)


def _plain(value: Any) -> Any:
    return value.model_dump(exclude_none=True) if hasattr(value, "model_dump") else value


def _field(raw: Any, name: str) -> Any:
    return cast("Any", raw).get(name) if isinstance(raw, Mapping) else getattr(raw, name, None)


def _awaited(function: Any) -> Any:
    async def call(*args: Any) -> Any:
        given: Any = function(*args)
        return await given if inspect.isawaitable(given) else given

    return call


def _shell_executor(executor: Any, copies: ToolCopies) -> Any:
    async def execute(request: Any) -> Any:
        await copies.calls.begin(request.data.call_id)
        return await _awaited(executor)(request)

    return execute


def _local_executor(tool: LocalShellTool, copies: ToolCopies) -> Any:
    """A local shell has no approvals of its own: its executor asks."""

    async def execute(request: Any) -> Any:
        data = request.data
        call = ToolCallRequest(
            native_id=data.call_id, name=tool.name, input=_shell_input(data.action), editable=False
        )
        try:
            decision = await copies.permissions.decide_live(call)
        except CallNotShown as error:
            return str(error)
        if not decision:
            return decision.reason or REFUSED
        await copies.calls.begin(data.call_id)
        return await _awaited(tool.executor)(request)

    return execute
