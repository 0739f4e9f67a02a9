"""The files that this process obeys or keeps secrets in: no agent of it may change them.

A policy file, a journal, a file of tokens or of "always" answers may lie anywhere, also in the folder of a
session. Whoever opens one says so here; the workspace refuses writes to it, and reads if it holds secrets.
"""

from __future__ import annotations

import os
import threading
from os import PathLike

__all__ = ["OwnFile", "own_file", "own_files", "protect_own_file"]


class OwnFile:
    """One file of ours, and those beside it that begin with its name (``journal.db-wal``); or a folder."""

    def __init__(self, path: str, what: str, secret: bool, folder: bool = False) -> None:
        self.path = path
        self.what = what
        """What it is, as in "the policy"."""
        self.secret = secret
        """Whether an agent may not read it either."""
        ends = (os.sep,) if folder else ("-", ".")
        self._beginnings = tuple(f"{path}{end}" for end in ends)

    def includes(self, path: str) -> bool:
        """Whether a path is this file or one beside it; or this folder, or one in it."""
        return path == self.path or path.startswith(self._beginnings)


_lock = threading.Lock()
_known: dict[str, OwnFile] = {}


def protect_own_file(
    path: str | PathLike[str], what: str, *, secret: bool = False, folder: bool = False
) -> None:
    """Protect a file, or a folder, from the agents of this process, as it is named and where it leads."""
    absolute = os.path.abspath(os.path.expanduser(str(path)))
    with _lock:
        for form in {absolute, os.path.realpath(absolute)}:
            _known[form] = OwnFile(form, what, secret or (form in _known and _known[form].secret), folder)


def own_files() -> list[OwnFile]:
    """Give all files that are protected."""
    with _lock:
        return list(_known.values())


def own_file(path: str) -> OwnFile | None:
    """Give the file of ours that an absolute path names; None for any other."""
    return next((known for known in own_files() if known.includes(path)), None)
