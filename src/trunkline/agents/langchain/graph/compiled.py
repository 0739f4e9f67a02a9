"""Anatomy of a compiled graph: what is inside it, and a copy of it that lets us in.

``create_agent`` closes over its model, its middlewares and its tools, and offers no way to add a tool
to a graph that is compiled already. A session's MCP servers and a front end's own tools come later
than that. So the graph is copied with two doors: every request to the model may be changed, and every
tool call goes through a wrapper. The copy shares everything else; the original is left alone. A graph
that is built otherwise (a plain StateGraph) gets the door to its tools only. Agents that are nodes of
a graph get their own doors.

These are insides of LangChain: ``tests/agents/langchain/test_anatomy.py`` fails when they move.
"""

from __future__ import annotations

import copy
import functools
import types
from collections.abc import Awaitable, Callable, Iterator, Mapping
from typing import Any, cast

from langchain.agents.middleware import AgentMiddleware
from langchain_core.language_models import BaseChatModel
from langchain_core.runnables import RunnableBinding, RunnableWithFallbacks
from langchain_core.runnables.retry import RunnableRetry
from langchain_core.tools import BaseTool
from langgraph.prebuilt import ToolNode
from langgraph.pregel import Pregel

from trunkline.agents.langchain.graph.plain_wrappers import wrap_in_thread
from trunkline.agents.langchain.middleware._end_of_run import present
from trunkline.errors import AgentError

__all__ = ["Doors", "input_for", "middleware_in", "model_in", "open_doors", "tools_in"]

Change = Callable[[Any], Any]
Execute = Callable[[Any], Awaitable[Any]]
Wrap = Callable[[Any, Execute], Awaitable[Any]]

# A graph holds a few hundred objects; what is reached beyond this is not part of one.
_FAR = 20_000


class Doors:
    """An instrumented copy of a graph, and whether the door to its model could be opened."""

    def __init__(self, graph: Any, *, model: bool) -> None:
        """Keep the copy."""
        self.graph = graph
        self.model = model


def open_doors(graph: Any, change: Change, wrap: Wrap) -> Doors:
    """Copy a graph so that ``change`` sees every model request and ``wrap`` every tool call."""
    nodes: dict[str, Any] = dict(graph.nodes)
    model = False
    for name, node in graph.nodes.items():
        bound = getattr(node, "bound", None)
        if isinstance(bound, ToolNode):
            nodes[name] = node.copy({"bound": _wrapped_tools(bound, wrap)})
        elif (changed := _changed_model(bound, change)) is not None:
            nodes[name] = node.copy({"bound": changed})
            model = True
        elif isinstance(bound, Pregel):
            inner = open_doors(bound, change, wrap)
            nodes[name] = node.copy({"bound": inner.graph, "subgraphs": [inner.graph]})
            model = model or inner.model
    opened = copy.copy(graph)
    opened.nodes = nodes
    return Doors(opened, model=model)


def _wrapped_tools(node: ToolNode, wrap: Wrap) -> ToolNode:
    """Copy a tool node with ``wrap`` around whatever wraps its calls already."""
    inside = cast("Any", node)
    inner: Wrap | None = inside._awrap_tool_call
    plain: Callable[[Any, Callable[[Any], Any]], Any] | None = inside._wrap_tool_call
    made: Any = copy.copy(node)

    async def outer(request: Any, execute: Execute) -> Any:
        if inner is not None:
            execute = functools.partial(_through, inner, execute)
        elif plain is not None:
            # The node would call it in the event loop, and with it the tool.
            execute = functools.partial(wrap_in_thread, plain, execute)
        return await wrap(request, execute)

    made._awrap_tool_call = outer
    # The node calls itself through these two, bound to the original.
    made.func = made._func
    made.afunc = made._afunc
    return made


async def _through(inner: Wrap, execute: Execute, request: Any) -> Any:
    return await inner(request, execute)


def _changed_model(bound: Any, change: Change) -> Any:
    """Copy the model node of ``create_agent`` so that its requests are changed; None if it is another."""
    afunc: Any = getattr(bound, "afunc", None)
    cells = _cells(afunc)
    if not {"awrap_model_call_handler", "_execute_model_async"} <= cells.keys():
        return None
    handler = cells["awrap_model_call_handler"].cell_contents
    if handler is None:
        execute = cells["_execute_model_async"].cell_contents
        swapped = {"_execute_model_async": _changing(execute, change)}
    else:
        swapped = {"awrap_model_call_handler": _changing(handler, change)}
    made = copy.copy(bound)
    made.afunc = _with_cells(afunc, swapped)
    return made


def _changing(call: Callable[..., Any], change: Change) -> Callable[..., Any]:
    """Let a call see the changed request."""

    def changed(request: Any, *rest: Any) -> Any:
        return call(change(request), *rest)

    return changed


def _cells(function: Any) -> dict[str, types.CellType]:
    if not isinstance(function, types.FunctionType) or function.__closure__ is None:
        return {}
    return dict(zip(function.__code__.co_freevars, function.__closure__, strict=True))


def _with_cells(function: types.FunctionType, swapped: dict[str, Any]) -> types.FunctionType:
    cells = {**_cells(function), **{name: types.CellType(value) for name, value in swapped.items()}}
    closure = tuple(cells[name] for name in function.__code__.co_freevars)
    made = types.FunctionType(
        function.__code__, function.__globals__, function.__name__, function.__defaults__, closure
    )
    functools.update_wrapper(made, function)
    return made


# -- looking around --------------------------------------------------------------------------------


def _nodes(graph: Any) -> dict[str, Any]:
    return getattr(graph, "nodes", None) or {}


def tools_in(graph: Any) -> dict[str, BaseTool]:
    """The tools of a graph's tool nodes, and of the graphs in it, by name."""
    found: dict[str, BaseTool] = {}
    for node in _nodes(graph).values():
        bound = getattr(node, "bound", None)
        found.update(tools_in(bound) if isinstance(bound, Pregel) else getattr(bound, "tools_by_name", {}))
    return found


def middleware_in(graph: Any) -> tuple[Any, ...]:
    """The middlewares a graph was made with."""
    found = (item for item in _parts(graph) if _is_middleware(item))
    pieces = [piece for item in found for piece in getattr(item, "pieces", (item,))]
    return tuple(dict.fromkeys([*pieces, *present(getattr(graph, "channels", None) or {})]))


def _is_middleware(item: Any) -> bool:
    return isinstance(item, AgentMiddleware)


def model_in(graph: Any) -> BaseChatModel | None:
    """The chat model of an agent, if there is one."""
    return next((item for item in _parts(graph) if isinstance(item, BaseChatModel)), None)


def _parts(graph: Any) -> Iterator[Any]:
    """Walk through what the functions of a graph close over, nearest first, each thing once."""
    seen: set[int] = set()
    queue: list[Any] = [getattr(node, "bound", None) for node in _nodes(graph).values()]
    while queue and len(seen) < _FAR:
        item = queue.pop(0)
        if id(item) in seen:
            continue
        seen.add(id(item))
        yield item
        queue += _inside(item)


def _inside(item: Any) -> list[Any]:
    if isinstance(item, types.FunctionType):
        held = [cell.cell_contents for cell in item.__closure__ or () if _is_full(cell)]
        return [*held, getattr(item, "__wrapped__", None)]
    if isinstance(item, types.MethodType):
        return [item.__self__, item.__func__]
    if isinstance(item, functools.partial):
        return [item.func, *item.args]
    if isinstance(item, list | tuple):
        return list(cast("list[Any]", item))
    return [getattr(item, name, None) for name in ("func", "afunc", "_awrap_tool_call", "_wrap_tool_call")]


def _is_full(cell: types.CellType) -> bool:
    try:
        cell.cell_contents  # noqa: B018
    except ValueError:
        return False
    return True


# -- what it takes -----------------------------------------------------------------------------------


def input_for(runnable: Any, messages: list[Any], text: str, state: Mapping[str, Any], name: str) -> Any:
    """Give a runnable what it takes: messages and shared state, one field, or plain text."""
    runnable = _innermost(runnable)
    if isinstance(runnable, BaseChatModel):
        return messages
    kind, fields = _input_of(runnable)
    if "messages" in fields:
        known = {key: value for key, value in state.items() if key in fields}
        return {**known, "messages": messages}
    if len(fields) == 1:
        return {fields[0]: text}
    if fields:
        raise AgentError(
            f"{name!r} takes {', '.join(fields)}, and a prompt is one message: "
            "give its state a 'messages' field, or wrap it in a function (prompt, ctx)"
        )
    if hasattr(runnable, "nodes") and kind != "string":
        # An entrypoint; LangGraph cannot always tell what it takes, and most of them take messages.
        return {**state, "messages": messages} if kind == "object" else messages
    return text


def _innermost(runnable: Any) -> Any:
    """Take off what only says how a runnable is called: with which arguments, how often, and who is next."""
    while isinstance(runnable, RunnableBinding | RunnableRetry | RunnableWithFallbacks):
        outer = cast("Any", runnable)
        runnable = outer.runnable if isinstance(runnable, RunnableWithFallbacks) else outer.bound
    return runnable


def _input_of(runnable: Any) -> tuple[str | None, list[str]]:
    """What kind of input a runnable takes, and the fields of it that have a name."""
    builder: Any = getattr(runnable, "builder", None)
    channels = getattr(builder, "schemas", {}).get(getattr(builder, "input_schema", None))
    if channels:
        return "object", list(channels)
    try:
        schema = runnable.get_input_jsonschema()
    except Exception:
        # A runnable that cannot say what it takes is tried with plain text.
        return None, []
    return schema.get("type"), list(schema.get("properties", {}))
