"""Configuration options of a session: selects (flat or grouped) and switches. A mode is one of them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

import msgspec

from trunkline.errors import InvalidCommand
from trunkline.open_words import OpenWord

__all__ = ["Choice", "ChoiceGroup", "ConfigOption", "choose"]


class Choice(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag=False):
    """One value of a select."""

    value: str
    name: str
    description: str | None = None


class ChoiceGroup(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Choices under one heading."""

    group: str
    name: str
    choices: tuple[Choice, ...]


class ConfigOption(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One thing a person can set, with its present value.

    A select has ``choices`` or ``groups``, never both; a switch (``value`` is a bool) has neither.
    """

    option_id: str
    name: str
    value: str | bool
    description: str | None = None
    category: OpenWord[Literal["mode", "model", "model_config", "thought_level", "other"]] = "other"
    choices: tuple[Choice, ...] = ()
    groups: tuple[ChoiceGroup, ...] = ()

    def __post_init__(self) -> None:
        """Refuse an option that no client could show; a present value outside the choices becomes one."""
        if self.choices and self.groups:
            raise ValueError(f"option {self.option_id!r} has both choices and groups: keep one")
        if self.is_switch:
            if self.choices or self.groups:
                raise ValueError(f"option {self.option_id!r} is a switch and cannot have choices")
        elif self.value not in self.values():
            # Agents report a current model that is not in their list of models: it is a choice all the same.
            current = (Choice(value=str(self.value), name=str(self.value)),)
            if self.groups:
                group = ChoiceGroup(group="current", name="Current", choices=current)
                msgspec.structs.force_setattr(self, "groups", (*self.groups, group))
            else:
                msgspec.structs.force_setattr(self, "choices", self.choices + current)

    @property
    def is_switch(self) -> bool:
        """Whether the option is on or off."""
        return isinstance(self.value, bool)

    def all_choices(self) -> tuple[Choice, ...]:
        """Every choice, groups flattened."""
        return self.choices + tuple(c for group in self.groups for c in group.choices)

    def values(self) -> tuple[str, ...]:
        """The legal values of a select."""
        return tuple(choice.value for choice in self.all_choices())


def choose(options: Iterable[ConfigOption], option_id: str, value: str | bool) -> tuple[ConfigOption, ...]:
    """Give the complete list with one value changed; an illegal value is the peer's fault."""
    listed = tuple(options)
    wanted = next((option for option in listed if option.option_id == option_id), None)
    if wanted is None:
        known = ", ".join(option.option_id for option in listed) or "none"
        raise InvalidCommand(f"there is no option {option_id!r}; known options: {known}")
    if wanted.is_switch != isinstance(value, bool):
        kind = "true or false" if wanted.is_switch else "one of " + ", ".join(wanted.values())
        raise InvalidCommand(f"option {option_id!r} takes {kind}, not {value!r}")
    if not wanted.is_switch and value not in wanted.values():
        raise InvalidCommand(
            f"option {option_id!r} has no value {value!r}; choose one of {', '.join(wanted.values())}"
        )
    changed = msgspec.structs.replace(wanted, value=value)
    return tuple(changed if option is wanted else option for option in listed)
