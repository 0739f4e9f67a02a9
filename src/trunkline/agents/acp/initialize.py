"""The handshake: what we say of ourselves, and the card that is made of the agent's answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from trunkline._version import __version__
from trunkline.agents.interface import AgentCard, AuthMethod, McpCapabilities, PromptCapabilities

PROTOCOL_VERSION = 1

Json = dict[str, Any]


def initialize_params(*, fs: bool = True, meta: Mapping[str, Any] | None = None) -> Json:
    """Give the params of ``initialize``; ``fs`` says whether the agent shall use our files.

    ``meta`` is what some agents look for in the metadata of a client's capabilities.

    Forms are always offered: several agents have no question tool without them.
    (https://agentclientprotocol.com/protocol/v1/initialization#client-capabilities)
    """
    return {
        "protocolVersion": PROTOCOL_VERSION,
        "clientInfo": {"name": "trunkline", "title": "Trunkline", "version": __version__},
        "clientCapabilities": {
            "fs": {"readTextFile": fs, "writeTextFile": fs},
            "terminal": True,
            "session": {"compaction": {}, "configOptions": {"boolean": {}}, "notices": {}},
            "plan": {},
            "auth": {"terminal": True},
            "elicitation": {"form": {}, "url": {}},
            **({"_meta": dict(meta)} if meta else {}),
        },
    }


def capability(initialize: Mapping[str, Any], *path: str) -> bool:
    """Whether the agent offers something: true, or an object, at this path of its capabilities."""
    found: Any = initialize.get("agentCapabilities")
    for name in path:
        found = cast("Json", found).get(name) if isinstance(found, dict) else None
    return found is True or isinstance(found, dict)


def card_of(initialize: Mapping[str, Any], fallback: str) -> AgentCard:
    """Make a card of an agent's answer to ``initialize``; ``fallback`` names an agent that does not."""
    info = _object(initialize.get("agentInfo"))
    methods = initialize.get("authMethods")
    return AgentCard(
        name=_text(info.get("name")) or fallback,
        title=_text(info.get("title")) or _text(info.get("name")) or fallback,
        version=_text(info.get("version")) or "0",
        prompt=PromptCapabilities(
            image=capability(initialize, "promptCapabilities", "image"),
            audio=capability(initialize, "promptCapabilities", "audio"),
            # What the agent cannot take embedded is sent as text or as a link.
            embedded_context=True,
        ),
        mcp=McpCapabilities(
            http=capability(initialize, "mcpCapabilities", "http"),
            sse=capability(initialize, "mcpCapabilities", "sse"),
        ),
        auth_methods=tuple(
            _auth_method(_object(method))
            for method in (cast("list[Any]", methods) if isinstance(methods, list) else ())
            if _text(_object(method).get("id"))
        ),
        foreign_words=True,
    )


def _auth_method(method: Json) -> AuthMethod:
    # Before the specification had types, agents named them in their own metadata.
    kind = method.get("type") or _object(method.get("_meta")).get("type")
    args, env = method.get("args"), method.get("env")
    return AuthMethod(
        method_id=str(method["id"]),
        name=_text(method.get("name")) or str(method["id"]),
        description=_text(method.get("description")),
        kind=kind if kind in ("terminal", "env_var") else "agent",
        args=tuple(map(str, cast("list[Any]", args))) if isinstance(args, list) else (),
        env={str(name): str(value) for name, value in _object(env).items()},
        variables=_variables(method),
    )


def _variables(method: Json) -> tuple[str, ...]:
    """The names of the variables of a login by environment: a list of names or objects, or one name."""
    listed = method.get("vars") or method.get("variables")
    found: list[Any] = cast("list[Any]", listed) if isinstance(listed, list) else []
    names = [*(_object(one).get("name") or one for one in found), method.get("varName")]
    return tuple(name for name in names if isinstance(name, str) and name)


def _object(value: Any) -> Json:
    return cast("Json", value) if isinstance(value, dict) else {}


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None
