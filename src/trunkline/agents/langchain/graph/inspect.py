"""What is in a compiled graph: its tools, its middlewares and its chat model. Reads only.

``create_agent`` keeps middlewares and model only in what its functions close over, so these are searched.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Iterator
from typing import Any, cast

from langchain.agents.middleware import AgentMiddleware
from langchain_core.language_models import BaseChatModel
from langchain_core.tools import BaseTool
from langgraph.pregel import Pregel

from trunkline.agents.langchain.middleware._run_observer import middlewares_in

# A graph holds a few hundred objects; what is reached beyond this number is not part of one.
_MOST_OBJECTS = 20_000


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
    found = (item for item in _objects_in(graph) if _is_middleware(item))
    pieces = [piece for item in found for piece in getattr(item, "pieces", (item,))]
    return tuple(dict.fromkeys([*pieces, *middlewares_in(getattr(graph, "channels", None) or {})]))


def _is_middleware(item: Any) -> bool:
    return isinstance(item, AgentMiddleware)


def model_in(graph: Any) -> BaseChatModel | None:
    """The chat model of an agent, if there is one."""
    return next((item for item in _objects_in(graph) if isinstance(item, BaseChatModel)), None)


def _objects_in(graph: Any) -> Iterator[Any]:
    """Walk through what the functions of a graph close over, nearest first, each thing once."""
    seen: set[int] = set()
    queue: list[Any] = [getattr(node, "bound", None) for node in _nodes(graph).values()]
    while queue and len(seen) < _MOST_OBJECTS:
        item = queue.pop(0)
        if id(item) in seen:
            continue
        seen.add(id(item))
        yield item
        queue += _held_by(item)


def _held_by(item: Any) -> list[Any]:
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
