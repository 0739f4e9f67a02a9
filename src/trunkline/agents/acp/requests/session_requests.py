"""Answers what an ACP agent asks of its client, for one of its sessions.

Permissions and forms become questions of the session, files and terminals are the session's own: so one
policy, one memory of "always" answers and one journal hold for every agent and every front end.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from trunkline.agents.acp.requests.announcements import Announcements
from trunkline.agents.acp.requests.elicitation_requests import CANCEL, ElicitationRequests
from trunkline.agents.acp.requests.file_requests import FileRequests
from trunkline.agents.acp.requests.permission_options import CANCELLED
from trunkline.agents.acp.requests.permission_requests import Permission, PermissionRequests
from trunkline.agents.acp.requests.request_params import refusals
from trunkline.agents.acp.requests.request_turn import RequestTurn
from trunkline.agents.acp.requests.terminal_requests import TerminalRequests
from trunkline.errors import TurnCancelled
from trunkline.protocols.acp.decoder import AcpDecoder
from trunkline.protocols.jsonrpc.messages import METHOD_NOT_FOUND, RpcError
from trunkline.session.context import TurnContext
from trunkline.session.view import SessionView

_CANCELLED = {"session/request_permission": CANCELLED, "elicitation/create": CANCEL}
"""The answers to questions whose turn was cancelled, or is over."""


class AgentRequests:
    """Answers the requests of one session at an agent.

    ``turn`` is set before each turn and None after it. Events are emitted by ``turn.emit`` as they come, so
    whoever feeds the decoder must emit in the same way: else a question would come before its call.
    """

    def __init__(self, view: SessionView, decoder: AcpDecoder, *, permission: Permission = "ask") -> None:
        """Answer for a session; ``permission`` is what answers where the policy leaves it open."""
        self._scope = RequestTurn(view)
        self._announcements = Announcements(decoder)
        self._permissions = permissions = PermissionRequests(self._scope, decoder, permission)
        files = FileRequests(self._scope)
        self._terminals = terminals = TerminalRequests(self._scope, decoder)
        self._elicitations = ElicitationRequests(self._scope, decoder)
        self._methods: dict[str, Callable[[Any], Awaitable[dict[str, Any]]]] = {
            "session/request_permission": permissions.answer,
            "fs/read_text_file": files.read,
            "fs/write_text_file": files.write,
            "terminal/create": terminals.create,
            "terminal/output": terminals.output,
            "terminal/wait_for_exit": terminals.wait_for_exit,
            "terminal/kill": terminals.kill,
            "terminal/release": terminals.release,
            "elicitation/create": self._elicitations.answer,
        }
        # Its code is not ours, and it may forget to ask.
        view.asks_before_access = True

    @property
    def turn(self) -> TurnContext | None:
        """The turn that questions are asked in; None between turns."""
        return self._scope.turn

    @turn.setter
    def turn(self, turn: TurnContext | None) -> None:
        self._scope.turn = turn

    @property
    def has_running_command(self) -> bool:
        """Whether a command runs that the agent started."""
        return self._terminals.has_running_command

    async def handle(self, method: str, params: Any) -> Any:
        """Give the result of a request; raises RpcError."""
        answer = self._methods.get(method)
        if answer is None:
            raise RpcError(METHOD_NOT_FOUND, f"method not found: {method}")
        if not await self._can_be_asked(method, params):
            return _CANCELLED[method]
        with refusals(), self._scope.current():
            return await answer(params)

    async def _can_be_asked(self, method: str, params: Any) -> bool:
        """Let a question wait for its call; False if its turn was cancelled, or ended, meanwhile."""
        turn, call_id = self.turn, self._announcements.missing(method, params)
        if turn is None or call_id is None or self._scope.cancelled:
            return True
        try:
            await self._scope.until_cancelled(self._announcements.wait(call_id))
        except TurnCancelled:
            return False
        return self.turn is turn

    def take_update(self, update: Mapping[str, Any]) -> None:
        """Look at an update that the decoder has taken: a question waits for it, or the policy denies it."""
        self._announcements.heard()
        self._permissions.take_update(update)

    def handle_notification(self, method: str, params: Any) -> None:
        """Take a notification of the agent's; only ``elicitation/complete`` means something here."""
        if method == "elicitation/complete":
            self._elicitations.complete(params)

    def cancel_turn(self) -> None:
        """Answer the open permissions and questions of this turn, and those to come, with "cancelled"."""
        self._scope.cancel()

    async def close(self) -> None:
        """Withdraw what is open, and release every terminal."""
        self._scope.turn = None
        await self._terminals.close()
