"""What a mode forbids stays forbidden below the call that starts a subagent.

A middleware sees the calls of its own agent. Those of the agents below (the ``task`` of a deep agent, an
agent inside a tool) are seen by callbacks, and one that raises Refused stops a tool before it begins.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any
from uuid import UUID

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.tracers.context import register_configure_hook

from trunkline.agents.langchain.callbacks.session_handler import handler_in
from trunkline.agents.langchain.channel import Channel
from trunkline.agents.langchain.permissions.subagents import Refused, hide_refusals_from_log

Objection = Callable[[str, Mapping[str, Any] | None], str | None]


@contextmanager
def forbid_calls_below(channel: Channel | None, config: Any, objection: Objection) -> Generator[None]:
    """Stop every call below the one that runs in this block, if there is an objection to it."""
    hide_refusals_from_log()
    token = _CHECK.set(ModeCheck(channel, config, objection))
    try:
        yield
    finally:
        _CHECK.reset(token)


class ModeCheck(BaseCallbackHandler):
    """Lets a tool begin unless there is an objection, and shows what was denied."""

    run_inline = True
    raise_error = True

    def __init__(self, channel: Channel | None, config: Any, objection: Objection) -> None:
        """Stand below the call that runs with ``config``."""
        self._channel = channel
        self._objection = objection
        self._graph = handler_in(config)

    def on_tool_start(
        self,
        serialized: dict[str, Any] | None,
        input_str: str,
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        metadata: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        """Raise Refused for a call that a model may not make; code that calls a tool by itself may."""
        native_id = kwargs.get("tool_call_id")
        if native_id is None:
            return
        # The tool's own name: that of the run is anybody's to choose.
        name = str((serialized or {}).get("name") or kwargs.get("name"))
        reason = self._objection(name, metadata)
        if reason is None:
            return
        if self._channel is not None and self._graph is not None:
            lane = self._graph.lane_of(parent_run_id)
            call: dict[str, Any] = {"id": native_id, "name": name, "args": kwargs.get("inputs") or {}}
            self._channel.emitter.describe(lane, call)
            self._channel.emitter.tool_denied(lane, native_id, reason)
        raise Refused(name, reason)


_CHECK: ContextVar[ModeCheck | None] = ContextVar("trunkline_mode_check", default=None)
register_configure_hook(_CHECK, inheritable=True)
