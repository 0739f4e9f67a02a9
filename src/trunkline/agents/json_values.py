"""Values of an agent, made fit for JSON."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, cast

from trunkline import events as ev


def json_value(value: Any) -> Any:
    """Give a value that JSON can carry: as it is, by its fields, or else as text."""
    if isinstance(value, str):
        return value  # A lone surrogate in it is replaced where the event is checked.
    try:
        ev.encode_event(ev.Custom(name="", value=value))
    except (TypeError, ValueError, RecursionError):
        pass
    else:
        return value
    dump = getattr(value, "model_dump", None)
    if dump is not None:
        try:
            return json_value(dump(mode="json"))
        except Exception:
            return str(value)
    if isinstance(value, dict):
        return {str(key): json_value(item) for key, item in cast("dict[Any, Any]", value).items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [json_value(item) for item in cast("Iterable[Any]", value)]
    return str(value)
