"""ACP agents as agents: ``acp:COMMAND ARGS``. The names are imported when they are first used.

* ``agent``: the agent: its processes, its sessions, logins
* ``client``: ``AcpClient``, for a program that wants a client and nothing else
* ``connection``: one agent process with a JSON-RPC connection: start, handshake, requests, end, stderr
* ``errors``: why an agent did not start, and what its own errors mean
* ``held_updates``: updates that wait until it is decided whether a message is part of the turn
* ``idle_close``: ends the process of a session that nobody uses
* ``initialize``: what we say of ourselves in the handshake, and the card made of the agent's answer
* ``mcp_servers``: the client's MCP servers, as far as the agent can use them
* ``native_session``: one of our sessions at an agent: process, id and options; reopened in another process
* ``process_pool``: the processes of one agent: one for each session, or one for all; the spare one
* ``prompt_blocks``: a prompt as the blocks that the agent takes; pure
* ``refeed``: a conversation as text, for an agent that does not remember it; pure
* ``registry``: the agents of the public registry, and the commands that start them
* ``replayed_updates``: the updates of a replay, as many as are kept
* ``requests``: answers what an agent asks of its client: permissions, forms, files, terminals
* ``session_list``: the sessions that exist at an agent, for a list and for imports
* ``session_prompts``: the prompts of one session: sent, steered by messages for a running turn, cancelled
* ``session_routes``: which session an update, a notification or a request of the agent belongs to
* ``silent_agent``: notices an agent that says nothing in a turn, and one that is to be stopped for it
* ``splice``: raw lines between an editor and an agent, with a journal and a policy beside them
* ``turn_events``: where the agent's events go: into a turn, to the session, or into a turn that it begins
* ``update_delivery``: delivers updates to a function of a program, one after another
* ``wire_log``: the newest lines between us and an agent's process, both ways
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from trunkline._lazy import lazy_names

if TYPE_CHECKING:
    from trunkline.agents.acp.agent import AcpAgent
    from trunkline.agents.acp.client import AcpClient, PromptResult
    from trunkline.agents.acp.errors import AgentCommandNotFound, HandshakeFailed
    from trunkline.agents.acp.requests.permission_options import PermissionRequest

__all__ = [
    "AcpAgent",
    "AcpClient",
    "AgentCommandNotFound",
    "HandshakeFailed",
    "PermissionRequest",
    "PromptResult",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "AcpAgent": "trunkline.agents.acp.agent",
        "AcpClient": "trunkline.agents.acp.client",
        "AgentCommandNotFound": "trunkline.agents.acp.errors",
        "HandshakeFailed": "trunkline.agents.acp.errors",
        "PermissionRequest": "trunkline.agents.acp.requests.permission_options",
        "PromptResult": "trunkline.agents.acp.client",
    },
)
