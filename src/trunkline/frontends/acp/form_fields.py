"""The fields of a form: their types, defaults and choices, read from its schema."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple, cast

import msgspec

from trunkline.questions import Form


class Choice(NamedTuple):
    """One value that a field may have, and what a person calls it."""

    name: str
    value: Any

    @property
    def text(self) -> str:
        """The value as text."""
        return self.value if isinstance(self.value, str) else msgspec.json.encode(self.value).decode()


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
    """The default values of the fields that have one."""
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
    return Choice(str(name) if name else Choice("", value).text, value)


def _mapping(value: Any) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _sequence(value: Any) -> list[Any]:
    return list(cast("Iterable[Any]", value)) if isinstance(value, list | tuple) else []
