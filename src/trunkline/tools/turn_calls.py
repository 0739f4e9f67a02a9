"""Calls of tools in a turn: what is shown of them, and the permission that the session gives."""

from __future__ import annotations

import asyncio
from typing import Any

from trunkline import events as ev
from trunkline.errors import TurnCancelled
from trunkline.session.context import Decision, ToolRequest, TurnContext
from trunkline.tools.calls import sent_object
from trunkline.tools.declaration import Tool
from trunkline.tools.errors import ToolDenied
from trunkline.tools.results import json_value, shown_content
from trunkline.tools.tool_context import Asking, CallHost

_REASON_LENGTH = 500


class TurnHost(CallHost):
    """The host of a call in a turn, with a card of its own for it."""

    def __init__(self, ctx: TurnContext, call_id: str | None = None) -> None:
        """Belong to a turn; ``call_id`` is the id that a model gave the call, if there is one."""
        super().__init__(call_id)
        self.turn = self._ctx = ctx
        self._runs = False
        self.lane: str | None = None

    def announce(self, tool: Tool, given: Any) -> None:
        """Show the call as pending, with its arguments."""
        input = sent_object(given)
        self.call_id = self._ctx.start_call(
            tool.name, input, tool.kind, tool.title_of(input), tool.locations_of(input), self.call_id
        )

    async def permit(self, asking: Asking) -> Decision:
        """Ask the policy and the earlier answers of the session, then a person if the tool asks."""
        call_id, tool = self.call_id or "", asking.tool
        request = request_for(asking, call_id)
        if not asking.asks and not self._ctx.has_policy:
            # An earlier "always reject" still counts.
            decision = self._ctx.decide(request)
            return (
                Decision(allowed=True, call_id=call_id, input=asking.input) if decision is None else decision
            )
        decision = await self._ctx.permission(
            asking.message,
            tool=tool.name,
            input=asking.input,
            kind=tool.kind,
            call_id=call_id,
            options=tool.buttons(self._ctx.covers(request)),
            allows_edit=tool.allows_edit,
            paths=request.paths,
            content=asking.content,
            lane=self.lane,
            always_covers_tool=tool.always_covers_tool,
        )
        self._runs = bool(decision)
        return decision

    async def start(self) -> None:
        """Show that the tool runs, unless its permission did that; it is stored before the tool runs."""
        if not self._runs:
            self._update(status="in_progress")
            await self._ctx.durable()

    def progress(self, text: str) -> None:
        """Append to the output of the call."""
        self._update(output=text)

    def finish(self, tool: Tool, result: Any) -> None:
        """Show the result; a call that was denied meanwhile stays so."""
        if self.call_id not in self._ctx.denied:
            self._update(
                status="completed", content=shown_content(result, tool.shows), raw_output=json_value(result)
            )

    def fail(self, error: BaseException) -> None:
        """Show why the call failed, was denied or cancelled."""
        if self.call_id in self._ctx.denied:
            return
        reason = str(error) or type(error).__name__
        if isinstance(error, asyncio.CancelledError | TurnCancelled | GeneratorExit):
            self._update(status="cancelled", reason="the call was cancelled")
        elif isinstance(error, ToolDenied):
            self._update(status="denied", reason=reason)
        else:
            self._update(status="failed", reason=reason[:_REASON_LENGTH])

    async def form(self, message: str, fields: dict[str, Any]) -> dict[str, Any] | None:
        """Ask the person for a few fields."""
        return await self._ctx.form(message, fields)

    def _update(self, **fields: Any) -> None:
        self._ctx.emit(ev.ToolUpdate(call_id=self.call_id or "", lane=self.lane, **fields))


def request_for(asking: Asking, call_id: str) -> ToolRequest:
    """What the policy and the earlier answers of a session judge of a call."""
    tool: Tool = asking.tool
    return ToolRequest(
        call_id=call_id,
        tool=tool.name,
        kind=tool.kind,
        input=asking.input,
        paths=tuple(location.path for location in tool.locations_of(asking.input)),
        always_covers_tool=tool.always_covers_tool,
    )
