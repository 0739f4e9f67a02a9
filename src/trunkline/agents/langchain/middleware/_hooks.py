"""Hooks that cost next to nothing, and none where there is nothing to do.

LangChain traces every async ``wrap_*`` hook by way of a thread, twice per call, also where nothing is
traced: half a millisecond for each middleware that an agent has. A plain function that gives an
awaitable is traced where it stands. Its span ends when the awaitable is there, so it is recorded
without what went in and came out; the model's and the tool's own spans have both.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, TypeVar, cast

from langchain.agents.middleware import AgentMiddleware
from langgraph.types import TracePolicy, omit_payload

__all__ = ["LIGHT", "MODEL_HOOKS", "NODE_HOOKS", "TOOL_HOOKS", "inline", "signed", "without"]

Hook = TypeVar("Hook", bound=Callable[..., Any])

_US = f"{__name__.partition('.')[0]}."

MODEL_HOOKS = ("wrap_model_call", "awrap_model_call")
NODE_HOOKS = ("after_agent", "aafter_agent")
TOOL_HOOKS = ("wrap_tool_call", "awrap_tool_call")
LIGHT = TracePolicy(process_inputs=omit_payload, process_outputs=omit_payload)
"""The ``trace_policy`` of a middleware whose hooks are inline."""


def inline(hook: Hook) -> Hook:
    """Let an async hook look plain to whoever asks."""

    def plain(self: Any, request: Any, handler: Any) -> Any:
        return hook(self, request, handler)

    # Not functools.wraps: the tracer looks through it.
    plain.__name__, plain.__qualname__, plain.__doc__ = hook.__name__, hook.__qualname__, hook.__doc__
    return cast("Hook", signed(plain))


def signed(hook: Hook) -> Hook:
    """Let a hook carry its signature: the tracer asks for it at every call, and to find it out takes long."""
    cast("Any", hook).__signature__ = inspect.signature(hook)
    return hook


def without(middleware: AgentMiddleware[Any, Any, Any], *hooks: str) -> None:
    """Take hooks of ours away from a middleware that has no use for them: LangChain calls what a class has.

    The hooks that somebody gave a class of their own stay.
    """
    middleware.__class__ = _cut(type(middleware), hooks)


@functools.cache
def _cut(kind: type[Any], hooks: tuple[str, ...]) -> type[Any]:
    ours = [hook for hook in hooks if getattr(kind, hook).__module__.startswith(_US)]
    bare = {hook: getattr(AgentMiddleware, hook) for hook in ours}
    return type(kind.__name__, (kind,), {**bare, "__module__": kind.__module__})
