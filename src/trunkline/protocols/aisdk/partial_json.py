"""Reads JSON text that is not complete yet, as pages show the arguments of a call while they arrive."""

from __future__ import annotations

import json
import re
from typing import Any

import msgspec

__all__ = ["MISSING", "parse_partial"]

MISSING: Any = object()
"""Stands for: nothing can be read yet."""

_SPACE = re.compile(r"[ \t\n\r]*")
_NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?", re.ASCII)
_NUMBER_HEAD = re.compile(r"-?(?:(?:0|[1-9]\d*)(?:\.\d*)?(?:[eE][+-]?)?)?", re.ASCII)
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*')
_ESCAPE_HEAD = re.compile(r"\\(?:u[0-9a-fA-F]{0,3})?")
_WORDS: dict[str, Any] = {"true": True, "false": False, "null": None}


class _NoJson(Exception):
    """The text cannot become JSON."""


def parse_partial(text: str) -> Any:
    """Read what there is of a JSON text: open strings, lists and objects end where it does.

    A word that has begun is taken as whole, a number that has not ended by its digits, and a key without a
    value is left out. Gives MISSING for a text that is no beginning of JSON, or has no value yet.
    """
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        pass
    try:
        value, at = _value(text, _skip(text, 0))
        return value if _skip(text, at) == len(text) else MISSING
    except (_NoJson, RecursionError):
        return MISSING


def _skip(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return at if found is None else found.end()


def _value(text: str, at: int) -> tuple[Any, int]:
    first = text[at : at + 1]
    if not first:
        return MISSING, at
    if first == "{":
        return _object(text, at + 1)
    if first == "[":
        return _list(text, at + 1)
    if first == '"':
        return _string(text, at)
    if first in "-0123456789":
        return _number(text, at)
    for word, value in _WORDS.items():
        if text.startswith(word, at):
            return value, at + len(word)
        if word.startswith(text[at:]):
            return value, len(text)
    raise _NoJson


def _number(text: str, at: int) -> tuple[Any, int]:
    found = _NUMBER.match(text, at)
    head = _NUMBER_HEAD.match(text, at)
    end = at if found is None else found.end()
    if head is not None and head.end() == len(text) and head.end() > end:
        return (MISSING if found is None else json.loads(found[0])), len(text)
    if found is None:
        raise _NoJson
    return json.loads(found[0]), end


def _string(text: str, at: int) -> tuple[str, int]:
    found = _STRING.match(text, at)
    assert found is not None
    end, rest = found.end(), text[found.end() :]
    if rest.startswith('"'):
        end += 1
    elif not rest or _ESCAPE_HEAD.fullmatch(rest):
        end = len(text)
    else:
        raise _NoJson
    return json.loads(f'{found[0]}"'), end


def _list(text: str, at: int) -> tuple[list[Any], int]:
    items: list[Any] = []
    at = _skip(text, at)
    if text.startswith("]", at):
        return items, at + 1
    while at < len(text):
        value, at = _value(text, at)
        if value is not MISSING:
            items.append(value)
        at = _skip(text, at)
        if text.startswith("]", at):
            return items, at + 1
        at = _after_comma(text, at)
    return items, at


def _object(text: str, at: int) -> tuple[dict[str, Any], int]:
    fields: dict[str, Any] = {}
    at = _skip(text, at)
    if text.startswith("}", at):
        return fields, at + 1
    while at < len(text):
        if text[at] != '"':
            raise _NoJson
        key, at = _string(text, at)
        at = _skip(text, at)
        if at == len(text):
            return fields, at
        if text[at] != ":":
            raise _NoJson
        value, at = _value(text, _skip(text, at + 1))
        if value is not MISSING:
            fields[key] = value
        at = _skip(text, at)
        if text.startswith("}", at):
            return fields, at + 1
        at = _after_comma(text, at)
    return fields, at


def _after_comma(text: str, at: int) -> int:
    if at == len(text):
        return at
    if text[at] != ",":
        raise _NoJson
    return _skip(text, at + 1)
