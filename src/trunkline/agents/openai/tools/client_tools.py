"""The front end's own tools: the model gets them like any other, and the front end runs them.

A call is a question (``ClientCall``): the turn is suspended, and the answer is the tool's result.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, cast

from agents.tool_context import ToolContext

from agents import FunctionTool, ToolOutputFileContent, ToolOutputImage, ToolOutputText
from trunkline.agents.openai.permissions import read_arguments
from trunkline.agents.openai.running_calls import Calls
from trunkline.content import Content, ImageBlock, ResourceBlock, TextBlock
from trunkline.errors import AgentError
from trunkline.questions import ClientCall
from trunkline.session.context import TurnContext

_NO_PARAMETERS: dict[str, Any] = {"type": "object", "properties": {}}


def client_tools(given: Iterable[Any], ctx: TurnContext, calls: Calls) -> list[FunctionTool]:
    """The tools that the front end gave with its prompt, without those that have no name."""
    tools = (cast("Mapping[str, Any]", tool) for tool in given if isinstance(tool, Mapping))
    return [_tool(tool, ctx, calls) for tool in tools if tool.get("name")]


def _tool(given: Mapping[str, Any], ctx: TurnContext, calls: Calls) -> FunctionTool:
    name = str(given["name"])

    async def call(context: ToolContext[Any], arguments: str) -> Any:
        call_id = await calls.shown(context.tool_call_id)
        question = ClientCall(call_id=call_id, name=name, input=read_arguments(arguments))
        answered = await ctx.ask(question, lane=calls.lane_of(call_id))
        if answered.outcome == "accepted":
            return _result(answered.content)
        why = answered.reason or f"the front end did not run {name}"
        calls.fail(context.tool_call_id, why)
        return f"Error: {why}"

    parameters: Any = given.get("parameters")
    return FunctionTool(
        name=name,
        description=str(given.get("description") or name),
        params_json_schema={**_NO_PARAMETERS, **(parameters if isinstance(parameters, dict) else {})},
        on_invoke_tool=call,
        strict_json_schema=False,
    )


def _result(content: Any) -> Any:
    """What the model reads of a result: blocks as such, anything else as text."""
    blocks = _blocks(content)
    if blocks:
        return [_output(block) for block in blocks]
    if isinstance(content, str):
        return content
    return "" if content is None else json.dumps(content, ensure_ascii=False, default=str)


def _blocks(content: Any) -> tuple[Content, ...]:
    """The content parts of AG-UI in a result; nothing for any other value."""
    parts = cast("list[Any]", content) if isinstance(content, list) else []
    if not parts or not all(isinstance(part, dict) and "type" in part for part in parts):
        return ()
    # Only an AG-UI client sends such parts: no other agent has to load its types.
    from trunkline.protocols.agui.messages import content_of

    return tuple(content_of(parts))


def _output(block: Content) -> Any:
    if isinstance(block, TextBlock):
        return ToolOutputText(text=block.text)
    if isinstance(block, ImageBlock):
        url = block.url or f"data:{block.mime_type};base64,{block.data}"
        return ToolOutputImage(image_url=url)
    if isinstance(block, ResourceBlock) and block.data is not None:
        return ToolOutputFileContent(file_data=block.data, filename=block.uri.rpartition("/")[2] or "file")
    if isinstance(block, ResourceBlock) and block.text is not None:
        return ToolOutputText(text=block.text)
    raise AgentError(f"a model cannot be given a result of type {type(block).__name__}: send text or images")
