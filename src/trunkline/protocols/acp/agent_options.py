"""Reads the options of a session at an agent, as one list: configuration options, modes and older models.

"Agents that provide mode-like configuration SHOULD send both"
(https://agentclientprotocol.com/protocol/v1/session-config-options), and some agents know only modes, or
``models`` and ``session/set_model`` of an earlier draft. Here a mode is an option of the category mode and a
model one of the category model; ``request_to_set`` knows by which request each of them is set.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from trunkline.options import Choice, ChoiceGroup, ConfigOption
from trunkline.protocols.acp import wire
from trunkline.protocols.acp.fields import as_list, as_object, text_in
from trunkline.protocols.acp.lossless import decode

_MODE = "mode"
_MODEL = "model"


class AgentOptions:
    """What an agent said about its options, put together."""

    def __init__(self) -> None:
        """Know of none."""
        self._given: tuple[ConfigOption, ...] = ()
        self._mode: ConfigOption | None = None
        self._model: ConfigOption | None = None

    def all(self) -> tuple[ConfigOption, ...]:
        """Give the complete list; what the agent lists as an option needs no second one."""
        listed = list(self._given)
        for legacy in (self._mode, self._model):
            if legacy is not None and all(option.category != legacy.category for option in listed):
                taken = {option.option_id for option in listed}
                free = legacy.option_id if legacy.option_id not in taken else f"session_{legacy.option_id}"
                listed.append(msgspec.structs.replace(legacy, option_id=free))
        return tuple(listed)

    def take_result(self, result: Mapping[str, Any]) -> bool:
        """Take the answer of session/new, load, resume, fork or set_config_option.

        Gives False if a part of it cannot be read; the rest of it counts.
        """
        readable = True
        modes, models = result.get("modes"), result.get("models")
        if modes is not None:
            mode = _legacy(modes, _MODE, "Mode", "currentModeId", "availableModes", "id")
            self._mode, readable = mode or self._mode, mode is not None
        if models is not None:
            model = _legacy(models, _MODEL, "Model", "currentModelId", "availableModels", "modelId")
            self._model, readable = model or self._model, readable and model is not None
        if result.get("configOptions") is not None:
            readable = self.take_list(result["configOptions"]) and readable
        return readable

    def take_list(self, config_options: Any) -> bool:
        """Take the complete list of configuration options; False if a part of it cannot be read."""
        if not isinstance(config_options, list):
            return False
        items = as_list(config_options)
        read = [option for item in items if (option := _option(item)) is not None]
        self._given = tuple({option.option_id: option for option in reversed(read)}.values())[::-1]
        return len(self._given) == len(items)

    def take_mode(self, mode_id: str) -> None:
        """Take the mode that the agent is in now."""
        known = next((o for o in self.all() if o.category == _MODE and not o.is_switch), None)
        if known is None:
            self._mode = ConfigOption(option_id=_MODE, name="Mode", category=_MODE, value=mode_id)
        else:
            self.set(known.option_id, mode_id)

    def set(self, option_id: str, value: str | bool) -> None:
        """Take a value that was set; an option that is not known stays unknown."""
        option = next((option for option in self.all() if option.option_id == option_id), None)
        if option is None or option.is_switch != isinstance(value, bool):
            return
        if any(given.option_id == option_id for given in self._given):
            self._given = tuple(_with_value(o, value) if o.option_id == option_id else o for o in self._given)
        elif option.category == _MODE and self._mode is not None:
            self._mode = _with_value(self._mode, value)
        elif self._model is not None:
            self._model = _with_value(self._model, value)

    def request_to_set(self, option_id: str, value: str | bool) -> tuple[str, dict[str, Any]]:
        """Give the method, and the params without the session, that set an option; KeyError if unknown."""
        option = next((option for option in self.all() if option.option_id == option_id), None)
        if option is None:
            raise KeyError(option_id)
        if any(given.option_id == option_id for given in self._given):
            params: dict[str, Any] = {"configId": option_id, "value": value}
            return "session/set_config_option", params | ({"type": "boolean"} if option.is_switch else {})
        if option.category == _MODE:
            return "session/set_mode", {"modeId": value}
        return "session/set_model", {"modelId": value}


def _with_value(option: ConfigOption, value: str | bool) -> ConfigOption:
    return msgspec.structs.replace(option, value=value)


def _legacy(given: Any, option_id: Any, name: str, current: str, available: str, key: str) -> Any:
    """Read a state of modes or models; None if it cannot be read."""
    state = as_object(given)
    value = text_in(state, current)
    choices = [
        Choice(
            value=identity, name=text_in(item, "name") or identity, description=text_in(item, "description")
        )
        for item in map(as_object, as_list(state.get(available)))
        if (identity := text_in(item, key)) is not None
    ]
    if value is None and not choices:
        return None
    return ConfigOption(
        option_id=option_id,
        name=name,
        category=option_id,
        value=choices[0].value if value is None else value,
        choices=tuple(choices),
    )


def _option(item: Any) -> ConfigOption | None:
    """Read a configuration option; None if it is of a type that cannot be shown."""
    try:
        read = decode(wire.SessionConfigOption, item)
    except msgspec.ValidationError:
        return None
    if not isinstance(read, wire.SessionConfigSelect | wire.SessionConfigBoolean):
        return None
    choices: tuple[Choice, ...] = ()
    groups: list[ChoiceGroup] = []
    for entry in read.options if isinstance(read, wire.SessionConfigSelect) else ():
        if entry.group is not None or entry.options is not None:
            inside = tuple(_choice(choice) for choice in entry.options or ())
            groups.append(ChoiceGroup(group=entry.group or entry.name, name=entry.name, choices=inside))
        elif entry.value is not None:
            choices += (Choice(value=entry.value, name=entry.name, description=entry.description),)
    if groups and choices:
        # Ours has groups or choices, never both.
        groups.append(ChoiceGroup(group="other", name="Other", choices=choices))
        choices = ()
    category: Any = read.category or "other"
    return ConfigOption(
        option_id=read.id,
        name=read.name,
        value=read.current_value,
        description=read.description,
        category=category,
        choices=choices,
        groups=tuple(groups),
    )


def _choice(choice: wire.SessionConfigSelectOption) -> Choice:
    return Choice(value=choice.value, name=choice.name, description=choice.description)
