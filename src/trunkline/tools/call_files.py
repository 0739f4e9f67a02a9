"""Where the files of a call are on this machine, and what a call is about to overwrite; pure."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from trunkline import events as ev
from trunkline.content import Content, DiffBlock, TextBlock
from trunkline.tools.naming import locations_of
from trunkline.workspace.call_paths import paths_of
from trunkline.workspace.diffs import diff_of

DiskPath = Callable[[str, str], str | None]
"""The path on this machine for a tool's name and a path that its call names; None if it is on no disk."""

ReadText = Callable[[str], str | None]
"""The text of a file now; None if it cannot be read, or the agent itself may not read it."""


class CallFiles:
    """The files of an agent's calls, in one session.

    Some tools name paths of a virtual file system: ``disk_path`` says where these are. A client gets the
    real path, because it opens it; what is on no disk is shown as text.
    """

    def __init__(self, read_text: ReadText | None = None, disk_path: DiskPath | None = None) -> None:
        """``read_text`` gives the old text of files (see ``folder_reader``); without it, none is shown."""
        self._read_text = read_text or _no_text
        self._disk_path = disk_path or _same_path

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
            return TextBlock(text=diff_text(block))
        old = self._read_text(path) if block.old is None else block.old
        return replace(block, path=path, old=old)


def _same_path(tool: str, path: str) -> str | None:
    return path


def _no_text(path: str) -> str | None:
    return None


def diff_text(block: DiffBlock) -> str:
    """Write a change of a file as text."""
    old, new = (block.old or "").splitlines(), (block.new or "").splitlines()
    lines = list(difflib.unified_diff(old, new, block.path, block.path, lineterm="", n=10_000))
    return "\n".join(["```diff", *(lines or [block.path]), "```"])
