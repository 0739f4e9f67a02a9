"""Hooks that cost little, and none where there is nothing to do.

LangChain traces every async ``wrap_*`` hook by way of a thread, twice per call, also where nothing is
traced: half a millisecond for each middleware that an agent has. A plain function that gives an
awaitable is traced in the same thread. Its span ends when the awaitable is there, so it is recorded
without its input and output; the model's and the tool's own spans have both.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, TypeVar, cast

from langchain.agents.middleware import AgentMiddleware
from langgraph.types import TracePolicy, omit_payload

from trunkline.agents.langchain.class_methods import replace_methods

Hook = TypeVar("Hook", bound=Callable[..., Any])

_US = f"{__name__.partition('.')[0]}."

MODEL_HOOKS = ("wrap_model_call", "awrap_model_call")
TOOL_HOOKS = ("wrap_tool_call", "awrap_tool_call")
NO_PAYLOADS = TracePolicy(process_inputs=omit_payload, process_outputs=omit_payload)
"""The ``trace_policy`` of a middleware whose hooks are inline: spans without input and output."""


def inline(hook: Hook) -> Hook:
    """Make an async hook a plain function that gives an awaitable."""

    def plain(self: Any, request: Any, handler: Any) -> Any:
        return hook(self, request, handler)

    # Not functools.wraps: the tracer looks through it.
    plain.__name__, plain.__qualname__, plain.__doc__ = hook.__name__, hook.__qualname__, hook.__doc__
    return cast("Hook", with_signature(plain))


def with_signature(hook: Hook) -> Hook:
    """Store the signature of a hook: the tracer asks for it at every call, and computing it is slow."""
    cast("Any", hook).__signature__ = inspect.signature(hook)
    return hook


def remove_hooks(middleware: AgentMiddleware[Any, Any, Any], *hooks: str) -> None:
    """Take hooks of ours away from a middleware that has no use for them; those of a user's subclass stay."""
    kind = type(middleware)
    ours = [hook for hook in hooks if getattr(kind, hook).__module__.startswith(_US)]
    replace_methods(middleware, {hook: getattr(AgentMiddleware, hook) for hook in ours})
