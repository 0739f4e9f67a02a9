"""Tool calls: shown from their beginning to their end, and an exception that does not end the run.

Be the first in the list of middlewares: the outermost sees a call that is retried, edited or refused
further in as the one call it is.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from typing import Any, cast
from uuid import uuid4

import msgspec
from langchain.agents.middleware import AgentMiddleware
from langchain_core.messages import ToolMessage
from langgraph.errors import GraphBubbleUp, is_invalid_resume

from trunkline import events as ev
from trunkline.agents.langchain.callbacks.begin_run import begin_run
from trunkline.agents.langchain.callbacks.hosted_handler import is_followed
from trunkline.agents.langchain.channel import Channel
from trunkline.agents.langchain.channel_lookup import ChannelSource, is_nested, use_run_channel
from trunkline.agents.langchain.errors import answer_error, explain
from trunkline.agents.langchain.messages.result_content import ContentMapper, contain_content_mapper
from trunkline.agents.langchain.middleware._hooks import NO_PAYLOADS, TOOL_HOOKS, inline, remove_hooks
from trunkline.agents.langchain.middleware._run_observer import add_to_state
from trunkline.agents.langchain.tools.registered_tools import declare
from trunkline.agents.langchain.user_functions import contain_kind_mapper
from trunkline.errors import TurnCancelled
from trunkline.tools.adapter_calls import declared_tool
from trunkline.tools.naming import KindMapper, kind_of

__all__ = ["ContentMapper", "ToolEventFilter", "ToolMiddleware"]


class ToolMiddleware(AgentMiddleware[Any, Any, Any]):
    """Shows tool calls as pending, in progress, and completed or failed."""

    trace_policy = NO_PAYLOADS
    channel_source: ChannelSource | None = None

    def __init__(
        self,
        *,
        emit_tool_start: bool = True,
        emit_tool_results: bool = True,
        tool_kind_mapper: KindMapper | None = None,
        content_mapper: ContentMapper | None = None,
        handle_errors: bool = True,
    ) -> None:
        """Show calls as they begin, and their results; without results a call still ends.

        ``handle_errors`` answers the model with a tool's exception, so that the run goes on; without
        it the exception is raised as it is.
        """
        super().__init__()
        self.emit_tool_start = emit_tool_start
        self.emit_tool_results = emit_tool_results
        self.tool_kind_mapper = contain_kind_mapper(tool_kind_mapper)
        self.content_mapper = contain_content_mapper(content_mapper if emit_tool_results else _hide)
        self.handle_errors = handle_errors
        idle = not (emit_tool_start or emit_tool_results or handle_errors)
        if idle:
            remove_hooks(self, *TOOL_HOOKS)
        add_to_state(self, None if idle else begin_run)

    def wrap_tool_call(self, request: Any, handler: Callable[[Any], Any]) -> Any:
        """Show a call while it runs."""
        with use_run_channel(request.runtime, self) as channel:
            listener = self._begin(channel, request)
            try:
                result = handler(request)
            except (GraphBubbleUp, TurnCancelled):
                raise
            except (Exception, SystemExit) as error:
                result = self._failed(listener, request, error)
            self._end(listener, request, result)
            return result

    @inline
    async def awrap_tool_call(self, request: Any, handler: Callable[[Any], Awaitable[Any]]) -> Any:
        """Show a call while it runs."""
        with use_run_channel(request.runtime, self) as channel:
            listener = self._begin(channel, request)
            try:
                result = await handler(request)
            except (GraphBubbleUp, TurnCancelled):
                raise
            except (Exception, SystemExit) as error:
                result = self._failed(listener, request, error)
            self._end(listener, request, result)
            return result

    def event_filter(self) -> ToolEventFilter | None:
        """What to leave out of all that is said in a run for these options to hold; None for nothing."""
        if self.emit_tool_start and self.emit_tool_results:
            return None
        return ToolEventFilter(start=self.emit_tool_start, results=self.emit_tool_results, ends=self._ends)

    @property
    def _ends(self) -> bool:
        return self.emit_tool_start or self.emit_tool_results

    def _begin(self, channel: Channel | None, request: Any) -> Channel | None:
        """Say that a call begins; give whom its end is said to."""
        if channel is not None and self.content_mapper is not None:
            channel.emitter.content_mapper = self.content_mapper
        if channel is None or not self._ends or is_nested(request.runtime):
            return None  # The calls of a subagent are told by callback, which knows where they belong.
        declare(channel, request.tool)
        if not self.emit_tool_start:
            return channel
        call: Any = request.tool_call
        call_id = channel.emitter.describe(None, call)
        hints = getattr(request.tool, "metadata", None)
        declared = declared_tool(request.tool)
        kind = kind_of(call["name"], hints, self.tool_kind_mapper)
        if declared is not None and self.tool_kind_mapper is None:
            kind = declared.kind
        if declared is not None and channel.run is not None:
            # In a caller's own run its tools are not known when the model names them.
            channel.emitter.change_input(None, call["id"], call["args"])
            channel.emit(ev.ToolUpdate(call_id=call_id, kind=kind))
        elif kind != channel.emitter.kind_of(call["name"]):
            channel.emit(ev.ToolUpdate(call_id=call_id, kind=kind))
        if not is_followed(channel, request.runtime.config):
            # A callback would know the very moment: after permission was given.
            channel.emitter.tool_started(None, call["id"], call["name"], call["args"])
        return channel

    def _failed(self, channel: Channel | None, request: Any, error: BaseException) -> ToolMessage:
        call: Any = request.tool_call
        if not self.handle_errors or is_invalid_resume(error):
            if channel is not None:
                channel.emitter.tool_failed(None, call["id"], explain(error))
            raise error
        return answer_error(call, error)

    def _end(self, channel: Channel | None, request: Any, result: Any) -> None:
        if channel is None:
            return
        for message in _messages_of(result, request.tool_call["id"]):
            # Named before it is said: the thread then knows it by the id that the client knows.
            message.id = message.id or str(uuid4())
            channel.emitter.tool_message(None, message)


def _hide(message: Any) -> tuple[()]:
    """Show nothing of a result."""
    return ()


class ToolEventFilter:
    """Leaves out what of tool calls is not to be shown; a Translator[Event, Event].

    Whatever is left out, a call that was shown also ends.
    """

    def __init__(self, *, start: bool = True, results: bool = True, ends: bool = True) -> None:
        """Without ``start`` a call is shown when it ends, without ``ends`` not at all."""
        self._start = start
        self._results = results
        self._ends = ends
        self._held: dict[str, ev.ToolCall] = {}

    def feed(self, event: ev.AnyEvent, /) -> list[ev.AnyEvent]:
        """Give what is to be shown of an event."""
        if isinstance(event, ev.ToolCall):
            if self._start:
                return [event]
            self._held[event.call_id] = event
            return []
        if isinstance(event, ev.Asked):
            call_id = getattr(event.question, "call_id", None)
            return [*self._release(call_id), event]
        if not isinstance(event, ev.ToolUpdate | ev.ToolInput):
            return [event]
        ends = isinstance(event, ev.ToolUpdate) and event.status in ev.FINAL_STATUSES
        released = self._release(event.call_id) if ends and self._ends else []
        if event.call_id in self._held:
            return []
        if isinstance(event, ev.ToolUpdate) and ends and not self._results:
            event = msgspec.structs.replace(event, content=None, raw_output=None)
        return [*released, event]

    def close(self) -> list[ev.AnyEvent]:
        """Forget what was held back."""
        self._held.clear()
        return []

    def _release(self, call_id: str | None) -> list[ev.AnyEvent]:
        held = self._held.pop(call_id, None) if call_id is not None else None
        return [] if held is None else [held]


def _messages_of(result: Any, tool_call_id: str) -> list[ToolMessage]:
    """Find a call's own messages in whatever its tool gave back."""
    if isinstance(result, ToolMessage):
        return [result] if result.tool_call_id == tool_call_id else []
    if isinstance(result, list | tuple):
        return [found for item in cast("Iterable[Any]", result) for found in _messages_of(item, tool_call_id)]
    update: Any = getattr(result, "update", None)
    if isinstance(update, dict):
        return _messages_of(cast("dict[str, Any]", update).get("messages"), tool_call_id)
    return []
