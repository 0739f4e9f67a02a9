"""The paths that a call names, by its arguments."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, cast
from urllib.parse import unquote, urlsplit

from trunkline.content import DiffBlock
from trunkline.workspace.diffs import PATH_KEYS, diff_of

_LIST_KEYS = ("paths", "files", "file_paths", "edits")
_NAMED = """
    path paths file files filepath filepaths filename filenames fullpath filesystempath
    absolutepath absolutefilepath relativepath relativefilepath targetfile targetpath notebookpath
    oldpath newpath oldfile newfile inputfile inputpath outputfile outputpath
    sourcefile sourcepath destinationfile destinationpath srcpath dstpath destpath
    directory directories directorypath dir dirs dirpath folder folders folderpath rootdir rootpath basepath
"""
_NAMES = frozenset(_NAMED.split())
"""What a policy takes for the name of a path, in small letters and without ``_`` and ``-``."""
_ADDRESSES = frozenset({"uri", "uris", "url", "urls", "fileuri"})
_PAIRS = (("source", "destination"), ("src", "dst"), ("src", "dest"))
_DEEPEST = 8


def paths_of(args: Any) -> tuple[str, ...]:
    """Find every path that a call's arguments name, for a policy: also one that no client could open.

    A name with a line feed, ``://`` or many dots in it is still a file to the system. Tools spell the names
    of their arguments as they like, and some wrap the arguments of another.
    """
    if not isinstance(args, dict):
        return ()
    named = cast("dict[str, Any]", args)
    patched = [block.path for block in diff_of("", args) if isinstance(block, DiffBlock)]
    return tuple(
        dict.fromkeys([*_named_in(named), *openable_paths(named), *_named_anywhere(named), *patched])
    )


def _named_anywhere(given: Any, depth: int = 0) -> Iterator[str]:
    """Find what may be a path in arguments, at any depth that a tool would use."""
    if depth > _DEEPEST:
        return
    if isinstance(given, list):
        for item in cast("list[Any]", given):
            yield from _named_anywhere(item, depth + 1)
    if not isinstance(given, dict):
        return
    fields = {_plain(key): value for key, value in cast("dict[Any, Any]", given).items()}
    pairs = {name for pair in _PAIRS if fields.keys() >= {*pair} for name in pair}
    for key, value in cast("dict[Any, Any]", given).items():
        name = _plain(key)
        if name in _NAMES or name in pairs:
            for text in _texts(value):
                yield from {text: None, **dict.fromkeys(_as_paths(text))}
        elif name in _ADDRESSES:
            yield from (path for text in _texts(value) if "://" in text for path in _as_paths(text))
        elif "/" in str(key) and isinstance(value, dict):
            yield str(key)  # {"changes": {"/a/b.py": {...}}}, as Codex sends it
        yield from _named_anywhere(value, depth + 1)


def _plain(key: object) -> str:
    return str(key).lower().replace("_", "").replace("-", "")


def _texts(value: Any) -> list[str]:
    values = cast("list[Any]", value) if isinstance(value, list) else [value]
    return [text for text in values if isinstance(text, str) and text]


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
