"""What goes through the doors of a graph: a session's own tools, and the errors of all.

The graph is shared by every session; the channel of the run tells which one this is.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any
from uuid import uuid4

from langgraph.errors import GraphBubbleUp, is_invalid_resume

from trunkline.agents.langchain.callbacks.listener import tool_messages
from trunkline.agents.langchain.channel import current_channel
from trunkline.agents.langchain.errors import answer_error
from trunkline.agents.langchain.tools.session_tools import carry_out, offer_tools
from trunkline.errors import TurnCancelled

__all__ = ["change_request", "guard_calls"]

Execute = Callable[[Any], Awaitable[Any]]


def change_request(request: Any) -> Any:
    """Offer the model the tools of this session and of its front end."""
    return offer_tools(request, current_channel())


def guard_calls(raise_errors: bool) -> Callable[[Any, Execute], Awaitable[Any]]:
    """Make the wrapper around every tool call: an exception answers the model, unless it is to be raised."""

    async def guard(request: Any, execute: Execute) -> Any:
        try:
            return _told(await carry_out(request, execute, current_channel()))
        except (GraphBubbleUp, TurnCancelled):
            raise
        except (Exception, SystemExit) as error:
            # A tool that gives up as a program does must not end everybody else's session.
            if raise_errors or is_invalid_resume(error):
                raise
            return _told(answer_error(request.tool_call, error))

    return guard


def _told(answer: Any) -> Any:
    """Say what answers the model, as it leaves the last wrapper; named now, so that its name is known."""
    channel = current_channel()
    for message in tool_messages(answer):
        if message.id is None:
            message.id = str(uuid4())
        if channel is not None:
            channel.emitter.tool_message(None, message)
    return answer
