"""The input that a runnable takes: a prompt as messages and shared state, as one field, or as plain text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from langchain_core.language_models import BaseChatModel
from langchain_core.runnables import RunnableBinding, RunnableWithFallbacks
from langchain_core.runnables.retry import RunnableRetry

from trunkline.errors import AgentError


def input_for(
    runnable: Any,
    messages: list[Any],
    text: str,
    state: Mapping[str, Any],
    name: str,
    client: Mapping[str, Any] | None = None,
) -> Any:
    """Make the input of a runnable; ``name`` is the agent's, for the error of one that takes no prompt.

    ``client`` are the fields of a graph's state that the front end fills.
    """
    runnable = _innermost(runnable)
    if isinstance(runnable, BaseChatModel):
        return messages
    kind, fields = _input_of(runnable)
    if "messages" in fields:
        known = {key: value for key, value in state.items() if key in fields}
        return {**known, **(client or {}), "messages": messages}
    if len(fields) == 1:
        return {fields[0]: text}
    if fields:
        raise AgentError(
            f"{name!r} takes {', '.join(fields)}, and a prompt is one message: "
            "give its state a 'messages' field, or wrap it in a function (prompt, ctx)"
        )
    if hasattr(runnable, "nodes") and kind != "string":
        # An @entrypoint: LangGraph cannot always describe its input, and most of them take messages.
        return {**state, "messages": messages} if kind == "object" else messages
    return text


def _innermost(runnable: Any) -> Any:
    """Unwrap a runnable that is bound to arguments, or has retries or fallbacks."""
    while isinstance(runnable, RunnableBinding | RunnableRetry | RunnableWithFallbacks):
        outer = cast("Any", runnable)
        runnable = outer.runnable if isinstance(runnable, RunnableWithFallbacks) else outer.bound
    return runnable


def _input_of(runnable: Any) -> tuple[str | None, list[str]]:
    """The JSON type of a runnable's input, and the names of its fields."""
    builder: Any = getattr(runnable, "builder", None)
    channels = getattr(builder, "schemas", {}).get(getattr(builder, "input_schema", None))
    if channels:
        return "object", list(channels)
    try:
        schema = runnable.get_input_jsonschema()
    except Exception:
        # A runnable that cannot describe its input gets plain text.
        return None, []
    return schema.get("type"), list(schema.get("properties", {}))
