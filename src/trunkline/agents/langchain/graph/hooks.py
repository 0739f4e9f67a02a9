"""Hooks installed in a compiled graph: add the session's tools to model requests, and answer if tools fail.

Every session shares the instrumented graph; the current channel says which session a run belongs to.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any
from uuid import uuid4

from langgraph.errors import GraphBubbleUp, is_invalid_resume

from trunkline.agents.langchain.callbacks.listener import tool_messages
from trunkline.agents.langchain.channel import current_channel
from trunkline.agents.langchain.errors import answer_error
from trunkline.agents.langchain.permissions.decide import discard_verdict
from trunkline.agents.langchain.permissions.subagents import lane_at
from trunkline.agents.langchain.tools.session_tools import add_tools, run_tool_call
from trunkline.errors import TurnCancelled

Execute = Callable[[Any], Awaitable[Any]]


def add_session_tools(request: Any) -> Any:
    """Add the tools of the session and of its front end to a model request."""
    return add_tools(request, current_channel())


def guard_tool_calls(raise_errors: bool) -> Callable[[Any, Execute], Awaitable[Any]]:
    """Make the wrapper around every tool call: an exception becomes the answer to the model, or is raised."""

    async def guard(request: Any, execute: Execute) -> Any:
        try:
            channel = current_channel()
            answer = _emit_answer(await run_tool_call(request, execute, channel))
            discard_verdict(channel, request.tool_call, lane_at(request.runtime.config))
            return answer
        except (GraphBubbleUp, TurnCancelled):
            raise
        except (Exception, SystemExit) as error:
            # A tool that calls sys.exit() must not end the server with all its sessions.
            if raise_errors or is_invalid_resume(error):
                raise
            return _emit_answer(answer_error(request.tool_call, error))

    return guard


def _emit_answer(answer: Any) -> Any:
    """Emit the messages that answer the model, after the last wrapper; each gets an id if it has none."""
    channel = current_channel()
    for message in tool_messages(answer):
        if message.id is None:
            message.id = str(uuid4())
        if channel is not None:
            channel.emitter.tool_message(None, message)
    return answer
