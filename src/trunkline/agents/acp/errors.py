"""Why the process of an ACP agent cannot be used."""

from __future__ import annotations

import os

from trunkline.errors import AgentError


class AgentCommandNotFound(AgentError):
    """The command of the agent is not on this machine."""

    fault = "user"
    code = "agent_not_found"

    def __init__(self, command: str, path: str | None = None) -> None:
        """Name the command, and where it was looked for."""
        looked = os.environ.get("PATH", os.defpath) if path is None else path
        where = "" if os.sep in command else f"; looked in PATH={looked}"
        super().__init__(f"Agent command not found: {command}{where}. Install it, or give its whole path.")
        self.command = command


class HandshakeFailed(AgentError):
    """The process started, but did not become an ACP agent that we can talk to."""

    code = "agent_handshake"
