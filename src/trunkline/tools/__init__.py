"""Tools: functions that models call, what people see of a call, and how calls run; knows no agent framework.

* ``adapter_calls``: how a tool finds the call that an adapter shows
* ``argument_types``: types of arguments besides those that msgspec knows
* ``arguments``: the JSON schema of a tool's arguments, and the check of what a model sends
* ``call_files``: where the files of a call are, with the old text of those that it overwrites
* ``calls``: a call of a tool, from its arguments to its result
* ``declaration``: a function with what people and models must know of it
* ``docstrings``: what a docstring says of a function and of its arguments
* ``errors``: how a tool call fails
* ``folder_reader``: reads files in some folders only
* ``langchain_call_id``: the id of the call that a tool of LangChain runs for
* ``langchain_tools``: the tools of a registry for LangChain
* ``mcp_server``: an MCP server for the tools of a registry
* ``naming``: kind, title, files and line of a call, by name and arguments
* ``openai_tools``: the tools of a registry for the OpenAI Agents SDK
* ``registry``: tools by name, for every framework
* ``results``: what a model reads of a result, and what people see of it
* ``tool_context``: what a tool can do besides computing its result
* ``turn_calls``: calls in a turn, and the permission that the session gives
* ``wrapping``: shows the calls of any function
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from trunkline._lazy import lazy_names

if TYPE_CHECKING:
    from trunkline.tools.declaration import Ask as Ask
    from trunkline.tools.declaration import Tool as Tool
    from trunkline.tools.declaration import tool as tool
    from trunkline.tools.errors import InvalidArguments as InvalidArguments
    from trunkline.tools.errors import ToolDenied as ToolDenied
    from trunkline.tools.errors import ToolError as ToolError
    from trunkline.tools.registry import ToolRegistry as ToolRegistry
    from trunkline.tools.results import Table as Table
    from trunkline.tools.results import ToolResult as ToolResult
    from trunkline.tools.results import model_text as model_text
    from trunkline.tools.tool_context import ToolContext as ToolContext
    from trunkline.tools.wrapping import wrap_tool as wrap_tool

__all__ = [
    "Ask",
    "InvalidArguments",
    "Table",
    "Tool",
    "ToolContext",
    "ToolDenied",
    "ToolError",
    "ToolRegistry",
    "ToolResult",
    "model_text",
    "tool",
    "wrap_tool",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "Ask": "trunkline.tools.declaration",
        "InvalidArguments": "trunkline.tools.errors",
        "Table": "trunkline.tools.results",
        "Tool": "trunkline.tools.declaration",
        "ToolContext": "trunkline.tools.tool_context",
        "ToolDenied": "trunkline.tools.errors",
        "ToolError": "trunkline.tools.errors",
        "ToolRegistry": "trunkline.tools.registry",
        "ToolResult": "trunkline.tools.results",
        "model_text": "trunkline.tools.results",
        "tool": "trunkline.tools.declaration",
        "wrap_tool": "trunkline.tools.wrapping",
    },
)
