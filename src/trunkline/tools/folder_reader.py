"""Reads the text of files in some folders only, for what a call is about to overwrite."""

from __future__ import annotations

from collections.abc import Iterable

from trunkline.errors import WorkspaceError
from trunkline.tools.call_files import ReadText
from trunkline.workspace import Files

_MOST_BYTES = 1 << 20
"""How long the text of a file may be that is shown as overwritten."""


def folder_reader(folders: Iterable[str | None]) -> ReadText:
    """Read in these folders only: never a file that the agent itself may not read."""
    opened = [files for folder in {*folders} if folder and (files := _open(folder)) is not None]

    def read_text(path: str) -> str | None:
        for files in opened:
            try:
                return files.read_now(path)
            except WorkspaceError:
                continue
        return None

    return read_text


def _open(folder: str) -> Files | None:
    try:
        return Files([folder], max_bytes=_MOST_BYTES)
    except WorkspaceError:
        return None
