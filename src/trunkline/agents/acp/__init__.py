"""ACP agents as agents: ``acp:COMMAND ARGS``. The names are imported when they are first used.

* ``client``: ``AcpClient``, for a program that wants a client and nothing else
* ``client_requests``: answers what an agent asks of an ``AcpClient``
* ``connection``: one agent process with a JSON-RPC connection: start, handshake, requests, end
* ``elicitation_requests``: answers ``elicitation/create`` by questions of the session
* ``errors``: why an agent process cannot be used
* ``file_requests``: answers ``fs/*`` by the session's files
* ``initialize``: what we say of ourselves in the handshake, and the card made of the agent's answer
* ``permission_options``: which of the agent's options an answer stands for; pure
* ``permission_requests``: answers ``session/request_permission``: the policy, an earlier answer, a person
* ``registry``: the agents of the public registry, and the commands that start them
* ``request_params``: reads the params of the agent's requests, and gives our errors the codes of ACP
* ``request_turn``: the turn that the agent's requests belong to
* ``requests``: answers what an agent asks of its client, for one session
* ``routes``: which session an update, a notification or a request of the agent belongs to
* ``terminal_requests``: answers ``terminal/*`` by the session's terminals
* ``update_delivery``: delivers updates to a function of a program, one after another
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from trunkline._lazy import lazy_names

if TYPE_CHECKING:
    from trunkline.agents.acp.client import AcpClient, PromptResult
    from trunkline.agents.acp.errors import AgentCommandNotFound, HandshakeFailed
    from trunkline.agents.acp.permission_options import PermissionRequest

__all__ = ["AcpClient", "AgentCommandNotFound", "HandshakeFailed", "PermissionRequest", "PromptResult"]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "AcpClient": "trunkline.agents.acp.client",
        "AgentCommandNotFound": "trunkline.agents.acp.errors",
        "HandshakeFailed": "trunkline.agents.acp.errors",
        "PermissionRequest": "trunkline.agents.acp.permission_options",
        "PromptResult": "trunkline.agents.acp.client",
    },
)
