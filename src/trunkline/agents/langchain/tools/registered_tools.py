"""Tools of a registry in a graph: what their authors declared, and the calls that are shown of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from langgraph.config import get_config

from trunkline import events as ev
from trunkline.agents.langchain.callbacks.lanes import key_of
from trunkline.agents.langchain.callbacks.session_handler import handler_in
from trunkline.agents.langchain.channel import Channel
from trunkline.agents.langchain.permissions.decide import PermissionRule, decide
from trunkline.agents.langchain.permissions.verdicts import Verdict
from trunkline.content import as_content
from trunkline.session.context import Decision
from trunkline.tools.adapter_calls import ShownCall, declared_tool, show_calls
from trunkline.tools.calls import asking_for, rule_for, sent_object
from trunkline.tools.declaration import Tool
from trunkline.tools.errors import ToolError
from trunkline.tools.tool_context import Asking, ToolContext
from trunkline.tools.turn_calls import TurnHost


def declared_tools(tools: Iterable[Any]) -> dict[str, Tool]:
    """The tools of a registry among LangChain's, by name."""
    found = (declared_tool(one) for one in tools)
    return {tool.name: tool for tool in found if tool is not None}


def declare(channel: Channel, tool: Any) -> None:
    """Let the calls of a tool be shown as its author declared, if it is of a registry."""
    if (declared := declared_tool(tool)) is not None:
        channel.emitter.tools.declared.setdefault(declared.name, declared)


def show_calls_of(channel: Channel) -> None:
    """Let the tools of a registry find the calls that are shown of them in this turn."""

    def find(native_id: str) -> ShownCall | None:
        lane = _lane()
        call_id = channel.emitter.call_id_of(lane, native_id)
        if call_id is None:
            return None

        def progress(text: str) -> None:
            channel.emitter.tool_progress(lane, native_id, output=text)

        async def permit(asking: Asking) -> Decision:
            return await _decide(channel, asking, call_id, native_id, lane)

        return ShownCall(call_id=call_id, lane=lane, progress=progress, permit=permit)

    show_calls(channel.ctx, find)


def _lane() -> str | None:
    """The lane of the call that this code runs for."""
    try:
        config: Any = get_config()
    except RuntimeError:
        return None
    lanes = getattr(handler_in(config), "lanes", None)
    run = key_of(getattr(config.get("callbacks"), "parent_run_id", None))
    tool = None if lanes is None else lanes.tool(run)
    return None if tool is None else tool.lane


async def decide_declared(
    channel: Channel, tool: Any, call: Mapping[str, Any], lane: str | None
) -> Verdict | None:
    """Decide about a call by the rule that its tool declares; None where it declares no question."""
    declared = declared_tool(tool)
    if declared is None or declared.permission == "allow":
        return None
    native_id, input = str(call["id"]), sent_object(call["args"])
    call_id = channel.emitter.describe(lane, call)
    try:
        arguments = declared.arguments.read(call["args"])
        context = ToolContext(declared, input, TurnHost(channel.ctx, call_id))
        rule = await rule_for(declared, arguments, context)
    except ToolError:
        return None  # The call itself says what is wrong.
    if rule in ("allow", "deny"):
        return None
    return await _verdict(channel, asking_for(declared, rule, input), call_id, native_id, lane)


async def _decide(
    channel: Channel, asking: Asking, call_id: str, native_id: str, lane: str | None
) -> Decision:
    verdict = await _verdict(channel, asking, call_id, native_id, lane)
    return Decision(
        allowed=bool(verdict),
        call_id=call_id,
        input=asking.input if verdict.args is None else verdict.args,
        reason=verdict.message or None,
    )


async def _verdict(
    channel: Channel, asking: Asking, call_id: str, native_id: str, lane: str | None
) -> Verdict:
    """Decide about a call as about every call of a model; one that was decided already is not asked again."""
    tool: Tool = asking.tool
    call = {"name": tool.name, "args": asking.input, "id": native_id}
    if not asking.before_run:
        call["question"] = asking.message
    if asking.content:
        channel.emit(ev.ToolUpdate(call_id=call_id, lane=lane, content=as_content(asking.content)))
    rule = PermissionRule(
        require_permission=asking.asks,
        allowed_decisions=("approve", "edit", "reject") if tool.allows_edit else ("approve", "reject"),
    )
    return await decide(channel, call, rule, lane, describe=asking.message)
