"""What only the SDK's hooks tell about a run: a translator is fed these beside the events of the stream.

``call_id`` is always the SDK's own id of a call. ``parent`` is the SDK's id of the agent-as-tool call below
which the call was made; None fits the agent's own calls, and any other call whose id is not in use twice.
"""

from __future__ import annotations

from typing import Any, Union

import msgspec

__all__ = ["Fact", "InputChanged", "NestedEvent", "ToolDenied", "ToolFailed", "ToolProgress", "ToolStarted"]


class _OfCall(msgspec.Struct, frozen=True, kw_only=True):
    call_id: str
    parent: str | None = None


class ToolStarted(_OfCall, frozen=True, kw_only=True):
    """A tool begins to run (``RunHooks.on_tool_start``)."""


class ToolFailed(_OfCall, frozen=True, kw_only=True):
    """A tool raised; the output that follows is what the model is told of it."""

    reason: str


class ToolDenied(_OfCall, frozen=True, kw_only=True):
    """A person or a policy refused a call; the output that follows is what the model is told of it."""

    reason: str


class ToolProgress(_OfCall, frozen=True, kw_only=True):
    """A running tool has something to show: text to append to its output, or another title."""

    output: str | None = None
    title: str | None = None


class InputChanged(_OfCall, frozen=True, kw_only=True):
    """A call runs with other arguments than the model gave."""

    arguments: Any


class NestedEvent(msgspec.Struct, frozen=True, kw_only=True):
    """An event of an agent that runs as a tool (``Agent.as_tool(on_stream=...)``)."""

    tool_call: Any
    """The call that the agent runs for, as ``on_stream`` gives it."""
    event: Any
    agent: str = ""
    """The name of the agent."""
    parent: str | None = None
    """The SDK's id of the agent-as-tool call below which ``tool_call`` was made."""


Fact = Union[ToolStarted, ToolFailed, ToolDenied, ToolProgress, InputChanged, NestedEvent]
