"""Answers what an ACP agent asks of its client, for one of its sessions.

Permissions and forms become questions of the session, files and terminals are the session's own: so one
policy, one memory of "always" answers and one journal hold for every agent and every front end.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from trunkline.agents.acp.elicitation_requests import ElicitationRequests
from trunkline.agents.acp.file_requests import FileRequests
from trunkline.agents.acp.permission_requests import CallDecoder, Permission, PermissionRequests
from trunkline.agents.acp.request_params import refusals
from trunkline.agents.acp.request_turn import RequestTurn
from trunkline.agents.acp.terminal_requests import TerminalRequests
from trunkline.protocols.jsonrpc.messages import METHOD_NOT_FOUND, RpcError
from trunkline.session.context import TurnContext
from trunkline.session.view import SessionView


class AgentRequests:
    """Answers the requests of one session at an agent.

    ``turn`` is set before each turn and None after it. Events are emitted by ``turn.emit`` as they come, so
    whoever feeds the decoder must emit in the same way: else a question would come before its call.
    """

    def __init__(self, view: SessionView, decoder: CallDecoder, *, permission: Permission = "ask") -> None:
        """Answer for a session; ``permission`` is what answers where the policy leaves it open."""
        self._scope = RequestTurn(view)
        permissions = PermissionRequests(self._scope, decoder, permission)
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

    async def handle(self, method: str, params: Any) -> Any:
        """Give the result of a request; raises RpcError."""
        answer = self._methods.get(method)
        if answer is None:
            raise RpcError(METHOD_NOT_FOUND, f"method not found: {method}")
        with refusals(), self._scope.current():
            return await answer(params)

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
