"""Finds files of ours that a command names. In doubt one counts as named: then a person is asked.

It is a guard rail and not a sandbox: a script, a variable or a pattern can reach a file without its name.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase

from trunkline.own_files import OwnFile, own_files
from trunkline.workspace.patterns import SHELL, fold

_OURS = ("trunkline.toml", ".trunkline")
_INSIDE = re.compile(r"[=:,'\"@]+")


def own_file_in(command: Sequence[str] | str, cwd: str | None) -> str | None:
    """Say which file of ours a command names; None for none.

    By its path, by the folder it is in where the session is not inside that, or, where the file is in the
    session's folder, by its bare name.
    """
    known = [(own, cwd is not None and _is_below(own.path, cwd)) for own in own_files()]
    for word in _words(command):
        names = fold(word).split("/")
        for own, near in known:
            if _leads_to(word, own, cwd) or (near and _may_be(names[-1], os.path.basename(own.path))):
                return f"{own.what} ({own.path})"
        for ours in _OURS:
            if any(name == ours for name in names):
                return f"the settings of Trunkline ({ours})"
    return None


def _words(command: Sequence[str] | str) -> Iterator[str]:
    """The words of a command, and what stands in them behind ``=`` and the like."""
    if isinstance(command, str):
        words = [word for piece in SHELL.split(command) for word in _split(piece)]
    else:
        # A word may itself be a line for a shell.
        words = [part for word in command for part in (word, *_words_in(word))]
    for word in words:
        yield word
        yield from (piece for piece in _INSIDE.split(word) if piece not in ("", word))


def _words_in(word: str) -> Iterator[str]:
    if " " in word or SHELL.search(word):
        for piece in SHELL.split(word):
            yield from _split(piece)


def _split(piece: str) -> list[str]:
    try:
        return shlex.split(piece)
    except ValueError:
        return piece.replace('"', " ").replace("'", " ").split()


def _leads_to(word: str, own: OwnFile, cwd: str | None) -> bool:
    path = os.path.join(cwd or "/", os.path.expanduser(word))
    folder = os.path.dirname(own.path)
    try:
        forms = (os.path.abspath(path), os.path.realpath(path))
    except ValueError:
        return False  # A NUL or half a character: no file has such a name.
    for form in forms if word else ():
        if own.includes(form) or (form == folder != "/" and not (cwd and _is_below(cwd, folder))):
            return True
    return False


def _is_below(path: str, folder: str) -> bool:
    return path == folder or path.startswith(f"{folder.rstrip('/')}/")


def _may_be(name: str, own: str) -> bool:
    """Whether a shell could take a word's last name for one of ours; a star alone is no name."""
    wanted = fold(own)
    return (
        name == wanted
        or name.startswith(f"{wanted}-")
        or (bool(name.strip("*?.")) and fnmatchcase(wanted, name))
    )
