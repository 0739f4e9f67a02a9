"""Requests, and the rules that speak about them.

Rules that restrict are read widely and rules that allow narrowly:

=========  =============================================  ============================================
field      deny and ask                                   allow
=========  =============================================  ============================================
tool       in any case                                    in this case
path       any of the request's paths, at any depth, in   all of the request's paths, from the
           any case                                       session's folder on, in this case
command    what a command begins with, in any part of a   all words of a plain command (a last ``*``
           shell line, also behind ``sudo`` and the like  stands for any more), never a shell line,
                                                          nor words that give a shell one
=========  =============================================  ============================================
"""

from __future__ import annotations

import difflib
import glob
import shlex
from fnmatch import fnmatchcase
from typing import Any, Literal, get_args

import msgspec

from trunkline.errors import ConfigurationError
from trunkline.events import ToolKind
from trunkline.workspace.patterns import fold, path_matches, split_command, words_match
from trunkline.workspace.programs_in_commands import (
    LONGEST,
    hides_commands,
    is_shell_line,
    names_in,
    programs_of,
)

Decision = Literal["allow", "ask", "deny"]


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """What an agent wants to do.

    ``paths`` holds each path twice, as requested and as resolved, so that no link leads around a
    rule. ``cwd`` is the session's (resolved) folder, where relative paths and patterns begin.
    ``env`` names the variables that a command is to be given.
    """

    tool: str = ""
    kind: ToolKind = "other"
    paths: tuple[str, ...] = ()
    command: tuple[str, ...] | str | None = None
    cwd: str | None = None
    env: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Refuse a kind that no rule could name."""
        demand("kind", self.kind, get_args(ToolKind))

    @property
    def argv(self) -> tuple[str, ...] | None:
        """The command's words; None if there are none, or if it takes a shell to tell."""
        if isinstance(self.command, str):
            return split_command(self.command)
        return None if not self.command or is_shell_line(self.command) else self.command

    @property
    def opacity(self) -> str | None:
        """Why nobody can tell from the command's words what it runs; None if one can, or there is none."""
        if self.command is None:
            return None
        if sum(map(len, self.command)) > LONGEST:
            return "is too long to read"
        if self.argv is None:
            return "takes a shell to read"
        if self.env:
            return "is given variables"
        return "runs more than its words show" if hides_commands(self.command) else None


class Rule(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A decision about the requests that fit all of its fields; a field that is None fits all."""

    decision: Decision
    tool: str | None = None
    kind: ToolKind | tuple[ToolKind, ...] | None = None
    path: str | None = None
    command: str | tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        """Refuse a rule that could never mean what it says."""
        demand("decision", self.decision, get_args(Decision))
        for kind in self.kinds:
            demand("kind", kind, get_args(ToolKind))
        for field in ("tool", "kind", "path", "command"):
            if getattr(self, field) in ("", ()):
                raise ConfigurationError(f"a rule's {field} is empty: leave it out to fit every {field}")
        if self.path is not None and {"~", ".", ".."} & set(self.path.split("/")):
            raise ConfigurationError(
                f"the path {self.path!r} of a rule is never reached: write it without ~, . and .. "
                "(src/** begins in the session's folder, **/.ssh/** holds anywhere)"
            )
        if self.command is not None and not self.words:
            raise ConfigurationError(
                f"the command {self.command!r} of a rule is not a line of plain words: "
                "write one rule for each command, as in 'git status *'"
            )

    @property
    def kinds(self) -> tuple[ToolKind, ...]:
        """The kinds it is for; none for all."""
        return (self.kind,) if isinstance(self.kind, str) else self.kind or ()

    @property
    def words(self) -> tuple[str, ...]:
        """The pattern of the command, word by word."""
        return (split_command(self.command) or ()) if isinstance(self.command, str) else self.command or ()

    def fits(self, request: Request) -> bool:
        """Whether the rule speaks about this request."""
        return self.concerns(request) and (self.command is None or self._fits_command(request))

    def concerns(self, request: Request) -> bool:
        """Whether all but the command fits."""
        if self.kinds and request.kind not in self.kinds:
            return False
        if self.decision == "allow":
            return (self.tool is None or fnmatchcase(request.tool, self.tool)) and (
                self.path is None or _fits_narrowly(self.path, request)
            )
        return (self.tool is None or fnmatchcase(fold(request.tool), fold(self.tool))) and (
            self.path is None or _fits_widely(self.path, request)
        )

    def _fits_command(self, request: Request) -> bool:
        if request.command is None:
            return False
        if self.decision == "allow":
            # A variable (PATH, LD_PRELOAD, GIT_SSH_COMMAND) makes another command of the same words.
            return not request.env and request.argv is not None and words_match(self.words, request.argv)
        words = [fold(word) for word in self.words]
        if words == ["*"]:
            return True
        return any(
            words_match(words, [fold(word) for word in part[: len(words)]], prefix=True)
            for part in programs_of(request.command)
        )

    @property
    def restricts_commands(self) -> bool:
        """Whether it denies some commands, or asks about them."""
        return self.decision != "allow" and self.command is not None

    def is_hinted_at(self, request: Request) -> bool:
        """Whether the command that this rule restricts is named anywhere in a request's command."""
        wanted = [fold(word) for word in self.words if word.strip("*?") and not word.startswith("-")]
        return bool(wanted) and request.argv is not None and names_in(request.argv, wanted)

    @property
    def names_a_program(self) -> bool:
        """Whether it is for commands of a certain program."""
        return bool(self.words) and bool(self.words[0].strip("*?"))

    def __str__(self) -> str:
        fields = {
            "tool": self.tool,
            "kind": " or ".join(self.kinds),
            "path": self.path,
            "command": self.command,
        }
        if isinstance(self.command, tuple):
            fields["command"] = shlex.join(self.command)
        parts = [f"{name} {value}" for name, value in fields.items() if value]
        return f"{self.decision} {', '.join(parts) or 'everything'}"


def demand(what: str, value: Any, legal: tuple[str, ...]) -> None:
    """Refuse a word that is not one of the legal ones, and list those; a near one is named first."""
    if value not in legal:
        near = difflib.get_close_matches(str(value).lower(), legal, n=1)
        hint = f" (did you mean {near[0]!r}?)" if near else ""
        raise ConfigurationError(f"{value!r} is not a {what}{hint}: choose one of {', '.join(legal)}")


def _fits_narrowly(pattern: str, request: Request) -> bool:
    if request.cwd is not None and not pattern.startswith("/"):
        pattern = f"{glob.escape(request.cwd)}/{pattern}"
    settled = [_settle(path, request.cwd) for path in request.paths]
    return bool(settled) and all(
        path is not None and path.startswith("/") == pattern.startswith("/") and path_matches(pattern, path)
        for path in settled
    )


def _fits_widely(pattern: str, request: Request) -> bool:
    pattern = fold(pattern if pattern.startswith("/") else f"**/{pattern}")
    forms = {form for path in request.paths for form in (path, _settle(path, request.cwd)) if form}
    return any(path_matches(pattern, fold(form)) for form in forms)


def _settle(path: str, cwd: str | None) -> str | None:
    """Resolve a path by its letters; None if it is no path, or climbs out of what is known."""
    if not path or "\0" in path:
        return None
    if cwd is not None and not path.startswith("/"):
        path = f"{cwd}/{path}"
    names: list[str] = []
    for name in path.split("/"):
        if name == ".." and names:
            names.pop()
        elif name == ".." and not path.startswith("/"):
            return None
        elif name not in ("", ".", ".."):
            names.append(name)
    return "/" * path.startswith("/") + "/".join(names)
