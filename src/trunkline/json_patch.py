"""JSON values: compare and copy them, apply a JSON Patch (RFC 6902), or find one from here to there.

Documents are never changed in place: an operation copies the containers on its path, so an older
snapshot that a reader still holds stays what it was.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, cast

Operation = dict[str, Any]

_POINTER = re.compile(r"(/([^~/]|~[01])*)*", re.DOTALL)


class PatchError(ValueError):
    """A patch that does not fit its document."""


def apply_patch(document: Any, patch: Iterable[Operation]) -> Any:
    """Give the document after all operations, or raise PatchError and change nothing."""
    try:
        for operation in patch:
            document = _apply(document, operation)
    except RecursionError:
        raise PatchError("the document is nested too deeply") from None
    return document


def _apply(document: Any, operation: Operation) -> Any:
    try:
        name, path = operation["op"], _parse(operation["path"])
        if name in ("add", "replace", "test"):
            value = operation["value"]
        elif name in ("move", "copy"):
            origin = _parse(operation["from"])
            value = _get(document, origin)
            if name == "move":
                if path == origin:
                    return document
                if path[: len(origin)] == origin:
                    raise PatchError(f"cannot move {operation['from']!r} into itself")
                document = _edit(document, origin, "remove", None)
            name = "add"
        elif name == "remove":
            value = None
        else:
            raise PatchError(f"unknown operation {name!r}")
    except (KeyError, TypeError) as error:
        raise PatchError(f"malformed operation: {error}") from None
    if name == "test":
        found = _get(document, path)
        # RFC 6902 section 4.6: numbers "are considered equal if their values are numerically equal".
        if not same_json(found, value, numeric=True):
            raise PatchError(f"test failed at {operation['path']!r}")
        return document
    return _edit(document, path, name, value)


def _parse(pointer: Any) -> list[str]:
    if not isinstance(pointer, str) or _POINTER.fullmatch(pointer) is None:
        raise PatchError(f"{pointer!r} is not a JSON pointer")
    return [token.replace("~1", "/").replace("~0", "~") for token in pointer.split("/")[1:]]


def _get(document: Any, path: list[str]) -> Any:
    for token in path:
        if isinstance(document, dict):
            table = cast("dict[str, Any]", document)
            if token not in table:
                raise PatchError(f"there is no {token!r}")
            document = table[token]
        elif isinstance(document, list):
            items = cast("list[Any]", document)
            document = items[_index(token, len(items) - 1)]
        else:
            raise PatchError(f"{token!r} is below a value that has no parts")
    return document


def _edit(document: Any, path: list[str], name: str, value: Any) -> Any:
    if not path:
        if name == "remove":
            raise PatchError("the whole document cannot be removed")
        return value
    token, rest = path[0], path[1:]
    if isinstance(document, dict):
        table = dict(cast("dict[str, Any]", document))
        if (rest or name != "add") and token not in table:
            raise PatchError(f"there is no {token!r}")
        if rest:
            table[token] = _edit(table[token], rest, name, value)
        elif name == "remove":
            del table[token]
        else:
            table[token] = value
        return table
    if isinstance(document, list):
        items = list(cast("list[Any]", document))
        if rest:
            index = _index(token, len(items) - 1)
            items[index] = _edit(items[index], rest, name, value)
        elif name == "add":
            items.insert(len(items) if token == "-" else _index(token, len(items)), value)
        elif name == "remove":
            del items[_index(token, len(items) - 1)]
        else:
            items[_index(token, len(items) - 1)] = value
        return items
    raise PatchError(f"{token!r} is below a value that has no parts")


def _index(token: str, highest: int) -> int:
    # RFC 6901 section 4: digits without a leading zero; isdigit() alone would take other scripts.
    if not (token.isascii() and token.isdigit()) or (len(token) > 1 and token[0] == "0"):
        raise PatchError(f"{token!r} is not an index")
    # Compared by length first: Python refuses to read a number of thousands of digits.
    if len(token) > len(str(highest)) or int(token) > highest:
        raise PatchError(f"index {token[:20]} is out of range")
    return int(token)


def same_json(left: Any, right: Any, *, numeric: bool = False) -> bool:
    """Whether two values are the same JSON, at any depth: 1, 1.0 and true are three values.

    With ``numeric`` 1 and 1.0 are one: clients written in JavaScript send the one for the other.
    """
    if isinstance(left, dict) and isinstance(right, dict):
        one, two = cast("dict[str, Any]", left), cast("dict[str, Any]", right)
        pairs = ((value, two[key]) for key, value in one.items()) if one.keys() == two.keys() else None
        return pairs is not None and all(a is b or same_json(a, b, numeric=numeric) for a, b in pairs)
    if isinstance(left, list) and isinstance(right, list):
        here, there = cast("list[Any]", left), cast("list[Any]", right)
        pairs = zip(here, there, strict=True)
        return len(here) == len(there) and all(a is b or same_json(a, b, numeric=numeric) for a, b in pairs)
    if numeric and _is_number(left) and _is_number(right):
        return left == right
    # What is no number is not equal to itself, and yet no change.
    mine, theirs = cast("object", left), cast("object", right)
    return type(mine) is type(theirs) and (left == right or (left != left and right != right))


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def copy_json(value: Any) -> Any:
    """Give a copy that no other code can change; a tuple becomes the list that JSON has for it."""
    if isinstance(value, dict):
        table = cast("dict[Any, Any]", value)
        return {key: item if type(item) in _PLAIN else copy_json(item) for key, item in table.items()}
    if isinstance(value, list | tuple):
        # A state may have a hundred thousand values: what has no parts is not asked twice.
        return [item if type(item) in _PLAIN else copy_json(item) for item in cast("list[Any]", value)]
    return value


_PLAIN = frozenset({str, int, float, bool, type(None)})


def diff(before: Any, after: Any) -> list[Operation]:
    """Find operations that turn one value into the other; [] when they are equal."""
    found: list[Operation] = []
    try:
        _diff(before, after, "", found)
    except RecursionError:
        return [{"op": "replace", "path": "", "value": after}]
    return found


def _diff(before: Any, after: Any, path: str, found: list[Operation]) -> None:
    if isinstance(before, dict) and isinstance(after, dict):
        old, new = cast("dict[str, Any]", before), cast("dict[str, Any]", after)
        for key in old:
            if key not in new:
                found.append({"op": "remove", "path": f"{path}/{_escape(key)}"})
        for key, value in new.items():
            pointer = f"{path}/{_escape(key)}"
            if key in old:
                _diff(old[key], value, pointer, found)
            else:
                found.append({"op": "add", "path": pointer, "value": value})
    elif isinstance(before, list) and isinstance(after, list):
        one, two = cast("list[Any]", before), cast("list[Any]", after)
        shared = min(len(one), len(two))
        for index in range(shared):
            _diff(one[index], two[index], f"{path}/{index}", found)
        # From the end, so that earlier indexes stay what they were.
        found.extend(
            {"op": "remove", "path": f"{path}/{index}"} for index in range(len(one) - 1, shared - 1, -1)
        )
        found.extend({"op": "add", "path": f"{path}/-", "value": value} for value in two[shared:])
    elif not same_json(before, after):
        found.append({"op": "replace", "path": path, "value": after})


def _escape(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")
