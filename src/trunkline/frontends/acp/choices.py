"""Choices: a form that comes down to one choice, as the buttons of a permission.

Every ACP client can show a permission; few can show a form. A form that wants one thing out of a few
is asked as a permission, whose options are what may be chosen.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple, cast

import msgspec

from trunkline import events as ev
from trunkline.questions import Form

__all__ = [
    "Button",
    "Choice",
    "buttons_for",
    "card_for",
    "choices_of",
    "defaults_of",
    "fields_of",
    "required_of",
    "type_of",
]

_MOST = 9


class Choice(NamedTuple):
    """One value that a field may have, and what a person calls it."""

    name: str
    value: Any

    @property
    def word(self) -> str:
        """The value as text."""
        return self.value if isinstance(self.value, str) else msgspec.json.encode(self.value).decode()


class Button(NamedTuple):
    """One way to answer a form: what the button says, and the content that pressing it means."""

    option_id: str
    name: str
    content: dict[str, Any]


def buttons_for(form: Form) -> list[Button]:
    """Give the buttons that a form comes down to; none when it wants more than one choice.

    Fields that may be left out are left to their defaults. A form without fields wants a yes only.
    """
    fields, required = fields_of(form), required_of(form)
    if not fields:
        return [Button("ok", "OK", {})]
    name = required[0] if len(required) == 1 else next(iter(fields))
    if len(fields) > 1 and len(required) != 1:
        return []
    choices = choices_of(fields[name])
    if len(choices) > _MOST or len({choice.word for choice in choices}) < len(choices):
        return []
    others = {other: value for other, value in defaults_of(fields).items() if other != name}
    return [Button(choice.word, choice.name, {name: choice.value, **others}) for choice in choices]


def card_for(asked: ev.Asked) -> ev.ToolCall:
    """Give the call to show for a question that belongs to none: a permission is always about a call."""
    first, newline, _ = asked.question.message.strip().partition("\n")
    title = f"{first}{'…' if newline else ''}" or "The agent asks"
    return ev.ToolCall(
        turn_id=asked.turn_id,
        lane=asked.lane,
        call_id=f"{asked.question_id}.choice",
        name="question",
        title=title,
        kind="other",
    )


# -- reading a form's schema -------------------------------------------------------------------------


def fields_of(form: Form) -> dict[str, dict[str, Any]]:
    """The fields of a form by name; what is no schema is a field without a type."""
    given = _mapping(form.fields.get("properties"))
    return {name: _mapping(field) for name, field in given.items()}


def required_of(form: Form) -> list[str]:
    """The names of the fields that must be filled in."""
    given, fields = form.fields.get("required"), fields_of(form)
    return [str(name) for name in _sequence(given) if name in fields]


def type_of(field: dict[str, Any]) -> str:
    """The type of a field; one that may be null as well is what it is otherwise."""
    kind = field.get("type")
    kinds = _sequence(kind) or [kind]
    return str(next((one for one in kinds if one not in (None, "null")), "string"))


def defaults_of(fields: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """What the fields hold that nobody touches."""
    return {name: field["default"] for name, field in fields.items() if field.get("default") is not None}


def choices_of(field: dict[str, Any]) -> list[Choice]:
    """What a field may be chosen from; nothing when it is not a choice."""
    if type_of(field) == "boolean":
        return [Choice("Yes", True), Choice("No", False)]
    for key in ("oneOf", "anyOf"):
        titled = [_mapping(one) for one in _sequence(field.get(key))]
        if titled and all("const" in one for one in titled):
            return [_choice(one["const"], one.get("title")) for one in titled]
    if "const" in field:
        return [_choice(field["const"])]
    values, names = _sequence(field.get("enum")), _sequence(field.get("enumNames"))
    named = names if len(names) == len(values) else [None] * len(values)
    return [_choice(value, name) for value, name in zip(values, named, strict=True)]


def _choice(value: Any, name: Any = None) -> Choice:
    return Choice(str(name) if name else Choice("", value).word, value)


def _mapping(value: Any) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _sequence(value: Any) -> list[Any]:
    return list(cast("Iterable[Any]", value)) if isinstance(value, list | tuple) else []
