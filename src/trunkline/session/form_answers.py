"""Checks a filled-in form against its schema, so that an agent gets what it asked for.

The checks are those of the flat schemas that ACP and MCP have for forms
(https://agentclientprotocol.com/protocol/v1/elicitation). A ``pattern`` is left to the agent: it is a regular
expression of the agent's, and one can be made that takes for ever.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable, Iterator
from typing import Any, cast
from urllib.parse import urlsplit

from trunkline.errors import InvalidCommand
from trunkline.questions import Form

_TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "boolean": (bool,),
    "integer": (int,),
    "number": (int, float),
    "array": (list, tuple),
    "object": (dict,),
}
_EMAIL = re.compile(r"[^@\s]+@[^@\s]+")


def check_form_answer(form: Form, content: Any) -> None:
    """Refuse content that does not fit a form, and name the field and what it must be."""
    if not isinstance(content, dict):
        raise InvalidCommand("a form is accepted with its fields as an object")
    given = cast("dict[str, Any]", content)
    fields = cast("dict[str, dict[str, Any]]", form.fields.get("properties", {}))
    for name in cast("list[str]", form.fields.get("required", [])):
        if name not in given:
            raise InvalidCommand(f"the form's field {name!r} is missing")
    for name, value in given.items():
        field = fields.get(name)
        if field is None:
            raise InvalidCommand(f"the form has no field {name!r}; its fields are {', '.join(fields)}")
        if not form.is_free and (wanted := next(_faults(field, value), None)) is not None:
            raise InvalidCommand(f"the form's field {name!r} must {wanted}, not {value!r}")


def _faults(field: dict[str, Any], value: Any) -> Iterator[str]:
    """Say what a value must be and is not."""
    kind = str(field.get("type", ""))
    wanted = _TYPES.get(kind)
    if wanted and (not isinstance(value, wanted) or (isinstance(value, bool) and kind != "boolean")):
        yield f"be of type {kind}"
        return
    choices = _choices(field, "oneOf")
    if choices and value not in choices:
        yield f"be one of {choices}"
    if isinstance(value, str):
        yield from _outside(field, "minLength", "maxLength", len(value), "have", "characters")
        reads = _FORMATS.get(str(field.get("format")))
        if reads is not None and not reads(value):
            yield f"be a {field['format']}"
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield from _outside(field, "minimum", "maximum", value, "be")
    elif isinstance(value, list | tuple):
        yield from _of_list(field, cast("list[Any]", value))


def _of_list(field: dict[str, Any], values: list[Any]) -> Iterator[str]:
    yield from _outside(field, "minItems", "maxItems", len(values), "have", "entries")
    items: Any = field.get("items")
    choices = _choices(cast("dict[str, Any]", items), "anyOf") if isinstance(items, dict) else []
    if choices and any(value not in choices for value in values):
        yield f"have entries of {choices}"


def _choices(field: dict[str, Any], key: str) -> list[Any]:
    """The legal values of a field: an enum, or options with titles."""
    listed: Any = field.get("enum")
    if isinstance(listed, list) and listed:
        return cast("list[Any]", listed)
    titled: Any = field.get(key)
    options = cast("list[Any]", titled) if isinstance(titled, list) else []
    if not options or not all(isinstance(option, dict) and "const" in option for option in options):
        return []
    return [option["const"] for option in options]


def _outside(
    field: dict[str, Any], least: str, most: str, value: float, verb: str, unit: str = ""
) -> Iterator[str]:
    low, high = field.get(least), field.get(most)
    if isinstance(low, int | float) and value < low:
        yield f"{verb} at least {low} {unit}".rstrip()
    if isinstance(high, int | float) and value > high:
        yield f"{verb} at most {high} {unit}".rstrip()


def _is_date(text: str) -> bool:
    return bool(re.fullmatch(r"\d{4}-\d\d-\d\d", text)) and _parses(datetime.date.fromisoformat, text)


def _is_moment(text: str) -> bool:
    return "T" in text.upper() and _parses(datetime.datetime.fromisoformat, text)


def _is_address(text: str) -> bool:
    return _parses(urlsplit, text) and bool(urlsplit(text).scheme)


def _parses(read: Callable[[str], Any], text: str) -> bool:
    try:
        read(text)
    except ValueError:
        return False
    return True


_FORMATS: dict[str, Callable[[str], bool]] = {
    "email": lambda text: _EMAIL.fullmatch(text) is not None,
    "uri": _is_address,
    "date": _is_date,
    "date-time": _is_moment,
}
