"""The front end's own tools: the model gets them like any other, and the front end runs them.

A call is a question (``ClientCall``): the turn is suspended, and the answer is the tool's result.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, cast

from langchain_core.messages import ToolMessage
from langchain_core.tools import BaseTool, ToolException
from langgraph.prebuilt import ToolRuntime

from trunkline import events as ev
from trunkline.agents.langchain.channel import Channel
from trunkline.agents.langchain.messages.content_mapper import ContentBlockMapper
from trunkline.agents.langchain.tools.current_call import Call, this_call
from trunkline.questions import ClientCall
from trunkline.tools.langchain_call_id import CalledTool

_RESTORED = "trunkline.tools.restored"
_NONE: Any = None
_NO_PARAMETERS: dict[str, Any] = {"type": "object", "properties": {}}


def client_tools(channel: Channel) -> list[BaseTool]:
    """The tools that the front end gave with its prompt, without those that have no name."""
    given = (cast("Mapping[str, Any]", tool) for tool in channel.client_tools if isinstance(tool, Mapping))
    return [_tool(tool) for tool in given if tool.get("name")]


async def restore_client_tools(channel: Channel) -> None:
    """After a restart, make the tools whose calls are still open: the prompt that named them is gone."""
    if not channel.follows_run or channel.ctx.prompt.content:
        return
    earlier = await channel.ctx.turn_so_far()
    asked = (state.asked.question for state in earlier.questions.values())
    names = {question.name for question in asked if isinstance(question, ClientCall)}
    channel.memory[_RESTORED] = (channel.emitter.turn_id, [_tool({"name": name}) for name in names])


def restored_client_tools(channel: Channel) -> list[BaseTool]:
    """The tools that were restored in this turn: their calls are answered, but no model gets them."""
    restored = channel.memory.get(_RESTORED)  # Checked first: a channel without a client has no emitter.
    return restored[1] if restored is not None and restored[0] == channel.emitter.turn_id else []


def _tool(given: Mapping[str, Any]) -> BaseTool:
    name = str(given["name"])

    async def call(tool_runtime: ToolRuntime[Any, Any] = _NONE, **arguments: Any) -> Any:
        this = this_call(tool_runtime)
        channel, question, key = _question(this, name, arguments)
        return _result(await channel.ask(question, durable_key=key, lane=this.lane), this, name)

    def call_sync(tool_runtime: ToolRuntime[Any, Any] = _NONE, **arguments: Any) -> Any:
        this = this_call(tool_runtime)
        channel, question, key = _question(this, name, arguments)
        return _result(channel.ask_sync(question, durable_key=key, lane=this.lane), this, name)

    return CalledTool(
        name=name,
        description=str(given.get("description") or name),
        args_schema={**_NO_PARAMETERS, **cast("dict[str, Any]", given.get("parameters") or {})},
        func=call_sync,
        coroutine=call,
        handle_tool_error=True,
    )


def _question(call: Call, name: str, arguments: dict[str, Any]) -> tuple[Channel, ClientCall, str]:
    if call.channel is None or call.tool_call_id is None:
        raise ToolException(f"{name} is a tool of the front end, and there is none in this run")
    # Announces the call, if no callback has done that.
    shown = {"id": call.tool_call_id, "name": name, "args": arguments}
    call_id = call.channel.emitter.describe(call.lane, shown)
    question = ClientCall(call_id=call_id, name=name, input=arguments)
    return call.channel, question, f"client:{call.tool_call_id}"


def _result(answered: ev.Answered, call: Call, name: str) -> ToolMessage:
    if answered.outcome != "accepted":
        raise ToolException(answered.reason or f"the front end did not run {name}")
    content: Any = answered.content
    if _is_blocks(content):
        shown: Any = [_block(block) for block in content]
    else:
        shown = content if isinstance(content, str) else _as_text(content)
    return call.answer(shown, None if isinstance(content, str) else content, name)


def _is_blocks(content: Any) -> bool:
    return (
        isinstance(content, list)
        and bool(cast("list[Any]", content))
        and all(isinstance(block, dict) and "type" in block for block in cast("list[Any]", content))
    )


def _block(block: dict[str, Any]) -> dict[str, Any]:
    """Read a content part of AG-UI as the block that a model takes; any other block stays as it is."""
    # Only an AG-UI client sends such parts: no other agent has to load its types.
    from trunkline.protocols.agui.messages import content_of

    source: Any = block.get("source")
    content = content_of([block]) if isinstance(source, dict) and "value" in source else ()
    return ContentBlockMapper().from_neutral(content[0]) if content else block


def _as_text(content: Any) -> str:
    return "" if content is None else json.dumps(content, ensure_ascii=False, default=str)
