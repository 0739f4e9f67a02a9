"""ACP agents as agents: ``acp:COMMAND ARGS``. The names are imported when they are first used.

* ``connection``: one agent process with a JSON-RPC connection: start, handshake, requests, end
* ``errors``: why an agent process cannot be used
* ``initialize``: what we say of ourselves in the handshake, and the card made of the agent's answer
* ``registry``: the agents of the public registry, and the commands that start them
* ``routes``: which session an update, a notification or a request of the agent belongs to
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from trunkline._lazy import lazy_names

if TYPE_CHECKING:
    from trunkline.agents.acp.errors import AgentCommandNotFound, HandshakeFailed

__all__ = ["AgentCommandNotFound", "HandshakeFailed"]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "AgentCommandNotFound": "trunkline.agents.acp.errors",
        "HandshakeFailed": "trunkline.agents.acp.errors",
    },
)
