"""How a tool finds the call that an adapter shows: there is one card for a call, whoever shows it.

An adapter of a framework (LangChain, the OpenAI Agents SDK) shows the calls of its model by itself. It tells
a turn where to find them (``show_calls``), and asks ``declared_tool`` what the tool's author declared.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any
from weakref import WeakKeyDictionary

import msgspec

from trunkline.session.context import Decision, TurnContext, current
from trunkline.tools.declaration import Tool
from trunkline.tools.tool_context import Asking, CallHost
from trunkline.tools.turn_calls import TurnHost

_ATTRIBUTE = "trunkline_tool"


def mark_declared(framework_tool: Any, tool: Tool) -> None:
    """Note on a framework's tool, or on its function, which tool of ours it was made of."""
    setattr(framework_tool, _ATTRIBUTE, tool)


def declared_tool(framework_tool: Any) -> Tool | None:
    """The tool of ours that a framework's tool was made of; None for any other.

    A copy keeps the mark of the tool, one that is made anew (``dataclasses.replace``) that of its function.
    """
    for marked in (framework_tool, getattr(framework_tool, "custom_data_extractor", None)):
        found = getattr(marked, _ATTRIBUTE, None)
        if isinstance(found, Tool):
            return found
    return None


class ShownCall(msgspec.Struct, frozen=True, kw_only=True):
    """A call that an adapter shows."""

    call_id: str
    """The id of its event."""
    lane: str | None = None
    approved: bool = False
    """Whether a person or the policy approved this very call already."""
    progress: Callable[[str], None] | None = None
    """Appends to its output; None where an update of the event does."""
    permit: Callable[[Asking], Awaitable[Decision]] | None = None
    """Decides about it; None where ``ctx.permission`` does."""


FindCall = Callable[[str], "ShownCall | None"]
"""From a framework's own id of a call to what is shown of it; called where the tool runs."""

_SHOWN: WeakKeyDictionary[TurnContext, FindCall] = WeakKeyDictionary()


def show_calls(ctx: TurnContext, find: FindCall) -> None:
    """Let tools that run in a turn find the calls that an adapter shows in it."""
    _SHOWN[ctx] = find


def find_call(ctx: TurnContext, native_id: str | None) -> ShownCall | None:
    """The call that an adapter shows under a framework's id; None if none does."""
    find = _SHOWN.get(ctx)
    return find(native_id) if find is not None and native_id else None


def host_of(native_id: str | None, *, approved: bool = False, may_run: bool = False) -> CallHost:
    """The host of a call that a framework makes: in the turn that this code runs in, if there is one.

    ``approved`` says that the framework's own approval was given, ``may_run`` that the caller answers for
    tools that would ask outside of a session.
    """
    turn = current()
    if turn is None:
        return CallHost(native_id, may_run=approved or may_run)
    shown = find_call(turn, native_id)
    return TurnHost(turn, native_id) if shown is None else AdapterHost(turn, shown, approved=approved)


class AdapterHost(TurnHost):
    """The host of a call that an adapter shows: its beginning, its result and its end are the adapter's."""

    def __init__(self, ctx: TurnContext, shown: ShownCall, *, approved: bool = False) -> None:
        """Belong to a call that is shown already."""
        super().__init__(ctx, shown.call_id)
        self.lane = shown.lane
        self._shown = shown
        self._approved = approved or shown.approved

    def announce(self, tool: Tool, given: Any) -> None:
        """Leave it to the adapter."""

    async def permit(self, asking: Asking) -> Decision:
        """Decide about the call; what was approved already is not asked again before the tool runs."""
        if self._approved and asking.before_run:
            return Decision(allowed=True, call_id=self._shown.call_id, input=asking.input)
        if self._shown.permit is not None:
            return await self._shown.permit(asking)
        return await super().permit(asking)

    async def start(self) -> None:
        """Leave it to the adapter."""

    def progress(self, text: str) -> None:
        """Append to the output of the call."""
        if self._shown.progress is None:
            super().progress(text)
        else:
            self._shown.progress(text)

    def finish(self, tool: Tool, result: Any) -> None:
        """Leave it to the adapter."""

    def fail(self, error: BaseException) -> None:
        """Leave it to the adapter."""
