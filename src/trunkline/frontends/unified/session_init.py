"""What a client is told of a session and its agent: the first message, and the answer to initialize."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from trunkline import events as ev
from trunkline.agents.interface import AgentCard
from trunkline.frontends.unified.session_facts import commands_metadata, config_metadata
from trunkline.options import ConfigOption
from trunkline.protocols.unified.wire import UnifiedMessage, derived_id

__all__ = ["capabilities_metadata", "card_metadata", "session_init"]


def card_metadata(card: AgentCard) -> dict[str, Any]:
    """Give what an agent says of itself, in the shape of the answer to ACP's initialize."""
    prompt = card.prompt
    about: dict[str, Any] = {
        "protocolVersion": 1,
        "agentInfo": {"name": card.name, "title": card.title or card.name, "version": card.version},
        "agentName": card.name,
        "agentVersion": card.version,
        "agentCapabilities": {
            "loadSession": True,
            "promptCapabilities": {
                "image": prompt.image,
                "audio": prompt.audio,
                "embeddedContext": prompt.embedded_context,
            },
        },
    }
    if card.auth_methods:
        about["authMethods"] = [
            {"id": one.method_id, "name": one.name, "description": one.description}
            for one in card.auth_methods
        ]
    return about


def capabilities_metadata(
    options: Iterable[ConfigOption], commands: Iterable[ev.CommandInfo]
) -> dict[str, Any]:
    """Give what the answer to an initialize request lists: commands and models, as Claude's does."""
    model = next((option for option in options if option.category == "model"), None)
    choices = () if model is None else model.all_choices()
    return {
        "commands": [
            {"name": one.name, "description": one.description, "argumentHint": one.hint or ""}
            for one in commands
        ],
        "models": [
            {"value": one.value, "displayName": one.name, "description": one.description or ""}
            for one in choices
        ],
    }


def session_init(
    session_id: str,
    *,
    at: float,
    agent: Mapping[str, Any],
    options: Iterable[ConfigOption] = (),
    commands: Iterable[ev.CommandInfo] = (),
    **metadata: Any,
) -> UnifiedMessage:
    """Give the first message of a connection; ``agent`` is what is known of the agent."""
    about = {
        "session_id": session_id,
        "sessionId": session_id,
        **agent,
        **config_metadata(options),
        **commands_metadata(commands),
        **metadata,
    }
    return UnifiedMessage(
        id=derived_id(session_id, "session_init"),
        timestamp=int(at * 1000),
        type="session_init",
        role="system",
        metadata=about,
    )
