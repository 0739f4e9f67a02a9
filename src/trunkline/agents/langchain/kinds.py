"""What a tool does, read from its name, its annotations and its arguments."""

from __future__ import annotations

import fnmatch
from collections.abc import Callable, Mapping
from typing import Any, cast

from trunkline import events as ev
from trunkline.content import Content, DiffBlock

__all__ = ["KindMapper", "diff_of", "kind_of", "locations_of", "title_of"]

KindMapper = Callable[[str], ev.ToolKind | None]

# The most specific pattern wins, so they are tried from the longest to the shortest.
_PATTERNS: dict[str, ev.ToolKind] = {
    "get*url*": "fetch",
    "fetch*": "fetch",
    "download*": "fetch",
    "web_search*": "search",
    "search*": "search",
    "find*": "search",
    "grep*": "search",
    "glob*": "search",
    "read*": "read",
    "get*": "read",
    "list*": "read",
    "ls": "read",
    "cat": "read",
    "write_todos": "think",
    "write*": "edit",
    "create*": "edit",
    "update*": "edit",
    "edit*": "edit",
    "delete*": "delete",
    "remove*": "delete",
    "move*": "move",
    "rename*": "move",
    "run*": "execute",
    "exec*": "execute",
    "execute*": "execute",
    "command*": "execute",
    "shell*": "execute",
    "bash*": "execute",
    "think*": "think",
    "reason*": "think",
    "analyze*": "think",
    "task": "think",
}
_ORDERED = sorted(_PATTERNS.items(), key=lambda row: (-len(row[0].replace("*", "")), row[0]))
_PATH_KEYS = ("path", "file_path", "filepath", "file", "filename", "target_file", "directory", "dir")
_LINE_KEYS = ("line", "line_number", "start_line", "offset")


def kind_of(
    name: str, annotations: Mapping[str, Any] | None = None, mapper: KindMapper | None = None
) -> ev.ToolKind:
    """Say what kind of tool this is: the mapper first, then MCP's hints, then the name."""
    if mapper is not None and (chosen := mapper(name)) is not None:
        return chosen
    by_name = _by_name(name)
    if annotations:
        if annotations.get("readOnlyHint") is True:
            return by_name if by_name in ("read", "search", "fetch", "think") else "read"
        if annotations.get("destructiveHint") is True and by_name in ("other", "read", "search", "fetch"):
            return "edit"
    return by_name


def _by_name(name: str) -> ev.ToolKind:
    plain = name.lower().rpartition("__")[2]
    return next((kind for pattern, kind in _ORDERED if fnmatch.fnmatchcase(plain, pattern)), "other")


def title_of(name: str, args: Any) -> str:
    """Give a call a title that a person understands."""
    words = name.replace("__", ": ").replace("_", " ").strip().capitalize() or name
    if isinstance(args, dict):
        given = cast("dict[str, Any]", args)
        for key in (*_PATH_KEYS, "command", "query", "pattern", "url", "description"):
            value: Any = given.get(key)
            if isinstance(value, str) and value:
                return f"{words} {value.splitlines()[0][:80]}"
    return words


def locations_of(args: Any) -> tuple[ev.Location, ...]:
    """Find the files a call works on."""
    if not isinstance(args, dict):
        return ()
    given = cast("dict[str, Any]", args)
    line = next((given[key] for key in _LINE_KEYS if isinstance(given.get(key), int)), None)
    return tuple(
        ev.Location(path=given[key], line=line)
        for key in _PATH_KEYS
        if isinstance(given.get(key), str) and given[key]
    )


def diff_of(name: str, args: Any) -> tuple[Content, ...]:
    """Show what an edit or a write changes, as far as its arguments say."""
    if not isinstance(args, dict) or _by_name(name) != "edit":
        return ()
    given = cast("dict[str, Any]", args)
    path = next((given[key] for key in _PATH_KEYS if isinstance(given.get(key), str)), None)
    if path is None:
        return ()
    old = given.get("old_string", given.get("old_text", given.get("old_str")))
    new = given.get("new_string", given.get("new_text", given.get("new_str")))
    if isinstance(old, str) and isinstance(new, str):
        return (DiffBlock(path=path, old=old, new=new),)
    text = given.get("content", given.get("text", given.get("contents")))
    return (DiffBlock(path=path, new=text),) if isinstance(text, str) else ()
