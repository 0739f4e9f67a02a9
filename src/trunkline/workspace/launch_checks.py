"""What is checked before a command is started, by us or by an editor."""

from __future__ import annotations

import stat
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from trunkline.errors import NotAFile, WorkspaceError
from trunkline.transports.process.environment import scrub
from trunkline.workspace.path_errors import explained
from trunkline.workspace.roots import Place, Roots, StrPath

MAX_TERMINALS = 16
OUTPUT_BYTE_LIMIT = 1024 * 1024
_SHELL = ("/bin/sh", "-c")


class Launch(NamedTuple):
    """A command that may be started as far as its words, its folder and its variables go."""

    argv: tuple[str, ...]
    place: Place
    env: dict[str, str]
    """The variables it was given, without ours."""
    output_byte_limit: int
    line: str | None = None
    """The line that ``argv`` gives to a shell; None for a command that was given as words."""

    @property
    def command(self) -> tuple[str, ...] | str:
        """The command as it was given, which a policy judges."""
        return self.argv if self.line is None else self.line


class LaunchChecks:
    """The checks of a session's commands; whether one may run at all is for the policy to say."""

    def __init__(
        self,
        folders: Iterable[StrPath],
        *,
        max_terminals: int = MAX_TERMINALS,
        output_byte_limit: int = OUTPUT_BYTE_LIMIT,
    ) -> None:
        self.roots = Roots(folders)
        self._max_terminals = max_terminals
        self._output_byte_limit = output_byte_limit

    def judge(
        self,
        argv: Sequence[str],
        cwd: StrPath | None,
        env: Mapping[str, str] | None,
        output_byte_limit: int | None,
        *,
        opened: int,
    ) -> Launch:
        """Refuse what may not be started next to ``opened`` other terminals."""
        _check_argv(argv)
        if opened >= self._max_terminals:
            raise WorkspaceError(f"{opened} terminals are open, which is the limit: release one first")
        place = self.roots.locate("." if cwd is None else cwd, folder=True)
        keep = self._output_byte_limit
        if output_byte_limit is not None:
            keep = max(0, min(output_byte_limit, keep))
        given = scrub(env or {}, "*")
        _check_text(argv, given)
        return Launch(tuple(argv), place, given, keep)

    def judge_line(
        self,
        line: str,
        cwd: StrPath | None,
        env: Mapping[str, str] | None,
        output_byte_limit: int | None,
        *,
        opened: int,
    ) -> Launch:
        """Refuse a line for a shell that may not be started."""
        if not line.strip():
            raise WorkspaceError("the command is empty: give a line for the shell, as in 'make test'")
        launch = self.judge((*_SHELL, line), cwd, env, output_byte_limit, opened=opened)
        return launch._replace(line=line)

    def check_folder(self, place: Place) -> None:
        """Refuse a folder that a link or a file stands for; one that is not there is not ours to judge."""
        with explained(place.path):
            found = self.roots.look(place)
        if found is not None and not stat.S_ISDIR(found.st_mode):
            raise NotAFile(f"{place.path!r} is not a folder")


def _check_argv(argv: Sequence[str]) -> None:
    if isinstance(argv, str):
        raise WorkspaceError(
            f"a command is a list of words, not the line {argv[:80]!r}: there is no shell to split it; "
            "give the program and each argument on its own"
        )
    if not argv or not argv[0]:
        raise WorkspaceError(
            "a command is a list of words that begins with a program's name: give at least that"
        )


def _check_text(argv: Sequence[str], env: Mapping[str, str]) -> None:
    """Refuse what no system can pass to a program."""
    program = str(argv[0])[:200]
    advice = "remove that from its words and its environment"
    for text in (*argv, *env, *env.values()):
        if not isinstance(text, str):  # pyright: ignore[reportUnnecessaryIsInstance]
            kind = type(text).__name__
            raise WorkspaceError(f"{program!r} cannot be started: a word is text, not {kind}; {advice}")
        if "\0" in text:
            raise WorkspaceError(f"{program!r} cannot be started: embedded null byte; {advice}")
    if any(not name or "=" in name for name in env):
        raise WorkspaceError(f"{program!r} cannot be started: illegal environment variable name; {advice}")
