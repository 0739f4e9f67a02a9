"""What a session is: the first message of every connection, its options and its commands."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from trunkline import events as ev
from trunkline.options import ConfigOption
from trunkline.protocols.acp.config_options import options_to_wire
from trunkline.protocols.unified.wire import UnifiedMessage, derived_id

__all__ = ["capabilities_metadata", "commands_metadata", "config_metadata", "session_init"]


def config_metadata(options: Iterable[ConfigOption]) -> dict[str, Any]:
    """Give the options; the mode and the model also by the names that pages look for."""
    listed = tuple(options)
    about: dict[str, Any] = {"configOptions": options_to_wire(listed, boolean=True)}
    mode = next((option.value for option in listed if option.category == "mode"), None)
    if mode is not None:
        about |= {"modeId": mode, "currentModeId": mode}
    model = next((option.value for option in listed if option.category == "model"), None)
    return about if model is None else about | {"model": model}


def commands_metadata(commands: Iterable[ev.CommandInfo]) -> dict[str, Any]:
    """Give the slash commands in the shape of ACP."""
    listed: list[dict[str, Any]] = []
    for command in commands:
        hint = {} if command.hint is None else {"input": {"hint": command.hint}}
        listed.append({"name": command.name, "description": command.description, **hint})
    return {"availableCommands": listed}


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
