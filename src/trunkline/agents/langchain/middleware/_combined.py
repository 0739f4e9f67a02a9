"""Several middlewares as one.

LangChain wraps every hook of every middleware by itself: it traces it, and it looks at what came of it. That
is most of what a middleware costs. Those that always come together share one hook of each kind.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from langchain.agents.middleware import AgentMiddleware

from trunkline.agents.langchain.callbacks.begin_run import begin_run
from trunkline.agents.langchain.callbacks.hosted_handler import TrunklineCallbackHandler
from trunkline.agents.langchain.channel import Channel
from trunkline.agents.langchain.channel_lookup import ChannelSource, use_run_channel
from trunkline.agents.langchain.middleware._hooks import (
    MODEL_HOOKS,
    NO_PAYLOADS,
    TOOL_HOOKS,
    remove_hooks,
    with_signature,
)
from trunkline.agents.langchain.middleware._run_observer import add_to_state
from trunkline.agents.langchain.middleware.session import SessionMiddleware

Middleware = AgentMiddleware[Any, Any, Any]
Hook = Callable[..., Any]


class CombinedMiddleware(Middleware):
    """Does what its pieces do, the first of them outermost."""

    trace_policy = NO_PAYLOADS
    channel_source: ChannelSource | None = None

    handler: TrunklineCallbackHandler | None = None
    """The callback handler that follows a run to which the caller gave none."""

    def __init__(self, pieces: Sequence[Middleware], name: str = "Trunkline") -> None:
        """Take over the hooks that wrap calls."""
        super().__init__()
        self._name = name
        self.pieces = tuple(pieces)
        add_to_state(self, begin_run)
        self._hooks = {name: self._owned(name) for name in (*MODEL_HOOKS, *TOOL_HOOKS)}
        remove_hooks(self, *(name for name, hooks in self._hooks.items() if not hooks))

    def show_end(self, channel: Channel, state: dict[str, Any]) -> None:
        """Let the session show the last state of a run that finishes."""
        for piece in self.pieces:
            if isinstance(piece, SessionMiddleware):
                piece.show_end(channel, state)

    def _owned(self, name: str) -> list[Any]:
        plain = getattr(AgentMiddleware, name)
        return [getattr(piece, name) for piece in self.pieces if getattr(type(piece), name) is not plain]

    @property
    def name(self) -> str:
        """What it is called in a trace; LangChain refuses two of the same name in one agent."""
        return self._name

    @with_signature
    def wrap_model_call(self, request: Any, handler: Callable[[Any], Any]) -> Any:
        """Call the model as the pieces want it."""
        with use_run_channel(request.runtime, self):
            return _nest(self._hooks["wrap_model_call"], handler)(request)

    @with_signature
    def awrap_model_call(self, request: Any, handler: Callable[[Any], Any]) -> Any:
        """Call the model as the pieces want it; gives an awaitable."""
        return self._call("awrap_model_call", request, handler)

    @with_signature
    def wrap_tool_call(self, request: Any, handler: Callable[[Any], Any]) -> Any:
        """Run a tool as the pieces want it."""
        with use_run_channel(request.runtime, self):
            return _nest(self._hooks["wrap_tool_call"], handler)(request)

    @with_signature
    def awrap_tool_call(self, request: Any, handler: Callable[[Any], Any]) -> Any:
        """Run a tool as the pieces want it; gives an awaitable."""
        return self._call("awrap_tool_call", request, handler)

    async def _call(self, hook: str, request: Any, handler: Callable[[Any], Any]) -> Any:
        # The pieces look for their channel one by one; the nearest place is the quickest to find.
        with use_run_channel(request.runtime, self):
            return await _nest(self._hooks[hook], handler)(request)


def _nest(hooks: Sequence[Hook], handler: Callable[[Any], Any]) -> Callable[[Any], Any]:
    for hook in reversed(hooks):
        handler = partial(hook, handler=handler)
    return handler
