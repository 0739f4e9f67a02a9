"""What a tool can do besides computing its result, and who answers it: the host of its call.

A call is made in a turn, in a program without a session, or for an MCP client. A host is what differs
between them: where progress is shown, who is asked, and who sees how the call goes.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from trunkline.content import Content
from trunkline.session.context import Decision, SessionView, TurnContext
from trunkline.session.handles import discard, in_loop
from trunkline.tools.errors import ToolDenied, ToolError
from trunkline.transports.event_loops import running_loop

if TYPE_CHECKING:
    from trunkline.tools.declaration import Tool
    from trunkline.workspace import Files


class Asking(msgspec.Struct, frozen=True, kw_only=True):
    """A permission that a call needs."""

    tool: Any
    input: dict[str, Any]
    message: str
    content: str | Content | Sequence[Content] = ()
    before_run: bool = False
    """Whether the call as a whole is asked about, before its tool runs."""
    asks: bool = True
    """False if the tool itself asks nothing: then only a policy counts."""


class CallHost:
    """The host of a call outside of every session: nothing is shown, and nobody can be asked."""

    def __init__(self, call_id: str | None = None, *, may_run: bool = False) -> None:
        """``may_run`` lets tools run that would ask: the caller answers for them."""
        self.call_id = call_id
        self.turn: TurnContext | None = None
        self._may_run = may_run

    def announce(self, tool: Tool, given: Any) -> None:
        """Show that a call was made."""

    async def permit(self, asking: Asking) -> Decision:
        """Decide whether a call runs; a refusal is shown here."""
        if not asking.asks or self._may_run:
            return Decision(allowed=True, call_id=self.call_id or "", input=asking.input)
        return Decision(
            allowed=False,
            call_id=self.call_id or "",
            reason="it needs a permission and there is no session in which somebody could be asked: "
            "call it inside a turn, or answer for it with on_no_session='allow'",
        )

    async def start(self) -> None:
        """Show that the tool runs now; return once that is stored."""

    def progress(self, text: str) -> None:
        """Show text that the tool puts out while it runs; safe from any thread."""

    def finish(self, tool: Tool, result: Any) -> None:
        """Show the result."""

    def fail(self, error: BaseException) -> None:
        """Show that the call failed or was cancelled."""

    async def form(self, message: str, fields: dict[str, Any]) -> dict[str, Any] | None:
        """Ask a person to fill in fields; None when they decline."""
        raise ToolError("there is no session in which somebody could be asked")


class ToolContext:
    """What a tool is given when one of its parameters is annotated with this class."""

    def __init__(self, tool: Tool, arguments: dict[str, Any], host: CallHost | None = None) -> None:
        """Belong to one call of a tool."""
        self._tool = tool
        self._host = host or CallHost()
        self._loop = running_loop()
        self.arguments = arguments
        """The arguments as they were sent."""

    @property
    def call_id(self) -> str | None:
        """The id of the call, as the client knows it."""
        return self._host.call_id

    @property
    def turn(self) -> TurnContext | None:
        """The context of the turn; None outside of one."""
        return self._host.turn

    @property
    def session(self) -> SessionView | None:
        """The session; None outside of a turn."""
        return None if self._host.turn is None else self._host.turn.session

    @property
    def files(self) -> Files:
        """The session's files: the editor's where it offers them."""
        if self._host.turn is None:
            raise ToolError(f"{self._tool.name} works on the files of a session, and there is none here")
        return self._host.turn.files

    def progress(self, text: str) -> None:
        """Append to what is shown of the call while it runs. Safe from any thread."""
        if text:
            self._host.progress(text)

    async def form(self, message: str, fields: dict[str, Any]) -> dict[str, Any] | None:
        """Ask the person for a few fields (a flat JSON schema); None when they decline."""
        return await self._host.form(message, fields)

    async def permission(self, message: str, *, content: str | Content | Sequence[Content] = ()) -> Decision:
        """Ask whether the tool may go on; the policy and earlier "always" answers are asked first.

        ``content`` is what the person looks at, for instance what would change. The answer is true if the
        tool may go on; ``require_permission`` raises instead.
        """
        asking = Asking(tool=self._tool, input=self.arguments, message=message, content=content)
        return await self._host.permit(asking)

    async def require_permission(
        self, message: str, *, content: str | Content | Sequence[Content] = ()
    ) -> None:
        """Ask whether the tool may go on, and end the call if not."""
        decision = await self.permission(message, content=content)
        if not decision:
            raise refusal(self._tool, decision)

    def wait(self, awaitable: Any) -> Any:
        """Wait for ``form`` or ``permission`` from a plain function, which runs in a thread of its own."""
        if self._host.turn is not None:
            return self._host.turn.wait(awaitable)
        if in_loop() or self._loop is None:
            discard(awaitable)
            raise RuntimeError("wait() is for plain code in a thread of its own: write await instead")
        return asyncio.run_coroutine_threadsafe(awaitable, self._loop).result()


def refusal(tool: Tool, decision: Decision) -> ToolDenied:
    """The error of a call that was refused."""
    return ToolDenied(f"{tool.name} did not run: {decision.reason or 'the user refused it'}")
