"""MCP servers that the provider calls itself: with a policy it must ask before each call.

Their calls do not pass through this process. "require_approval" makes the provider wait for an answer
(https://platform.openai.com/docs/guides/tools-connectors-mcp), and the policy gives it.
"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Mapping
from typing import Any, cast

from agents import HostedMCPTool, MCPToolApprovalFunctionResult, MCPToolApprovalRequest
from trunkline.agents.openai.permissions import REFUSED, Permissions, ToolCallRequest, read_arguments
from trunkline.agents.openai.running_calls import CallNotShown


def copy_hosted_server(tool: HostedMCPTool, permissions: Permissions) -> HostedMCPTool:
    """Give a copy whose calls the policy judges; without a policy, the tool as it is."""
    if not permissions.has_policy:
        return tool
    wanted: Any = tool.tool_config.get("require_approval")
    if tool.on_approval_request is None and wanted in (None, "always"):
        # Every call stops the run already: the policy can refuse it there, and a person is asked.
        return tool

    async def ask(request: MCPToolApprovalRequest) -> MCPToolApprovalFunctionResult:
        data = request.data
        call = ToolCallRequest(native_id=data.id, name=data.name, input=read_arguments(data.arguments))
        try:
            decision = await permissions.decide_live(call)
        except CallNotShown as error:
            return {"approve": False, "reason": str(error)}
        if not decision:
            return {"approve": False, "reason": decision.reason or REFUSED}
        if tool.on_approval_request is None or not _asks(wanted, data.name):
            return {"approve": True}
        answer: Any = tool.on_approval_request(request)
        return await answer if inspect.isawaitable(answer) else answer

    config = cast("Any", {**tool.tool_config, "require_approval": "always"})
    return dataclasses.replace(tool, tool_config=config, on_approval_request=ask)


def _asks(wanted: Any, name: str) -> bool:
    """Whether the tool's author wants to be asked about the calls of a name."""
    if not isinstance(wanted, Mapping):
        return wanted != "never"
    never: Any = cast("Mapping[str, Any]", wanted).get("never") or {}
    return name not in (never.get("tool_names") or ())
