"""The front end's own tools: offered to the model like any other, run where the person is.

A call of one is a question: it is asked, the turn is suspended, and the answer is the tool's result.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, cast

from langchain_core.messages import ToolMessage
from langchain_core.tools import BaseTool, ToolException
from langgraph.prebuilt import ToolRuntime

from trunkline import events as ev
from trunkline.agents.langchain.channel import Channel, SessionChannel
from trunkline.agents.langchain.messages.mapper import ContentBlockMapper
from trunkline.agents.langchain.tools.current_call import Call, CalledTool, this_call
from trunkline.protocols.agui.messages import content_of
from trunkline.questions import ClientCall

__all__ = ["client_tools", "restore_client_tools", "restored_client_tools"]

_RECALLED = "trunkline.tools.recalled"
_NONE: Any = None
_NOTHING: dict[str, Any] = {"type": "object", "properties": {}}


def client_tools(channel: Channel) -> list[BaseTool]:
    """The tools that the front end gave with its prompt; what has no name is none."""
    given = (cast("Mapping[str, Any]", tool) for tool in channel.client_tools if isinstance(tool, Mapping))
    return [_tool(tool) for tool in given if tool.get("name")]


async def restore_client_tools(channel: Channel) -> None:
    """Remember the tools whose calls an earlier process asked for: the prompt that named them is gone."""
    if not isinstance(channel, SessionChannel) or channel.ctx.prompt.content:
        return
    told = await channel.ctx.said()
    asked = (state.asked.question for state in told.questions.values())
    names = {question.name for question in asked if isinstance(question, ClientCall)}
    channel.memory[_RECALLED] = (channel.emitter.turn_id, [_tool({"name": name}) for name in names])


def restored_client_tools(channel: Channel) -> list[BaseTool]:
    """The tools that are remembered in this turn: their calls can be answered, no more."""
    recalled = channel.memory.get(_RECALLED)  # Nothing, where nobody listens: such a channel has no emitter.
    return recalled[1] if recalled is not None and recalled[0] == channel.emitter.turn_id else []


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
        args_schema={**_NOTHING, **cast("dict[str, Any]", given.get("parameters") or {})},
        func=call_sync,
        coroutine=call,
        handle_tool_error=True,
    )


def _question(call: Call, name: str, arguments: dict[str, Any]) -> tuple[Channel, ClientCall, str]:
    if call.channel is None or call.tool_call_id is None:
        raise ToolException(f"{name} is a tool of the front end, and there is none in this run")
    # Announced already, unless nobody but us saw the call: then it is now.
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
        shown = content if isinstance(content, str) else _words(content)
    return call.answer(shown, None if isinstance(content, str) else content, name)


def _is_blocks(content: Any) -> bool:
    return (
        isinstance(content, list)
        and bool(cast("list[Any]", content))
        and all(isinstance(block, dict) and "type" in block for block in cast("list[Any]", content))
    )


def _block(block: dict[str, Any]) -> dict[str, Any]:
    """Give a part of AG-UI as the block that a model reads; any other block as it is."""
    source: Any = block.get("source")
    told = content_of([block]) if isinstance(source, dict) and "value" in source else ()
    return ContentBlockMapper().from_neutral(told[0]) if told else block


def _words(content: Any) -> str:
    return "" if content is None else json.dumps(content, ensure_ascii=False, default=str)
