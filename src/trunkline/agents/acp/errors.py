"""Why an ACP agent did not start, and what its own errors mean.

How a process ended is said by ``AgentConnection.exit``.
"""

from __future__ import annotations

import json
import os
import re

from trunkline.agents.interface import AgentCard, AuthMethod
from trunkline.errors import AgentError, AuthenticationRequired
from trunkline.protocols.jsonrpc.messages import AUTH_REQUIRED, RpcError

_DATA_SHOWN = 1000
_VARIABLE = re.compile(r"[A-Za-z_]\w*=")


class AgentCommandNotFound(AgentError):
    """The command of the agent is not on this machine."""

    fault = "user"
    code = "agent_not_found"

    def __init__(self, command: str, path: str | None = None) -> None:
        """Name the command, and where it was looked for."""
        looked = os.environ.get("PATH", os.defpath) if path is None else path
        where = "" if os.sep in command else f"; looked in PATH={looked}"
        super().__init__(f"Agent command not found: {command}{where}. {_next_step(command)}")
        self.command = command


def _next_step(command: str) -> str:
    """What to do about a command that is not there; no shell reads it, as some expect."""
    if command.startswith("~"):
        return "No shell replaces ~ here: give its whole path."
    if _VARIABLE.match(command):
        return f"No shell sets variables here: write env {command} COMMAND."
    return "Install it, or give its whole path."


class HandshakeFailed(AgentError):
    """The process started, but did not become an ACP agent that we can talk to."""

    code = "agent_handshake"


_LOST = re.compile(
    r"session\b.*\bnot found|resource not found|unknown session|process\b.*\b(exited|terminated)"
    r"|session did not end in result",
    re.IGNORECASE,
)
"""How agents say that a session is gone in their process: Claude Code runs each in a process below its own,
and when that has ended, every later prompt fails in one of these ways."""


def says_that_session_is_lost(error: RpcError) -> bool:
    """Whether an agent's error to a prompt means that the session must be opened again."""
    return error.rpc_code != AUTH_REQUIRED and _LOST.search(str(error)) is not None


def translate_error(error: RpcError, what: str, card: AgentCard) -> AgentError:
    """Say what an agent's error means: its text with the cause in ``data``, or which logins there are."""
    if error.rpc_code == AUTH_REQUIRED:
        ways = ", ".join(map(_way, card.auth_methods))
        offers = f"; it offers: {ways}" if ways else ""
        return AuthenticationRequired(f"{card.name} wants a login first ({error}){offers}")
    return AgentError(f"{card.name} failed in {what}: {_full_text(error)} (code {error.rpc_code})")


def _way(method: AuthMethod) -> str:
    if method.kind == "env_var" and method.variables:
        return f"{method.name} (set {', '.join(method.variables)})"
    return f"{method.name} (in a terminal)" if method.kind == "terminal" else method.name


def _full_text(error: RpcError) -> str:
    """Give an error with all of its data: many agents say the real cause only there."""
    text = str(error)
    match error.data:
        case None | str() | {"details": str()} | {"message": str()}:
            return text  # It has the cause already.
        case {"errorKind": "unknown"} if len(error.data) == 1:
            return text  # Claude's way to say that it knows no more.
        case data:
            return f"{text}: {json.dumps(data, ensure_ascii=False, default=str)[:_DATA_SHOWN]}"
