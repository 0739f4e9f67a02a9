"""What an "always" covers: the one rule by which an answer for good is found again.

It is for a tool of one kind. Where the tool runs a command it is for less:

* a program with subcommands and its subcommand, as in ``git status``, whatever follows;
* a program that only looks, as ``ls``, whatever follows;
* any other command, every line that takes a shell to read, one with variables, one that runs in another
  folder, and one with an option that runs another command (``git fetch --upload-pack``): exactly that.

A tool that executes something which is no command is covered for exactly the same arguments.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from typing import Any, cast

import msgspec

from trunkline.questions import Coverage
from trunkline.workspace.patterns import split_command
from trunkline.workspace.programs_in_commands import hides_commands


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


_SUBCOMMAND = re.compile(r"[a-z][a-z0-9-]*")
# Their first word says what they do. Whatever is not listed is remembered by its whole line.
_WITH_SUBCOMMANDS = _names(
    "apt apt-get brew bundle cargo composer dnf docker dotnet gem git go gradle helm hg kubectl mvn npm "
    "pip pip3 pnpm podman poetry rustup svn systemctl terraform uv yarn"
)
# These run or define other commands, or have subcommands of their own.
_ANYTHING = _names(
    "alias bisect cache compose config container cp debug difftool dlx env eval exec filter-branch generate "
    "image mergetool network pip plugin proxy rebase remote repo run run-script self set shell ssh start "
    "stash state submodule system task tool toolchain volume workspace workspaces worktree x"
)
# None of their options writes, runs or sends anything.
_LOOKS = _names(
    "basename cat cksum cmp cut df diff dirname du echo egrep fgrep grep head id ls md5sum nl od pwd "
    "readlink realpath sha1sum sha256sum stat tac tail tr type uname wc which whoami"
)
_COMMAND_KEYS = ("command", "cmd")
# What the text editor of Anthropic's models, which OpenHands and others have too, is told in "command".
_EDITOR_WORDS = frozenset({"view", "create", "str_replace", "insert", "undo_edit"})
_WORD_KEYS = ("args", "arguments", "argv")
# What else makes another command of the same words: where it runs, and what it reads.
_FOLDER_KEYS = ("cwd", "workdir", "working_dir", "working_directory", "directory", "dir")
_PLACE_KEYS = (*_FOLDER_KEYS, "stdin", "input")
_VARIABLE_KEYS = ("env", "environment", "env_vars")


def command_in(input: Any) -> tuple[str, ...] | str | None:
    """The command among a call's arguments, a line or a list of words; None when there is none.

    Words that are given apart from their program (``args``) belong to it.
    """
    if not isinstance(input, dict):
        return None
    arguments = cast("dict[str, Any]", input)
    more: Any = next((arguments[key] for key in _WORD_KEYS if arguments.get(key)), ())
    for key in _COMMAND_KEYS:
        given: Any = arguments.get(key)
        if isinstance(given, str) and given in _EDITOR_WORDS and isinstance(arguments.get("path"), str):
            continue
        if isinstance(given, str):
            return _with_words(given, more)
        words = _words(given)
        if words is not None:
            return (*words, *(_words(more) or ((str(more),) if more else ())))
    return None


def _words(given: Any) -> tuple[str, ...] | None:
    if not isinstance(given, list | tuple):
        return None
    words = tuple(cast("Sequence[Any]", given))
    return words if all(isinstance(word, str) for word in words) else None


def _with_words(program: str, more: Any) -> tuple[str, ...] | str:
    """A program with its words; a line where somebody may read it as one."""
    words = _words(more)
    if not more:
        return program
    if words is not None and split_command(program) == (program,):
        return (program, *words)
    return f"{program} {more if words is None else ' '.join(words)}"


def variables_in(input: Any) -> dict[str, str]:
    """The variables for a command among a call's arguments."""
    found: dict[str, str] = {}
    for key in _VARIABLE_KEYS if isinstance(input, dict) else ():
        given: Any = cast("dict[str, Any]", input).get(key)
        entries: Sequence[Any] = cast("Sequence[Any]", given) if isinstance(given, list | tuple) else ()
        if isinstance(given, dict):
            found.update((str(name), str(value)) for name, value in cast("dict[Any, Any]", given).items())
        for entry in entries:
            pair = cast("dict[str, Any]", entry) if isinstance(entry, dict) else {}
            name, _, value = str(cast("object", entry)).partition("=")
            found[str(pair.get("name", name))] = str(pair.get("value", value))
    return found


def folder_in(input: Any) -> str | None:
    """The folder that a command runs in, among a call's arguments."""
    arguments = cast("dict[str, Any]", input) if isinstance(input, dict) else {}
    return next((arguments[key] for key in _FOLDER_KEYS if isinstance(arguments.get(key), str)), None)


def coverage_of(
    tool: str,
    kind: str,
    input: Any = None,
    command: Sequence[str] | str | None = None,
    env: Mapping[str, str] | None = None,
    cwd: str | None = None,
) -> Coverage | None:
    """Say what an "always" about this call covers; None for one about no tool, which is not kept.

    ``cwd`` is the folder of a command that does not run in the session's.
    """
    if not tool:
        return None
    line = command_in(input) if command is None else command
    if line is None:
        return Coverage(tool=tool, kind=kind, digest=_digest(input) if kind == "execute" else None)
    argv = split_command(line) if isinstance(line, str) else tuple(line)
    words = _head(argv or ())
    variables = {**variables_in(input), **(env or {})}
    given = cast("dict[str, Any]", input) if isinstance(input, dict) else {}
    places = {key: given[key] for key in _PLACE_KEYS if given.get(key)}
    if cwd is not None:
        places["cwd"] = cwd
    if words and not variables and not places and not hides_commands(line):
        return Coverage(tool=tool, kind=kind, words=words)
    exactly: Any = line if isinstance(line, str) else list(line)
    if variables or places:
        exactly = [exactly, variables, places] if places else [exactly, variables]
    return Coverage(tool=tool, kind=kind, digest=_digest(exactly))


def _head(argv: tuple[str, ...]) -> tuple[str, ...]:
    """The words that say what a command does; none when only the whole line does."""
    if not argv:
        return ()
    if argv[0] in _LOOKS:
        return argv[:1]
    # An option before the subcommand may change what it is, or take the word behind it.
    if argv[0] not in _WITH_SUBCOMMANDS or len(argv) < 2 or not _SUBCOMMAND.fullmatch(argv[1]):
        return ()
    return () if argv[1] in _ANYTHING else argv[:2]


def _digest(value: Any) -> str:
    text = msgspec.json.encode(value, order="sorted", enc_hook=repr)
    return hashlib.sha256(text).hexdigest()[:32]
