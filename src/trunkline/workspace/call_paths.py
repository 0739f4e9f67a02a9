"""The paths that a call names, by its arguments."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, cast
from urllib.parse import unquote, urlsplit

from trunkline.content import DiffBlock
from trunkline.workspace.diffs import PATH_KEYS, diff_of

_LIST_KEYS = ("paths", "files", "file_paths", "edits")


def paths_of(args: Any) -> tuple[str, ...]:
    """Find every path that a call's arguments name, for a policy: also one that no client could open.

    A name with a line feed, ``://`` or many dots in it is still a file to the system.
    """
    if not isinstance(args, dict):
        return ()
    named = cast("dict[str, Any]", args)
    patched = [block.path for block in diff_of("", args) if isinstance(block, DiffBlock)]
    return tuple(dict.fromkeys([*_named_in(named), *openable_paths(named), *patched]))


def openable_paths(args: dict[str, Any]) -> Iterator[str]:
    """Find the paths that a client could open."""
    for value in _named_in(args):
        yield from _as_paths(value)


def _named_in(given: dict[str, Any]) -> Iterator[str]:
    keys: Iterable[str] = PATH_KEYS
    if "source" in given and "destination" in given:
        keys = (*keys, "source", "destination")
    for key in keys:
        if isinstance(given.get(key), str):
            yield given[key]
    for key in _LIST_KEYS:
        for item in cast("list[Any]", given[key]) if isinstance(given.get(key), list) else ():
            if isinstance(item, dict):
                yield from _named_in(cast("dict[str, Any]", item))
            elif isinstance(item, str):
                yield item


def _as_paths(value: str) -> Iterator[str]:
    if not value.strip() or "\n" in value or len(value) > 4096:
        return
    if value.startswith("file://"):
        yield unquote(urlsplit(value).path)
    elif "://" not in value:
        yield value
