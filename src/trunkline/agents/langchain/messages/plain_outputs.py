"""The output of a Runnable or a graph without messages, as text that a person can read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import msgspec

_ANSWER_FIELDS = ("answer", "output", "result", "response", "reply", "text", "content")
"""Fields in which chains put their answer, the most likely first."""


def combine_outputs(before: Any, piece: Any) -> Any:
    """Add a piece of an output to those before it, as LangChain does; without ``+`` it replaces them."""
    if before is None:
        return piece
    try:
        return before + piece
    except TypeError:
        return piece


def output_text(output: Any, payload: Mapping[str, Any] | None = None) -> str:
    """Give the text of an output, or all of it as JSON; fields that equal those of the input are left out."""
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
        if value is not None and (payload is None or payload.get(key) != value)
    }
    for name in _ANSWER_FIELDS:
        if name in fields and (text := _text_of(fields[name])):
            return text
    if len(fields) == 1 and (text := _text_of(next(iter(fields.values())))):
        return text
    return _as_json(fields) if fields else ""


def _text_of(value: Any) -> str | None:
    text = getattr(value, "text", value)
    return str(text) if isinstance(text, str) else None


def _as_json(value: Any) -> str:
    try:
        return msgspec.json.format(msgspec.json.encode(value, enc_hook=_by_fields), indent=2).decode()
    except (TypeError, ValueError, RecursionError):
        return str(value)


def _by_fields(value: Any) -> Any:
    """Give a pydantic model by its fields, and anything else as text."""
    dump = getattr(value, "model_dump", None)
    return str(value) if dump is None else dump()
