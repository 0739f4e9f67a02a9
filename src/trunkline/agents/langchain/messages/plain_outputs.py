"""Outputs: what a Runnable or a graph gives that no model said, in words that a person can read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import msgspec

__all__ = ["combine_outputs", "output_text"]

_ANSWERS = ("answer", "output", "result", "response", "reply", "text", "content")
"""Fields in which chains put their answer, the likeliest first."""


def combine_outputs(before: Any, piece: Any) -> Any:
    """Add a piece of an output to those before it, as LangChain does: what cannot be added replaces."""
    if before is None:
        return piece
    try:
        return before + piece
    except TypeError:
        return piece


def output_text(output: Any, given: Mapping[str, Any] | None = None) -> str:
    """Give the text of an output, or all of it as JSON; a field that is as it was ``given`` is no answer."""
    if isinstance(output, str):
        return output
    if output is None:
        return ""
    if isinstance(text := getattr(output, "text", None), str):
        return str(text)  # A message.
    if not isinstance(output, Mapping):
        return _as_json(output)
    fields = {
        key: value
        for key, value in cast("Mapping[Any, Any]", output).items()
        if value is not None and (given is None or given.get(key) != value)
    }
    for name in _ANSWERS:
        if name in fields and (said := _said(fields[name])):
            return said
    if len(fields) == 1 and (said := _said(next(iter(fields.values())))):
        return said
    return _as_json(fields) if fields else ""


def _said(value: Any) -> str | None:
    text = getattr(value, "text", value)
    return str(text) if isinstance(text, str) else None


def _as_json(value: Any) -> str:
    try:
        return msgspec.json.format(msgspec.json.encode(value, enc_hook=_by_fields), indent=2).decode()
    except (TypeError, ValueError, RecursionError):
        return str(value)


def _by_fields(value: Any) -> Any:
    """Give a model of pydantic by its fields, and anything else in words."""
    dump = getattr(value, "model_dump", None)
    return str(value) if dump is None else dump()
