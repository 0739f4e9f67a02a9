"""A call for an MCP client: its progress, its permission by elicitation, and what waits for input."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Any, cast

from trunkline.content import as_content
from trunkline.questions import ALLOW_KINDS, name_coverage
from trunkline.session.context import Decision
from trunkline.session.handles import in_loop
from trunkline.session.permissions import Permissions
from trunkline.tools.errors import ToolError
from trunkline.tools.mcp_server.listing import permission_form
from trunkline.tools.tool_context import Asking, CallHost
from trunkline.tools.turn_calls import request_for

log = logging.getLogger("trunkline.mcp")

Elicit = Callable[[dict[str, Any]], Awaitable[Any]]
"""Puts a form to the client's user and gives the client's answer."""

_CANNOT_ASK = (
    "it needs a permission, and this MCP client cannot ask for one (it offers no elicitation): "
    "start the server with --policy, for instance `--policy allow-all`"
)


class McpHost(CallHost):
    """The host of a call that an MCP client makes."""

    def __init__(
        self,
        call_id: str,
        permissions: Permissions,
        elicit: Elicit | None,
        progress: Callable[[str], None],
    ) -> None:
        """``elicit`` is None where the client cannot ask its user."""
        super().__init__(call_id)
        self._permissions = permissions
        self._elicit = elicit
        self._loop = asyncio.get_running_loop()
        self._show = progress

    def progress(self, text: str) -> None:
        """Send progress, from any thread."""
        if in_loop():
            self._show(text)
        else:
            self._loop.call_soon_threadsafe(self._show, text)

    async def permit(self, asking: Asking) -> Decision:
        """Ask the policy and the earlier answers, then the user; without a way to ask, refuse."""
        request = request_for(asking, self.call_id or "")
        decision = self._permissions.decide(request)
        if decision is None and not asking.asks and not self._permissions.has_policy:
            return Decision(allowed=True, call_id=request.call_id, input=asking.input)
        if decision is None:
            decision = await self._ask(asking)
        log.info("%s was %s: %s", request.tool, "allowed" if decision else "refused", decision.reason or "")
        return decision

    async def _ask(self, asking: Asking) -> Decision:
        request = request_for(asking, self.call_id or "")
        if self._elicit is None:
            return Decision(allowed=False, call_id=request.call_id, reason=_CANNOT_ASK)
        covers = self._permissions.covers(request)
        options = name_coverage(asking.tool.buttons(covers), covers)
        shown = as_content(asking.content)
        form = permission_form(asking.message, asking.tool, asking.input, shown, options)
        content = _accepted(await self._elicit(form))
        chosen = next((one for one in options if one.option_id == content.get("decision")), None)
        decision = Decision(
            allowed=chosen is not None and chosen.kind in ALLOW_KINDS,
            call_id=request.call_id,
            input=asking.input,
            always=chosen is not None and chosen.kind.endswith("_always"),
            by="user",
        )
        self._permissions.remember(covers, decision)
        return decision

    async def form(self, message: str, fields: dict[str, Any]) -> dict[str, Any] | None:
        """Ask the user for a few fields."""
        if self._elicit is None:
            raise ToolError("this MCP client cannot ask its user (it offers no elicitation)")
        schema = fields if "properties" in fields else {"type": "object", "properties": fields}
        return _accepted(await self._elicit({"message": message, "requestedSchema": schema})) or None


def _accepted(answer: Any) -> dict[str, Any]:
    """What a user filled in; nothing where the form was declined."""
    given = cast("dict[str, Any]", answer) if isinstance(answer, dict) else {}
    content: Any = given.get("content") if given.get("action") == "accept" else None
    return cast("dict[str, Any]", content) if isinstance(content, dict) else {}


class WaitingCall:
    """A call of a client without a way to be asked: its answer says what input is required.

    "The client fulfills `inputRequests` and retries the original request" (MCP 2026-07-28): the tool waits
    meanwhile, and the retry goes on with it.
    """

    def __init__(self) -> None:
        """Begin without a question; ``work`` must be set."""
        self.work: asyncio.Task[Any] | None = None
        self._questions: asyncio.Queue[tuple[dict[str, Any], asyncio.Future[Any]]] = asyncio.Queue()
        self._open: asyncio.Future[Any] | None = None

    async def elicit(self, form: dict[str, Any]) -> Any:
        """Let the client's next answer be a question, and wait for its retry."""
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._questions.put_nowait((form, future))
        return await future

    def answer(self, response: Any) -> None:
        """Take what the client's user said."""
        if self._open is not None and not self._open.done():
            self._open.set_result(response)
        self._open = None

    async def step(self) -> dict[str, Any] | None:
        """Wait for the end of the work or for its next question; give the question."""
        assert self.work is not None
        asking = asyncio.ensure_future(self._questions.get())
        try:
            await asyncio.wait({self.work, asking}, return_when=asyncio.FIRST_COMPLETED)
            if self.work.done() or not asking.done():
                return None
            form, self._open = asking.result()
            return form
        finally:
            asking.cancel()
