"""Reading a command: which programs it may run, and whether that can be told at all.

For rules that restrict, so everything is read widely. It is a guard rail and not a sandbox: what a
program does, and what a script or an alias contains, is beyond any reader of words.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator, Sequence
from fnmatch import fnmatchcase

from trunkline.workspace.patterns import SHELL, fold
from trunkline.workspace.runners import CODE, LINE_READERS, RUNNER_WORDS, RUNNERS, SHELLS

LONGEST = 64 * 1024
"""Characters of a command that are read; a longer one cannot be told."""


_ASSIGNMENT = re.compile(r"\w+\+?=")
_OPTION = re.compile(r"--[\w-]+=|-\w")
_VERSION = re.compile(r"(?:[-.]?\d[\d.]*)?(?:\.exe)?$")
_PIECES = re.compile(r"[^\w.+-]+")
_GLOB = re.compile(r"[*?]|\[.+\]|^=")
_WINDOW = 32


def programs_of(command: str | Sequence[str]) -> Iterator[Sequence[str]]:
    """Give every argv that a command may run, as well as can be told without a shell."""
    if not isinstance(command, str):
        yield from _runs(command)
        return
    for words in _pieces(command):
        yield from _runs(words)


def is_shell_line(words: Sequence[str]) -> bool:
    """Whether these words give a shell a line that only a shell can read, as ``bash -c 'a; b'`` does."""
    runs = bool(words) and _name(words[0]) in RUNNERS
    for at, word in enumerate(words):
        name = _name(word)
        if name in SHELLS or ((runs or not at) and name in LINE_READERS):
            return any(SHELL.search(line) or _is_open(line) for line in words[at + 1 :])
    return False


def hides_commands(command: str | Sequence[str]) -> bool:
    """Whether a command that needs no shell can run what its words do not show.

    So do code in an argument, a variable before a program, and a program's name with a pattern in it.
    """
    pieces = list(_pieces(command)) if isinstance(command, str) else [command]
    for words in pieces:
        if words and (_ASSIGNMENT.match(words[0]) or (isinstance(command, str) and _GLOB.search(words[0]))):
            return True
        if any(_takes_code(argv) for argv in _runs(words)):
            return True
    return False


def names_in(command: Sequence[str], wanted: Iterable[str]) -> bool:
    """Whether these names stand in a command in this order, anywhere, also inside its words."""
    found = _texts(command)
    return all(any(fnmatchcase(text, want) or _may_become(text, want) for text in found) for want in wanted)


def _texts(command: Sequence[str]) -> Iterator[str]:
    """Every word of a command and every piece of a word, in order and in one case."""
    for word in command:
        folded = fold(word)
        yield from {folded: None, folded.rsplit("/", 1)[-1]: None}
        yield from (piece for piece in _PIECES.split(folded) if piece not in ("", folded))


def _may_become(text: str, wanted: str) -> bool:
    """Whether a shell could make this name of a pattern, as ``rm`` of ``r?``; of a star it could make any."""
    return bool(_GLOB.search(text)) and text.strip("*?") != "" and fnmatchcase(wanted, text)


def _pieces(line: str) -> Iterator[list[str]]:
    """The words between what a shell would act on."""
    for piece in SHELL.split(line):
        try:
            yield shlex.split(piece)
        except ValueError:
            yield piece.replace('"', " ").replace("'", " ").split()


def _is_open(line: str) -> bool:
    try:
        shlex.split(line)
    except ValueError:
        return True
    return False


def _name(word: str) -> str:
    """A program's bare name: no folder, no version, no case."""
    bare = fold(word.rsplit("/", 1)[-1])
    return bare if bare in RUNNERS or bare in CODE else _VERSION.sub("", bare, count=1)


def _runs(argv: Sequence[str]) -> Iterator[Sequence[str]]:
    """An argv without leading assignments, by its program's bare name, and whatever that runs."""
    start = next((at for at, word in enumerate(argv) if not _ASSIGNMENT.match(word)), len(argv))
    argv = argv[start:]
    if not argv:
        return
    yield argv
    yield (argv[0].rsplit("/", 1)[-1], *argv[1:])
    first = _first_run(argv)
    if first is None:
        return
    for at in range(first, len(argv)):
        word = argv[at]
        # A short window: as many words as a pattern has, however many an agent piles up.
        behind = argv[at + 1 : at + _WINDOW]
        option = _OPTION.match(word)
        for text in {word, word[option.end() :] if option else word} - {""}:
            yield (text.rsplit("/", 1)[-1], *behind)
            if " " in text or SHELL.search(text):
                yield from programs_of(text)


def _first_run(argv: Sequence[str]) -> int | None:
    """Where the words begin that a program runs; None if it runs none."""
    name = _name(argv[0])
    if name in RUNNERS or name.startswith(("ld-linux", "ld-musl")):
        return 1
    words = RUNNER_WORDS.get(name, frozenset())
    return next((at + 1 for at, word in enumerate(argv) if at and fold(word) in words), None)


def _takes_code(argv: Sequence[str]) -> bool:
    letters, words = CODE.get(_name(argv[0]), ("", frozenset[str]()))
    if not letters and not words:
        return False
    option = re.compile(rf"-(?!-)\w*[{letters}]") if letters else None
    return any(
        (option is not None and option.match(word)) or any(fnmatchcase(fold(word), want) for want in words)
        for word in argv[1:]
    )
