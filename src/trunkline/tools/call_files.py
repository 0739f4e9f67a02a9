"""Where the files of a call are on this machine, and what a call is about to overwrite."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable
from typing import Any

from msgspec.structs import replace

from trunkline import events as ev
from trunkline.content import Content, DiffBlock, TextBlock
from trunkline.errors import WorkspaceError
from trunkline.tools.diffs import diff_of
from trunkline.tools.naming import locations_of, paths_of
from trunkline.workspace import Files

__all__ = ["CallFiles", "DiskPath"]

DiskPath = Callable[[str, str], str | None]
"""The path on this machine for a tool's name and a path that its call names; None if it is on no disk."""

_MOST_OLD = 1 << 20
"""How long the text of a file may be that is shown as overwritten."""


class CallFiles:
    """The files of an agent's calls, in one session.

    Some tools name paths of a virtual file system: ``disk_path`` says where these are. A client gets the
    real path, because it opens it; what is on no disk is shown as text.
    """

    def __init__(self, folders: Iterable[str | None] = (), disk_path: DiskPath | None = None) -> None:
        """Read old text in these folders only: never a file that the agent itself may not read."""
        self._disk_path = disk_path or _same_path
        self._files = [files for folder in {*folders} if folder and (files := _open(folder)) is not None]

    def locations(self, tool: str, args: Any) -> tuple[ev.Location, ...]:
        """The files that a call works on, without those that are on no disk."""
        found = ((self._disk_path(tool, one.path), one) for one in locations_of(args))
        return tuple(replace(one, path=path) for path, one in found if path is not None)

    def paths(self, tool: str, args: Any) -> list[str]:
        """Every path that a call names, and where each is on this machine: a policy judges both."""
        named = paths_of(args)
        on_disk = [self._disk_path(tool, path) for path in named if "\0" not in path]
        return list(dict.fromkeys([*named, *(path for path in on_disk if path is not None)]))

    def changes(self, tool: str, args: Any) -> tuple[Content, ...]:
        """What a call changes in files, with the old text of those that it overwrites."""
        return tuple(
            self._change(tool, block) if isinstance(block, DiffBlock) else block
            for block in diff_of(tool, args)
        )

    def _change(self, tool: str, block: DiffBlock) -> Content:
        path = self._disk_path(tool, block.path)
        if path is None:
            return TextBlock(text=_diff_text(block))
        old = self._text(path) if block.old is None else block.old
        return replace(block, path=path, old=old)

    def _text(self, path: str) -> str | None:
        for files in self._files:
            try:
                return files.read_now(path)
            except WorkspaceError:
                continue
        return None


def _same_path(tool: str, path: str) -> str | None:
    return path


def _open(folder: str) -> Files | None:
    try:
        return Files([folder], max_bytes=_MOST_OLD)
    except WorkspaceError:
        return None


def _diff_text(block: DiffBlock) -> str:
    old, new = (block.old or "").splitlines(), (block.new or "").splitlines()
    lines = list(difflib.unified_diff(old, new, block.path, block.path, lineterm="", n=10_000))
    return "\n".join(["```diff", *(lines or [block.path]), "```"])
