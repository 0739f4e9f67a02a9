"""The answer to ``initialize``, made of an agent's card.

It needs the card only, as plain values, and imports nothing else: an editor starts us for every
session and waits for this answer.
"""

from __future__ import annotations

from typing import Any, cast

PROTOCOL_VERSION = 1


def initialize_result(
    card: dict[str, Any], client: dict[str, Any], *, by_command: bool = False
) -> dict[str, Any]:
    """Answer ``initialize``: version 1, what the trunk guarantees, and what the card says.

    ``client`` are the client's capabilities: a login in a terminal is offered only to those who can.
    ``by_command`` is whether the client runs ``trunkline acp TARGET``: that takes ``--login METHOD`` then.
    """
    prompt = card.get("prompt", {})
    servers = card.get("mcp", {})
    methods = card.get("auth_methods", ())
    capabilities: dict[str, Any] = {
        "loadSession": True,
        "promptCapabilities": {
            "image": bool(prompt.get("image", False)),
            "audio": bool(prompt.get("audio", False)),
            "embeddedContext": bool(prompt.get("embedded_context", True)),
        },
        "mcpCapabilities": {"http": bool(servers.get("http")), "sse": bool(servers.get("sse"))},
        "sessionCapabilities": {
            name: {} for name in ("additionalDirectories", "close", "delete", "fork", "list", "resume")
        },
    }
    if methods:
        capabilities["auth"] = {"logout": {}}
    # "If the Agent supports the requested version, it MUST respond with the same version. Otherwise, the
    # Agent MUST respond with the latest version it supports."
    # (https://agentclientprotocol.com/protocol/v1/initialization#version-negotiation)
    return {
        "protocolVersion": PROTOCOL_VERSION,
        "agentCapabilities": capabilities,
        "authMethods": [_method(m, by_command) for m in methods if _usable(m, client)],
        "agentInfo": {
            "name": card.get("name", "agent"),
            "title": card.get("title") or card.get("name", "agent"),
            "version": card.get("version", "0"),
        },
        # An extension of claude-agent-acp and codex-acp: ``_session/steering`` (see steering.py).
        "_meta": {"steering": {"supported": True}},
    }


def _usable(method: dict[str, Any], client: dict[str, Any]) -> bool:
    if method.get("kind", "agent") != "terminal":
        return True
    auth: Any = client.get("auth")
    return isinstance(auth, dict) and cast("dict[str, Any]", auth).get("terminal") is True


def _method(method: dict[str, Any], by_command: bool) -> dict[str, Any]:
    made: dict[str, Any] = {"id": method["method_id"], "name": method["name"]}
    about = [str(method["description"])] if method.get("description") else []
    if variables := method.get("variables"):
        # ACP v1 has no such way of its own, so that a person reads what to do.
        about.append(f"Set {', '.join(variables)} in the environment of the agent, and start it again.")
    if about:
        made["description"] = " ".join(about)
    if method.get("kind", "agent") == "terminal":
        # "Additional arguments to append to the configured agent invocation for terminal auth."
        # (https://agentclientprotocol.com/protocol/v1/schema#authmethodterminal)
        made["type"] = "terminal"
        made["args"] = ["--login", method["method_id"]] if by_command else method.get("args", [])
        made["env"] = {} if by_command else method.get("env", {})
    return made
