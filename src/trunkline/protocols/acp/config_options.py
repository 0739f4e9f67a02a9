"""Writes our options as ACP's configuration options, and the mode for clients that know no options.

"Agents that provide mode-like configuration SHOULD send both"
(https://agentclientprotocol.com/protocol/v1/session-config-options).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from trunkline.options import Choice, ConfigOption


def options_to_wire(options: Iterable[ConfigOption], *, boolean: bool) -> list[dict[str, Any]]:
    """Give the complete list.

    "Agents MUST NOT include type: "boolean" options in configOptions" unless the client says that it can show
    them (https://agentclientprotocol.com/protocol/v1/session-config-options).
    """
    return [_option(option) for option in options if boolean or not option.is_switch]


def _option(option: ConfigOption) -> dict[str, Any]:
    made: dict[str, Any] = {
        "id": option.option_id,
        "name": option.name,
        "type": "boolean" if option.is_switch else "select",
        "currentValue": option.value,
        "category": option.category,
    }
    if option.description is not None:
        made["description"] = option.description
    if option.groups:
        made["options"] = [
            {"group": group.group, "name": group.name, "options": [_choice(c) for c in group.choices]}
            for group in option.groups
        ]
    elif not option.is_switch:
        made["options"] = [_choice(choice) for choice in option.choices]
    return made


def _choice(choice: Choice) -> dict[str, Any]:
    made = {"value": choice.value, "name": choice.name}
    return made if choice.description is None else {**made, "description": choice.description}


def mode_option(options: Iterable[ConfigOption]) -> ConfigOption | None:
    """The option that is the mode, if there is one."""
    return next((o for o in options if o.category == "mode" and not o.is_switch), None)


def modes_to_wire(options: Iterable[ConfigOption]) -> dict[str, Any] | None:
    """Give the mode as older clients know it."""
    mode = mode_option(options)
    if mode is None:
        return None
    available: list[dict[str, Any]] = []
    for choice in mode.all_choices():
        made = {"id": choice.value, "name": choice.name}
        available.append(made if choice.description is None else {**made, "description": choice.description})
    return {"currentModeId": mode.value, "availableModes": available}
