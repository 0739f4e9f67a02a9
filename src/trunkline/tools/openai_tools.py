"""The tools of a registry for the OpenAI Agents SDK."""

from __future__ import annotations

import copy
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any
from weakref import WeakKeyDictionary

from agents.exceptions import UserError
from agents.strict_schema import ensure_strict_json_schema
from agents.tool import (
    FunctionToolCustomDataContext,
    set_function_tool_failure_error_function,
    with_function_tool_failure_error_handler,
)
from agents.tool_context import ToolContext as SdkContext

from agents import FunctionTool, RunContextWrapper
from trunkline.session.context import current
from trunkline.tools.adapter_calls import host_of, mark_declared
from trunkline.tools.argument_types import parts_of
from trunkline.tools.calls import asking_for, call_tool, rule_for
from trunkline.tools.declaration import Tool
from trunkline.tools.errors import ToolError
from trunkline.tools.results import model_text, write_shown
from trunkline.tools.tool_context import ToolContext
from trunkline.tools.turn_calls import TurnHost, request_for

_TYPES = frozenset(("type", "anyOf", "$ref"))
_NOT_STRICT = frozenset(("uniqueItems", "prefixItems", "patternProperties", "allOf", "oneOf", "not"))
_FORMATS = (*(None, "date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"),)
"""Which formats a strict schema may name (https://platform.openai.com/docs/guides/structured-outputs)."""

Invoke = Callable[[SdkContext[Any], str], Awaitable[Any]]


def function_tools(tools: Iterable[Tool], *, may_run: bool) -> list[FunctionTool]:
    """Make the SDK's tools; ``may_run`` lets those run outside of a session that would ask."""
    return [_function_tool(one, may_run) for one in tools]


def _function_tool(tool: Tool, may_run: bool) -> FunctionTool:
    schema, strict = _schema(tool)
    shown: WeakKeyDictionary[SdkContext[Any], Any] = WeakKeyDictionary()

    async def invoke(context: SdkContext[Any], arguments: str) -> str:
        # The SDK's own approval: by a person in this session, or by whoever approved the run's state.
        approved = context.is_tool_approved(context.tool_name, context.tool_call_id) is True
        host = host_of(context.tool_call_id, approved=approved, may_run=may_run)
        result = await call_tool(tool, arguments, host)
        shown[context] = write_shown(result, tool.shows)
        return model_text(result)

    def custom_data(context: FunctionToolCustomDataContext) -> Mapping[str, Any] | None:
        return shown.pop(context.tool_context, None)

    handled: Invoke = with_function_tool_failure_error_handler(invoke, _ignore)
    mark_declared(custom_data, tool)
    made = FunctionTool(
        name=tool.name,
        description=tool.description,
        params_json_schema=schema,
        on_invoke_tool=handled,
        strict_json_schema=strict,
        needs_approval=_needs_approval(tool) if tool.permission != "allow" else False,
        custom_data_extractor=custom_data,
    )
    made = set_function_tool_failure_error_function(made, _failure_text)
    mark_declared(made, tool)
    return made


def _schema(tool: Tool) -> tuple[dict[str, Any], bool]:
    """The schema as the SDK's strict mode wants it, if that can say the same; else as it is."""
    try:
        schema = ensure_strict_json_schema(copy.deepcopy(tool.schema))
    except UserError:
        return tool.schema, False
    return (schema, True) if _is_strict(schema) else (tool.schema, False)


def _is_strict(schema: Mapping[str, Any]) -> bool:
    """Whether OpenAI takes a schema as a strict one: it refuses the whole request where it does not."""
    return (
        not _TYPES.isdisjoint(schema)
        and _NOT_STRICT.isdisjoint(schema)
        and schema.get("format") in _FORMATS
        and all(map(_is_strict, parts_of(schema)))
    )


def _needs_approval(tool: Tool) -> Callable[[RunContextWrapper[Any], dict[str, Any], str], Awaitable[bool]]:
    async def needs_approval(context: RunContextWrapper[Any], given: dict[str, Any], call_id: str) -> bool:
        """Stop the run where a person must be asked; outside of a session the tool itself refuses."""
        turn = current()
        if turn is None:
            return False
        try:
            arguments = tool.arguments.read(given)
            rule = await rule_for(tool, arguments, ToolContext(tool, given, TurnHost(turn, call_id)))
        except ToolError:
            return False  # The call itself says what is wrong.
        asking = asking_for(tool, rule, given)
        return rule != "deny" and asking.asks and turn.decide(request_for(asking, call_id)) is None

    return needs_approval


def _failure_text(context: RunContextWrapper[Any], error: Exception) -> str:
    return str(error) or type(error).__name__


def _ignore(tool: FunctionTool, error: Exception, arguments: str) -> None:
    """Log nothing: the model is told, and the call is shown as failed."""
