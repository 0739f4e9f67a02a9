"""Patterns for paths and command lines, in a wide and a narrow reading.

What restricts is read *widely* (any depth, any case, any part of a shell line), what permits is read
*narrowly* (from the session's folder, exact case, exactly these words): when a pattern and a request
can be understood in two ways, the safer one counts. Nothing here touches a file.
"""

from __future__ import annotations

import re
import shlex
import unicodedata
from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase

# Whatever a shell would act on. Quotes are not understood on purpose: `grep 'a|b'` asks once too
# often, which is better than a clever parser that is wrong once.
SHELL = re.compile(r"[;&|<>`$(){}\n\r\0]|(?:^|\s)#")


_MAGIC = re.compile(r"[*?\[]")


def fold(text: str) -> str:
    """Give the form in which two names are the same on a file system that ignores case."""
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())


def path_matches(pattern: str, path: str) -> bool:
    """Whether a path fits: ``*`` stays inside one name, ``**`` is any number of names, also none."""
    wanted = [name for name in pattern.split("/") if name]
    names = [name for name in path.split("/") if name]
    if not {name for name in wanted if not _MAGIC.search(name)}.issubset(names):
        return False  # Most patterns name something that is not there.
    places = _skip_stars({0}, wanted)
    for name in names:
        stay = {at for at in places if at < len(wanted) and wanted[at] == "**"}
        move = {at + 1 for at in places - stay if at < len(wanted) and fnmatchcase(name, wanted[at])}
        places = _skip_stars(stay | move, wanted)
    return len(wanted) in places


def _skip_stars(places: Iterable[int], wanted: Sequence[str]) -> set[int]:
    reached: set[int] = set()
    for at in places:
        reached.add(at)
        while at < len(wanted) and wanted[at] == "**":
            at += 1
            reached.add(at)
    return reached


def words_match(pattern: Sequence[str], argv: Sequence[str], *, prefix: bool = False) -> bool:
    """Whether an argv fits word by word; a last ``*`` (or ``prefix``) lets any more words follow."""
    if pattern and pattern[-1] == "*":
        pattern, prefix = pattern[:-1], True
    if len(argv) < len(pattern) or (len(argv) > len(pattern) and not prefix):
        return False
    return all(fnmatchcase(word, wanted) for word, wanted in zip(argv, pattern, strict=False))


def split_command(command: str) -> tuple[str, ...] | None:
    """Give the argv of a plain command line; None when a shell could make anything else of it."""
    if SHELL.search(command):
        return None
    try:
        return tuple(shlex.split(command)) or None
    except ValueError:
        return None
