"""A call of a tool, from its arguments to its result: the one way that every framework takes."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any, cast

import msgspec

from trunkline.agents.own_thread import OwnThread
from trunkline.tools.declaration import Ask, Rule, Tool
from trunkline.tools.errors import ToolDenied, ToolError
from trunkline.tools.results import json_value
from trunkline.tools.tool_context import Asking, CallHost, ToolContext, refusal

_END: Any = object()


async def call_tool(tool: Tool, given: Any, host: CallHost) -> Any:
    """Call a tool: check its arguments, get its permission, run it; raises what the tool raises."""
    host.announce(tool, given)
    try:
        arguments = tool.arguments.read(given)
        context = ToolContext(tool, sent_object(given), host)
        edited = await _permit(tool, arguments, context, host)
        if edited is not None:
            arguments = tool.arguments.read(edited)
            context = ToolContext(tool, edited, host)
            if await rule_for(tool, arguments, context) == "deny":
                # Whoever edited them cannot allow what the tool's author denies.
                raise ToolDenied(f"{tool.name} did not run: its own rule denies the edited arguments")
        await host.start()
        result = await run_function(tool, arguments, context)
    except BaseException as error:
        host.fail(error)
        raise
    host.finish(tool, result)
    return result


def sent_object(given: Any) -> dict[str, Any]:
    """The arguments of a call as an object, whatever was sent."""
    if isinstance(given, str | bytes):
        try:
            given = msgspec.json.decode(given)
        except (msgspec.DecodeError, UnicodeDecodeError):
            return {}
    # Code may pass objects of its own, and what is shown is JSON.
    return cast("dict[str, Any]", json_value(given)) if isinstance(given, dict) else {}


async def rule_for(tool: Tool, arguments: dict[str, Any], context: ToolContext) -> Rule | Ask:
    """What a tool's own rule says of a call; ``arguments`` are checked ones."""
    if not callable(tool.permission):
        return tool.permission
    rule: Any = tool.permission(arguments, context)
    if inspect.isawaitable(rule):
        rule = await rule
    if rule in ("allow", "ask", "deny") or isinstance(rule, Ask):
        return rule
    raise ToolError(f"{tool.name} did not run: its permission rule gave {rule!r}, not allow, ask or deny")


def asking_for(tool: Tool, rule: Rule | Ask, input: dict[str, Any]) -> Asking:
    """The question of a rule; one that asks nothing still goes by the policy."""
    asked = rule if isinstance(rule, Ask) else Ask()
    message = asked.message or f"{tool.title_of(input)}?"
    return Asking(
        tool=tool,
        input=input,
        message=message,
        content=asked.content,
        before_run=True,
        asks=rule != "allow",
    )


async def _permit(
    tool: Tool, arguments: dict[str, Any], context: ToolContext, host: CallHost
) -> dict[str, Any] | None:
    """Get the permission of a call; give the arguments that a person put in the place of the model's."""
    rule = await rule_for(tool, arguments, context)
    if rule == "deny":
        raise ToolDenied(f"{tool.name} did not run: its own rule denies this call")
    decision = await host.permit(asking_for(tool, rule, context.arguments))
    if not decision:
        raise refusal(tool, decision)
    return None if decision.input == context.arguments else decision.input


# -- running ---------------------------------------------------------------------------------------


async def run_function(tool: Tool, arguments: dict[str, Any], context: ToolContext) -> Any:
    """Run the function of a tool: async code here, plain code in a thread of its own.

    A generator yields text for progress, and yields or returns its result last; one that yields only text
    gives all of it.
    """
    function = tool.function
    kwargs = {**arguments, **dict.fromkeys(tool.context_parameters, context)}
    routine: Any = function if inspect.isroutine(function) else getattr(function, "__call__", function)  # noqa: B004
    if inspect.isasyncgenfunction(routine):
        return await _read_series(tool, context, function(**kwargs))
    if inspect.iscoroutinefunction(routine):
        return await function(**kwargs)
    thread = OwnThread()
    try:
        result = await thread.do(lambda: function(**kwargs))
        if inspect.isawaitable(result):
            result = await result
        if inspect.isasyncgen(result):
            return await _read_series(tool, context, result)
        if inspect.isgenerator(result):
            thread.closes = result.close
            return await _read_plain_series(tool, context, thread, result)
        return result
    finally:
        await thread.end()


async def _read_series(tool: Tool, context: ToolContext, series: Any) -> Any:
    reader = _SeriesReader(tool, context)
    try:
        async for item in series:
            reader.feed(item)
    finally:
        await series.aclose()
    return reader.result()


async def _read_plain_series(
    tool: Tool, context: ToolContext, thread: OwnThread, series: Iterator[Any]
) -> Any:
    def read() -> tuple[Any, Any]:
        try:
            return next(series), None
        except StopIteration as end:
            return _END, end.value

    reader = _SeriesReader(tool, context)
    while (read_now := await thread.do(read))[0] is not _END:
        reader.feed(read_now[0])
    returned = read_now[1]
    return reader.result() if returned is None else returned


class _SeriesReader:
    """Tells the progress that a generator yields from its result."""

    def __init__(self, tool: Tool, context: ToolContext) -> None:
        self._tool = tool
        self._context = context
        self._texts: list[str] = []
        self._result: Any = _END

    def feed(self, item: Any) -> None:
        if self._result is not _END:
            raise ToolError(f"{self._tool.name} yielded something after its result")
        if isinstance(item, str):
            self._texts.append(item)
            self._context.progress(item)
        else:
            self._result = item

    def result(self) -> Any:
        return "".join(self._texts) if self._result is _END else self._result
