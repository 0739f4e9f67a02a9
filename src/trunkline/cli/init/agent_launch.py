"""How an editor starts an agent: an absolute command, its arguments and its variables.

An editor that was started from a desktop has another PATH and another folder than the terminal in which
the agent was tried. So nothing here depends on either.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import sys
import sysconfig
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from trunkline.errors import ConfigurationError
from trunkline.target_names import split_target

_PROGRAM_PREFIXES = ("acp", "pty", "registry")
"""Prefixes of TARGETs that start a program which is looked for in PATH."""
_RUNNERS = ("bunx", "node", "npx", "pnpx", "python", "python3", "uvx")
"""Programs whose own name says nothing of the agent that they run."""


class Launch(NamedTuple):
    """What an editor has to be told."""

    name: str
    """What a person sees in the list of agents."""
    command: str
    args: tuple[str, ...]
    variables: Mapping[str, str]


def own_command() -> list[str]:
    """Give the words that run this very trunkline from anywhere."""
    # Not resolved: the folder of a link in a virtual environment is what makes it that environment.
    folders = [os.path.dirname(os.path.abspath(sys.executable)), sysconfig.get_path("scripts")]
    for folder in folders:
        script = os.path.join(folder, "trunkline.exe" if sys.platform == "win32" else "trunkline")
        if os.access(script, os.X_OK) and os.path.isfile(script):
            return [script]
    return [os.path.abspath(sys.executable), "-m", "trunkline"]


def absolute_target(target: str) -> str:
    """Write a TARGET so that it means the same from every folder and with every PATH."""
    parts = split_target(target)
    if parts.prefix in ("acp", "pty"):
        return f"{parts.prefix}:{_absolute_program(parts.source)}"
    if not parts.is_file:
        return target
    return parts.with_source(os.path.abspath(os.path.expanduser(parts.source)))


def _absolute_program(line: str) -> str:
    try:
        words = shlex.split(line)
    except ValueError as error:
        raise ConfigurationError(f"the command {line!r} cannot be read: {error}") from None
    found = shutil.which(os.path.expanduser(words[0])) if words else None
    if found is None:
        raise ConfigurationError(
            f"there is no program {words[0] if words else ''!r}: install it, or write its whole path"
        )
    words[0] = os.path.abspath(found)
    # A file among the arguments is meant from here; an editor starts the agent elsewhere.
    words[1:] = [os.path.abspath(word) if _is_file_here(word) else word for word in words[1:]]
    return shlex.join(words)


def _is_file_here(word: str) -> bool:
    return ("/" in word or "." in word) and not os.path.isabs(word) and os.path.isfile(word)


def needed_variables(target: str, environment: Mapping[str, str]) -> dict[str, str]:
    """Give the variables without which a TARGET would not be found from elsewhere.

    A program that is started by another one (``npx`` by ``node``) is looked for in PATH, and a module
    in this folder needs PYTHONPATH.
    """
    parts = split_target(target)
    if parts.prefix in _PROGRAM_PREFIXES:
        return {"PATH": environment["PATH"]} if environment.get("PATH") else {}
    if parts.prefix or parts.is_file or parts.attr is None or not _is_in_this_folder(parts.source):
        return {}
    rest = environment.get("PYTHONPATH")
    return {"PYTHONPATH": os.pathsep.join([os.getcwd(), *([rest] if rest else [])])}


def _is_in_this_folder(module: str) -> bool:
    """Whether a module is found only because this is the current folder."""
    here = os.path.realpath(os.getcwd())
    top = module.partition(".")[0]
    if not (Path(here, f"{top}.py").is_file() or Path(here, top).is_dir()):
        return False
    before = list(sys.path)
    sys.path[:] = [one for one in before if one and os.path.realpath(one) != here]
    try:
        spec = None if top in sys.modules and _lies_in(top, here) else find_spec(top)
    except (ImportError, ValueError):
        spec = None
    finally:
        sys.path[:] = before
    return spec is None


def _lies_in(module: str, folder: str) -> bool:
    file = getattr(sys.modules[module], "__file__", None)
    return isinstance(file, str) and os.path.realpath(file).startswith(folder + os.sep)


def default_name(target: str) -> str:
    """Give the name of an agent that does not say it itself."""
    prefix, source, attr = split_target(target)
    if prefix in ("acp", "pty"):
        words = [one for one in shlex.split(source) if not one.startswith("-")]
        named = [one for one in map(_base_name, words) if one not in _RUNNERS]
        return (named or [prefix])[0]
    if prefix == "registry":
        return source.partition("@")[0]
    if prefix == "agui":
        return re.sub(r"^https?://", "", source).partition("/")[0] or "agui"
    return source.removesuffix(".py").rpartition("/")[2] if attr is None else attr


def _base_name(word: str) -> str:
    name = re.sub(r"(?<=.)@[^/@]*$", "", word).rpartition("/")[2]
    return re.sub(r"\.(?:py|js|mjs|exe|cmd)$", "", name)
