"""What a front end sends along with a prompt, where graphs written for AG-UI and CopilotKit look for it.

That is in the state, if the graph's input has these fields: ``state["tools"]``, ``state["ag-ui"]`` with
``tools`` and ``context``, and ``state["copilotkit"]`` with ``actions`` and ``context``. Besides, ``context``
and the forwarded properties are in the configuration, and in the runtime context if its schema names them.
All of it comes from a client: it has names of its own there, and never takes the place of anything else.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, cast, get_args, get_origin

from pydantic import TypeAdapter

from trunkline.agents.langchain.graph.instrument import has_model_node
from trunkline.commands import Prompt

_OBJECTS = frozenset({"ag-ui", "copilotkit"})
_LISTS = (list, Sequence, Any)


def client_fields(graph: Any) -> frozenset[str]:
    """The fields of a graph's input that are filled with what the front end sends."""
    builder: Any = getattr(graph, "builder", None)
    schemas: Any = getattr(builder, "schemas", {})
    channels = cast("dict[str, Any]", schemas.get(getattr(builder, "input_schema", None)) or {})
    found = _OBJECTS & channels.keys()
    tools: Any = getattr(channels.get("tools"), "ValueType", None)
    # A field of this name that is no list has another meaning.
    return found | {"tools"} if tools is not None and _is_list(tools) else found


def _is_list(kind: Any) -> bool:
    kinds = (kind, get_origin(kind), *get_args(kind), *map(get_origin, get_args(kind)))
    return any(known in kinds for known in _LISTS) and get_origin(kind) is not dict


def client_state(graph: Any, prompt: Prompt) -> dict[str, Any]:
    """The fields of the state for a prompt.

    The model of ``create_agent`` gets the tools from us, and the state has none: a middleware that adds
    those of the state would give the model each of them twice.
    """
    if not (fields := client_fields(graph)):
        return {}
    tools = [] if has_model_node(graph) else [dict(tool) for tool in prompt.tools]
    context = [dict(item) for item in prompt.context]
    made: dict[str, Any] = {
        "tools": tools,
        "ag-ui": {"tools": tools, "context": context},
        "copilotkit": {"actions": tools, "context": context},
    }
    return {name: made[name] for name in fields}


def add_to_config(configurable: Mapping[str, Any], prompt: Prompt) -> dict[str, Any]:
    """The configurable fields of a run; what the developer set comes first."""
    context = [dict(item) for item in prompt.context]
    return {"client_context": context, "forwarded_props": dict(prompt.forwarded), **configurable}


@lru_cache(maxsize=64)
def _schema_of(kind: type) -> dict[str, Any]:
    try:
        return TypeAdapter(kind).json_schema()
    except Exception:
        # One with types that have no JSON is filled by the developer.
        return {}


def runtime_context(graph: Any, configurable: Mapping[str, Any]) -> dict[str, Any] | None:
    """The runtime context of a run: those configurable fields that the graph's context schema names.

    None if it names none of them, or needs more than these.
    """
    kind: Any = getattr(graph, "context_schema", None)
    schema = {} if kind is None else _schema_of(kind)
    made = {name: configurable[name] for name in schema.get("properties", {}) if name in configurable}
    return made if made and made.keys() >= set(schema.get("required", ())) else None
