"""Reads fields of JSON that may be of any type: a peer that is newer or careless must not stop a decoder."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, cast

Path = tuple[str, ...]
"""The keys from an object down to a value in it."""


def as_object(value: Any) -> dict[str, Any]:
    """Give an object, or an empty one for anything else."""
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def as_list(value: Any) -> list[Any]:
    """Give a list, or an empty one for anything else."""
    return cast("list[Any]", value) if isinstance(value, list) else []


def text_in(given: Mapping[str, Any], name: str) -> str | None:
    """Give a text that is not empty, or None."""
    value = given.get(name)
    return value if isinstance(value, str) and value else None


def whole_number(value: Any) -> int | None:
    """Give a whole number, also one that was written as 3.0; None for anything else."""
    if isinstance(value, bool):
        return None
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**63:
        return int(value)
    # More than 64 bits are not a number that the journal could keep.
    return value if isinstance(value, int) and abs(value) < 2**63 else None


def look_up(given: Mapping[str, Any], paths: Iterable[Path]) -> Any:
    """Give the first value that is there and not null."""
    for path in paths:
        value: Any = given
        for key in path:
            value = as_object(value).get(key)
        if value is not None:
            return value
    return None


def merge(older: Mapping[str, Any], newer: Mapping[str, Any]) -> dict[str, Any]:
    """Put two objects together; where both have an object under a key, these two are put together."""
    merged = {**older, **newer}
    for key in older.keys() & newer.keys():
        if isinstance(older[key], dict) and isinstance(newer[key], dict):
            merged[key] = {**older[key], **newer[key]}
    return merged
