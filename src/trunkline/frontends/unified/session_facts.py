"""The options and the commands of a session, as metadata."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from trunkline import events as ev
from trunkline.options import ConfigOption
from trunkline.protocols.acp.config_options import options_to_wire

__all__ = ["commands_metadata", "config_metadata"]


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
