"""Reads the SDK's values by the names of their fields: models of pydantic, dataclasses and dicts alike.

The SDK hands on what a provider sent, and models of other providers build their own: any field may be
missing, None or of another type.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import msgspec

from trunkline.agents.json_values import json_value

FAKE_ID = "__fake_id__"
"""The id of every item of a chat-completions model (``agents.models.fake_id``)."""


def field(value: Any, name: str) -> Any:
    """A field of a value; None if it has none."""
    if isinstance(value, dict):
        return cast("dict[str, Any]", value).get(name)
    found = getattr(value, name, None)
    # Last, because it is slow and rare.
    if found is None and isinstance(value, Mapping):
        return cast("Mapping[str, Any]", value).get(name)
    return found


def text_field(value: Any, name: str) -> str:
    """A field that is text; anything else is empty."""
    found = field(value, name)
    return found if isinstance(found, str) else ""


def number_field(value: Any, name: str) -> int:
    """A field that is a number; anything else is 0."""
    found = field(value, name)
    return found if isinstance(found, int) and not isinstance(found, bool) else 0


def list_field(value: Any, name: str) -> list[Any]:
    """A field that is a list; anything else is empty."""
    found = field(value, name)
    return list(cast("list[Any]", found)) if isinstance(found, list | tuple) else []


def id_of(item: Any) -> str | None:
    """The id of a call, or of the call that an output answers."""
    for name in ("call_id", "id"):
        found = text_field(item, name)
        if found and found != FAKE_ID:
            return found
    return None


def as_json(value: Any) -> Any:
    """Give a value as JSON, without the fields that have no value."""
    dump = getattr(value, "model_dump", None)
    if dump is not None:
        try:
            return json_value(dump(mode="json", exclude_none=True))
        except Exception:
            return str(value)
    return json_value(value)


def as_fields(value: Any) -> dict[str, Any]:
    """Give the fields of a value that have one, as JSON; none for a value without fields."""
    given = as_json(value)
    return cast("dict[str, Any]", given) if isinstance(given, dict) else {}


def read_arguments(text: Any) -> Any:
    """Read the arguments of a call; text that is no JSON stays as it is."""
    if not isinstance(text, str):
        return as_json(text)
    if not text.strip():
        return {}
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeEncodeError):
        return text
