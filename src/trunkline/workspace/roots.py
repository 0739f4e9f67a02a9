"""The folders a session may touch, and the only way into them.

A path is judged lexically first (``..`` included) and then walked name by name from ``/``, each step
relative to the folder opened before it and refusing links. So there is no moment between a check and
a use, and nothing to gain from swapping a folder for a link meanwhile. The root itself may be given
through links: they are resolved once, when the session starts, and not again.

All of it needs POSIX (openat and O_NOFOLLOW).

A hard link is the file itself and cannot be told from it. Reading one is reading what whoever made
the link could read; writing replaces the name and leaves the other names' content alone.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Generator, Iterable
from contextlib import contextmanager, suppress
from typing import NamedTuple, NoReturn

from trunkline.errors import ConfigurationError, NotAFile, OutsideRoots, TooLarge, WorkspaceError
from trunkline.workspace.path_errors import describe

StrPath = str | os.PathLike[str]

MAX_ROOTS = 32
MAX_PATH = 4096

# O_PATH asks for the right to pass through a folder, not to list it: /home is often mode 711.
_STEP = getattr(os, "O_PATH", 0) | os.O_DIRECTORY | os.O_NOFOLLOW
SAFE = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY
"""How the last name is opened: no link, no waiting for a pipe's other end, no controlling terminal."""


class Place(NamedTuple):
    """A path inside a root: the names of the real root, and the names below it."""

    root: tuple[str, ...]
    below: tuple[str, ...]

    @property
    def path(self) -> str:
        """The absolute path."""
        return "/" + "/".join(self.root + self.below)

    @property
    def name(self) -> str:
        """The last name; a dot for the root itself."""
        return self.below[-1] if self.below else "."

    @property
    def parent(self) -> Place:
        """The folder it lies in."""
        return Place(self.root, self.below[:-1])


class Roots:
    """A session's folders; the first one is where relative paths begin."""

    def __init__(self, folders: Iterable[StrPath]) -> None:
        given = [os.path.abspath(folder) for folder in folders]
        if len(given) > MAX_ROOTS:
            raise WorkspaceError(
                f"{len(given)} folders are too many for one session: give at most {MAX_ROOTS}"
            )
        self.folders = tuple(_resolve(folder) for folder in given)
        # An editor names files through the folder as it was opened, which may be a link.
        self._doors = [
            (names, _names(real))
            for folder, real in zip(given, self.folders, strict=True)
            for names in {_names(folder), _names(real)}
        ]

    def locate(self, path: StrPath, *, folder: bool = False) -> Place:
        """Judge a path by its letters; only a ``folder`` may end in a slash or a dot."""
        text = os.fspath(path)
        if not self.folders:
            raise OutsideRoots(
                "this session has no folder, so no path can be reached: start it with a cwd "
                "(in web pages: `trunkline serve --cwd FOLDER`)"
            )
        _check(text, folder=folder)
        names = _names(text if text.startswith("/") else f"{self.folders[0]}/{text}")
        doors = [door for door in self._doors if names[: len(door[0])] == door[0]]
        if not doors:
            allowed = ", ".join(self.folders)
            raise OutsideRoots(f"{text!r} is outside this session's folders: use a path inside {allowed}")
        entry, root = max(doors, key=lambda door: len(door[0]))
        return Place(root, names[len(entry) :])

    def look(self, place: Place) -> os.stat_result | None:
        """Say what is there, for somebody who opens it by its name; None for nothing, a link is refused.

        Whoever opens it later may find something else. What we open ourselves goes through ``enter``.
        """
        try:
            with self.enter(place.parent) as folder:
                found = os.stat(place.name, dir_fd=folder, follow_symlinks=False)
        except FileNotFoundError:
            return None
        if stat.S_ISLNK(found.st_mode):
            raise NotAFile(f"{place.name!r} is {describe(found.st_mode)}")
        return found

    @contextmanager
    def enter(self, place: Place, *, create: bool = False) -> Generator[int]:
        """Walk to a folder and give its descriptor; ``create`` makes what is missing below the root."""
        fd = os.open("/", _STEP)
        try:
            for depth, name in enumerate(place.root + place.below):
                child = _step(fd, name, create=create and depth >= len(place.root))
                os.close(fd)
                fd = child
            yield fd
        finally:
            os.close(fd)


def _resolve(folder: str) -> str:
    real = os.path.realpath(folder)
    if not os.path.isdir(real):
        raise WorkspaceError(f"{folder!r} is not a folder: create it, or start the session somewhere else")
    return real


def _check(text: str, *, folder: bool) -> None:
    """Refuse what is no path at all."""
    if not text:
        raise WorkspaceError("the path is empty: name a file")
    if "\0" in text:
        raise WorkspaceError(f"{text[:80]!r} contains a NUL character, which no path can")
    try:
        size = len(os.fsencode(text))
    except UnicodeEncodeError:
        raise WorkspaceError(f"{text[:80]!r} contains characters that no file name can have") from None
    if size > MAX_PATH:
        raise TooLarge(f"a path of {size} bytes is too long: the limit is {MAX_PATH}")
    if not folder and text.rsplit("/", 1)[-1] in ("", ".", ".."):
        raise NotAFile(f"{text!r} names a folder: name a file, without a slash or dots at the end")


def _names(path: str) -> tuple[str, ...]:
    """The names of an absolute path, with dots resolved by their letters."""
    names: list[str] = []
    for name in path.split("/"):
        if name == "..":
            del names[-1:]
        elif name not in ("", "."):
            names.append(name)
    return tuple(names)


def _step(fd: int, name: str, *, create: bool) -> int:
    try:
        return os.open(name, _STEP, dir_fd=fd)
    except FileNotFoundError:
        if not create:
            raise
    except OSError as error:
        _refuse_step(fd, name, error)
    with suppress(FileExistsError):
        os.mkdir(name, dir_fd=fd)
    return _step(fd, name, create=False)


def _refuse_step(fd: int, name: str, error: OSError) -> NoReturn:
    if error.errno not in (errno.ENOTDIR, errno.ELOOP):
        raise error
    mode = os.stat(name, dir_fd=fd, follow_symlinks=False).st_mode
    what = "a file, not a folder" if stat.S_ISREG(mode) else describe(mode)
    raise NotAFile(f"{name!r} is {what}") from None


def existing_folder(path: StrPath) -> str:
    """Give the path of a folder that sessions are to have; refuse one that is relative or not there."""
    folder = os.fspath(path)
    if not os.path.isabs(folder) or not os.path.isdir(folder):
        raise ConfigurationError(f"{folder!r} is not the absolute path of a folder")
    return folder
