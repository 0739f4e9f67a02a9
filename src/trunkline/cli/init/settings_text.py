"""The text of a settings file with an agent in it, or without it again; checked before it is written."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from trunkline.cli.init import jsonc
from trunkline.cli.init.jsonc_nodes import JsoncError
from trunkline.cli.init.settings_file import digest


def text_of(data: bytes | None) -> str:
    """Give the text of a file; JsoncError if it is not UTF-8."""
    try:
        return (data or b"").decode()
    except UnicodeDecodeError as error:
        raise JsoncError(f"byte {error.start} is not UTF-8") from None


def value_at(text: str, path: Sequence[str]) -> Any:
    """Give what stands under a path of keys; None if nothing does."""
    raw = jsonc.find(text, path)
    return None if raw is None else jsonc.parse(raw)


def value_digest(value: Any) -> str:
    """Give the name of a value: the same however it is laid out."""
    return digest(json.dumps(value, sort_keys=True).encode())


def with_entry(text: str, path: Sequence[str], entry: Any) -> str:
    """Put an entry under a path; JsoncError if the text does not allow it."""
    changed = jsonc.apply(text, jsonc.set_key(text, path, entry))
    # Nothing is written unless it means exactly what it should.
    if jsonc.parse(changed) != _merged(jsonc.parse(text), path, entry):
        raise JsoncError("its layout is too unusual to be changed safely")
    return changed


def made_objects(text: str, path: Sequence[str]) -> int:
    """Count the objects above an entry that are not there yet."""
    return sum(jsonc.find(text, path[:depth]) is None for depth in range(1, len(path)))


def without_entry(text: str, path: Sequence[str], *, previous: str | None, made: int) -> str:
    """Take an entry out, or put back what stood there; objects made for it go when they are empty."""
    if previous is not None:
        return jsonc.apply(text, jsonc.replace_value(text, path, previous))
    for depth in range(len(path), len(path) - made - 1, -1):
        if depth < len(path) and not jsonc.is_empty(text, path[:depth]):
            break
        text = jsonc.apply(text, jsonc.remove_key(text, path[:depth]))
    jsonc.parse(text)
    return text


def _merged(value: Any, path: Sequence[str], entry: Any) -> Any:
    if not path:
        return entry
    below: dict[str, Any] = dict(value or {})
    below[path[0]] = _merged(below.get(path[0]), path[1:], entry)
    return below
