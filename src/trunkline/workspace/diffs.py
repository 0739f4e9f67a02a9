"""What a call changes in files, as far as its arguments say."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, cast

from trunkline.content import Content, DiffBlock

PATH_KEYS = (
    "path",
    "file_path",
    "filepath",
    "filePath",
    "file",
    "filename",
    "target_file",
    "absolute_path",
    "notebook_path",
    "old_path",
    "new_path",
    "directory",
    "dir",
)
"""The names under which tools take a path."""

_OLD_KEYS = ("old_string", "old_str", "old_text", "oldText", "oldString", "search", "find")
_NEW_KEYS = ("new_string", "new_str", "new_text", "newText", "newString", "replace", "replacement")
_WHOLE_KEYS = ("content", "contents", "file_text", "text", "new_content", "code_edit")
_PATCH_KEYS = ("patch", "diff", "input", "patch_text", "patchText")
_WRITES = re.compile(r"(?:^|[_\W])(?:write|create|edit|update|save|put|overwrite)", re.IGNORECASE)
# "*** Update File: a.py" of apply_patch, or "--- a/a.py" and "+++ b/a.py" of a unified diff.
_STAR_HEADER = re.compile(r"\*\*\* (Add|Update|Delete) File: (.+)")
_SOURCE = re.compile(r"--- (?:a/)?([^\t]+).*")
_TARGET = re.compile(r"\+\+\+ (?:b/)?([^\t]+).*")
_NOTHING = "/dev/null"
_BESIDE = ("@@", "*** ", "diff ", "index ", "\\", "new file", "deleted file", "similarity ", "rename ")


def diff_of(name: str, args: Any) -> tuple[Content, ...]:
    """Show what an edit, a write or a patch changes; nothing for any other call."""
    if not isinstance(args, dict):
        return ()
    given = cast("dict[str, Any]", args)
    path = _first(given, PATH_KEYS)
    if path is None:
        patch = _first(given, _PATCH_KEYS)
        return tuple(_of_patch(patch)) if patch is not None else ()
    edits = [given, *_objects(given.get("edits"))]
    found = [diff for edit in edits if (diff := _of_edit(path, edit)) is not None]
    if found:
        return tuple(found)
    whole = _first(given, _WHOLE_KEYS)
    if whole is not None and (_WRITES.search(name) or given.get("command") in ("create", "write")):
        return (DiffBlock(path=path, new=whole),)
    return ()


def _of_edit(path: str, edit: dict[str, Any]) -> DiffBlock | None:
    old, new = _first(edit, _OLD_KEYS), _first(edit, _NEW_KEYS)
    return None if old is None or new is None else DiffBlock(path=path, old=old, new=new)


def _first(given: dict[str, Any], keys: tuple[str, ...]) -> str | None:
    for key in keys:
        if key in given and isinstance(given[key], str):
            return given[key]
    return None


def _objects(value: Any) -> list[dict[str, Any]]:
    items = cast("list[Any]", value) if isinstance(value, list) else []
    return [cast("dict[str, Any]", item) for item in items if isinstance(item, dict)]


# -- patches ---------------------------------------------------------------------------------------


class _Change:
    """One file of a patch, line by line."""

    def __init__(self, path: str, *, added: bool, deleted: bool, header: int) -> None:
        self.path = path
        self.header = header
        self.added = added
        self.deleted = deleted
        self.old: list[str] = []
        self.new: list[str] = []

    def take(self, line: str) -> None:
        sign, rest = line[:1], line[1:]
        if sign in ("-", " ", ""):
            self.old.append(rest)
        if sign in ("+", " ", ""):
            self.new.append(rest)

    def diff(self) -> DiffBlock:
        old = None if self.added else "\n".join(self.old)
        return DiffBlock(path=self.path, old=old, new=None if self.deleted else "\n".join(self.new))


def _of_patch(patch: str) -> Iterator[DiffBlock]:
    """Read a patch file by file: a unified diff, or the form of apply_patch."""
    change: _Change | None = None
    lines = patch.splitlines()
    at = 0
    while at < len(lines):
        following = _header(lines, at)
        if following is not None:
            if change is not None:
                yield change.diff()
            change = following
            at += following.header
        else:
            if change is not None and not lines[at].startswith(_BESIDE):
                change.take(lines[at])
            at += 1
    if change is not None:
        yield change.diff()


def _header(lines: list[str], at: int) -> _Change | None:
    """Read where the next file begins; a removed line may look like half of a header."""
    if star := _STAR_HEADER.fullmatch(lines[at]):
        return _Change(star[2].strip(), added=star[1] == "Add", deleted=star[1] == "Delete", header=1)
    source = _SOURCE.fullmatch(lines[at])
    target = _TARGET.fullmatch(lines[at + 1]) if source and at + 1 < len(lines) else None
    if source is None or target is None:
        return None
    gone = target[1] == _NOTHING
    path = source[1] if gone else target[1]
    return _Change(path, added=source[1] == _NOTHING, deleted=gone, header=2)
