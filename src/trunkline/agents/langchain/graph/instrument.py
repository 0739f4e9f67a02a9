"""Copy a compiled graph with hooks: one sees every model request, the other wraps every tool call.

``create_agent`` closes over its model, its middlewares and its tools, and LangChain has no way to add a tool
to a graph that is compiled already (langchain 1.4). The MCP servers of a session and the tools of a front end
are known later than that. So the graph is copied with two hooks; the copy shares everything else, and the
original is not changed. A graph that was built otherwise (a plain ``StateGraph``) gets the hook for its tools
only. Agents that are nodes of a graph are instrumented too.

This depends on internals of LangChain and LangGraph: the names of two closure cells in the model node of
``create_agent``, and of three attributes of ``ToolNode``.
``tests/agents/langchain/graph/test_instrument.py`` fails when they change.
"""

from __future__ import annotations

import copy
import functools
import types
from collections.abc import Awaitable, Callable
from typing import Any, cast

from langgraph.prebuilt import ToolNode
from langgraph.pregel import Pregel

from trunkline.agents.langchain.graph.plain_wrappers import wrap_in_thread

ChangeRequest = Callable[[Any], Any]
Execute = Callable[[Any], Awaitable[Any]]
WrapCall = Callable[[Any, Execute], Awaitable[Any]]


class InstrumentedGraph:
    """A copy of a graph with hooks; ``sees_model`` says whether its model requests pass our hook."""

    def __init__(self, graph: Any, *, sees_model: bool) -> None:
        self.graph = graph
        self.sees_model = sees_model


def instrument(
    graph: Any, change_request: ChangeRequest, wrap_call: WrapCall, wrap_tool: WrapCall
) -> InstrumentedGraph:
    """Copy a graph so that ``change_request`` sees every model request and ``wrap_call`` every tool call.

    ``wrap_call`` is outside of all middlewares, ``wrap_tool`` inside of them: around the tool alone.
    """
    nodes: dict[str, Any] = dict(graph.nodes)
    sees_model = False
    for name, node in graph.nodes.items():
        bound = getattr(node, "bound", None)
        if isinstance(bound, ToolNode):
            nodes[name] = node.copy({"bound": _with_wrapped_calls(bound, wrap_call, wrap_tool)})
        elif (changed := _with_changed_requests(bound, change_request)) is not None:
            nodes[name] = node.copy({"bound": changed})
            sees_model = True
        elif isinstance(bound, Pregel):
            inner = instrument(bound, change_request, wrap_call, wrap_tool)
            nodes[name] = node.copy({"bound": inner.graph, "subgraphs": [inner.graph]})
            sees_model = sees_model or inner.sees_model
    made = copy.copy(graph)
    made.nodes = nodes
    return InstrumentedGraph(made, sees_model=sees_model)


def _with_wrapped_calls(node: ToolNode, wrap_call: WrapCall, wrap_tool: WrapCall) -> ToolNode:
    """Copy a tool node with ``wrap_call`` around its own wrapper, and ``wrap_tool`` inside of that."""
    private = cast("Any", node)
    inner: WrapCall | None = private._awrap_tool_call
    plain: Callable[[Any, Callable[[Any], Any]], Any] | None = private._wrap_tool_call
    made: Any = copy.copy(node)

    async def outer(request: Any, execute: Execute) -> Any:
        execute = functools.partial(_call_inner, wrap_tool, execute)
        if inner is not None:
            execute = functools.partial(_call_inner, inner, execute)
        elif plain is not None:
            # ToolNode would call a plain wrapper in the event loop, and the tool with it.
            execute = functools.partial(wrap_in_thread, plain, execute)
        return await wrap_call(request, execute)

    made._awrap_tool_call = outer
    # ToolNode.__init__ keeps these two bound to the original node.
    made.func = made._func
    made.afunc = made._afunc
    return made


async def _call_inner(inner: WrapCall, execute: Execute, request: Any) -> Any:
    return await inner(request, execute)


def has_model_node(graph: Any) -> bool:
    """Whether a graph is made by ``create_agent``, whose model gets the session's tools from us."""
    nodes: dict[str, Any] = getattr(graph, "nodes", None) or {}
    return any(_is_model_node(getattr(node, "bound", None)) for node in nodes.values())


def _is_model_node(bound: Any) -> bool:
    return {"awrap_model_call_handler", "_execute_model_async"} <= _cells(
        getattr(bound, "afunc", None)
    ).keys()


def _with_changed_requests(bound: Any, change_request: ChangeRequest) -> Any:
    """Copy the model node of ``create_agent`` so that its requests are changed; None for any other node."""
    if not _is_model_node(bound):
        return None
    afunc: Any = bound.afunc
    cells = _cells(afunc)
    # The node calls the middlewares' handler if there are any, else the model itself.
    handler = cells["awrap_model_call_handler"].cell_contents
    cell = "_execute_model_async" if handler is None else "awrap_model_call_handler"
    call = cells[cell].cell_contents

    def changed(request: Any, *rest: Any) -> Any:
        return call(change_request(request), *rest)

    made = copy.copy(bound)
    made.afunc = _with_cell(afunc, cell, changed)
    return made


# -- closure cells: the only way into create_agent's model node --------------------------------------


def _cells(function: Any) -> dict[str, types.CellType]:
    if not isinstance(function, types.FunctionType) or function.__closure__ is None:
        return {}
    return dict(zip(function.__code__.co_freevars, function.__closure__, strict=True))


def _with_cell(function: types.FunctionType, name: str, value: Any) -> types.FunctionType:
    """Copy a function with another value in one of its closure cells."""
    cells = {**_cells(function), name: types.CellType(value)}
    closure = tuple(cells[free] for free in function.__code__.co_freevars)
    made = types.FunctionType(
        function.__code__, function.__globals__, function.__name__, function.__defaults__, closure
    )
    functools.update_wrapper(made, function)
    return made
