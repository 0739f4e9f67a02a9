"""The names of files in a session's folders, for completion behind an @: bounded, and no link is followed."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterator, Sequence

from trunkline.errors import WorkspaceError
from trunkline.workspace.roots import Place, Roots

__all__ = ["find_file_names"]

_MOST_ENTRIES = 5000
"""Entries of folders that are looked at in one search."""
_DEEPEST = 8
_SKIPPED = frozenset({"node_modules", "__pycache__", "venv", "target", "dist"})


def find_file_names(folders: Sequence[str], typed: str, *, limit: int = 100) -> list[str]:
    """Give the files and folders whose path has what was typed, in any case; near ones first.

    Those of the first folder are relative to it, the others absolute; a folder ends in a slash. Hidden ones
    are left out unless what was typed begins with a dot, and so are folders of dependencies.
    """
    wanted, found = typed.casefold(), list[str]()
    try:
        roots = Roots(folders)
    except (OSError, WorkspaceError):
        return []
    left = _MOST_ENTRIES
    for number, folder in enumerate(roots.folders):
        for path in _walk(roots, folder, shows_hidden=typed.startswith(".")):
            left -= 1
            if left < 0:
                break
            name = path if number == 0 else f"{folder}/{path}"
            if wanted in name.casefold():
                found.append(name)
    found.sort(key=lambda name: (not name.casefold().startswith(wanted), name.rstrip("/").count("/"), name))
    return list(dict.fromkeys(found))[: max(0, limit)]


def _walk(roots: Roots, folder: str, *, shows_hidden: bool) -> Iterator[str]:
    """Give the paths below a folder, level by level."""
    root = roots.locate(folder, folder=True)
    waiting = deque([root])
    while waiting:
        place = waiting.popleft()
        for name, is_folder in _entries(roots, place):
            if name in _SKIPPED or (name.startswith(".") and not shows_hidden) or not name.isprintable():
                continue
            below = (*place.below, name)
            path = "/".join(below[len(root.below) :])
            yield f"{path}/" if is_folder else path
            if is_folder and len(below) - len(root.below) < _DEEPEST:
                waiting.append(Place(place.root, below))


def _entries(roots: Roots, place: Place) -> list[tuple[str, bool]]:
    """Give the regular files and the folders in a folder; what cannot be read has none."""
    found: list[tuple[str, bool]] = []
    try:
        # Entered step by step: a folder that was replaced by a link meanwhile is not followed.
        with roots.enter(place) as entered:
            listing = os.open(".", os.O_RDONLY | os.O_DIRECTORY, dir_fd=entered)
            try:
                with os.scandir(listing) as entries:
                    for entry in entries:
                        if len(found) >= _MOST_ENTRIES:
                            break
                        is_folder = entry.is_dir(follow_symlinks=False)
                        if is_folder or entry.is_file(follow_symlinks=False):
                            found.append((entry.name, is_folder))
            finally:
                os.close(listing)
    except (OSError, WorkspaceError):
        return []
    return sorted(found)
