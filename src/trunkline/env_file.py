"""Files of variables (``.env``): the one reader of them.

A line is ``NAME=value``, also after ``export``; a value may be in quotes, and outside of them `` #`` begins a
comment. Nothing is expanded or executed, and no value is ever printed.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

from trunkline.errors import ConfigurationError
from trunkline.own_files import protect_own_file

__all__ = ["lines_left_out", "load_env_file", "own_environment", "parse_env", "read_env_file"]

MAX_BYTES = 1 << 16
"""How large such a file may be."""
_LINE = re.compile(r"(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)\s*=\s*(.*)")
_QUOTED = re.compile(r"""'([^']*)'|"((?:[^"\\]|\\.)*)\"""")
_loaded: set[str] = set()
_ESCAPES = {"n": "\n", "r": "\r", "t": "\t"}


def parse_env(text: str) -> dict[str, str]:
    """Read the lines of a file; a line of another form is left out, the last of a name counts."""
    found: dict[str, str] = {}
    for line in text.removeprefix("\ufeff").splitlines():
        if match := _LINE.fullmatch(line.strip()):
            found[match[1]] = _value(match[2])
    return found


def lines_left_out(text: str) -> list[int]:
    """Give the numbers of the lines that ``parse_env`` leaves out, though they are no comments."""
    lines = enumerate(text.removeprefix("\ufeff").splitlines(), 1)
    numbered = [(number, line.strip()) for number, line in lines]
    return [number for number, line in numbered if line and line[0] != "#" and not _LINE.fullmatch(line)]


def _value(text: str) -> str:
    if quoted := _QUOTED.match(text):
        if quoted[1] is not None:
            return quoted[1]
        return re.sub(r"\\(.)", lambda escape: _ESCAPES.get(escape[1], escape[1]), quoted[2])
    return re.sub(r"(^|\s)#.*$", "", text).strip()


def read_env_file(path: Path) -> dict[str, str]:
    """Give the variables of a file; ConfigurationError if it cannot be read."""
    return parse_env(_read(path))


def _read(path: Path) -> str:
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise ConfigurationError(
            f"{path} cannot be read ({error.strerror}): check its mode, or move it away"
        ) from error
    if len(data) > MAX_BYTES:
        raise ConfigurationError(f"{path} is larger than {MAX_BYTES} bytes: keep only NAME=value lines in it")
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise ConfigurationError(f"{path} is not text in UTF-8: write it again in that encoding") from error


def load_env_file(path: Path) -> list[int]:
    """Set the variables of a file in this process, but none that it has already; give the lines left out.

    No agent of this process may read or change the file: it holds keys.
    """
    text = _read(path)
    protect_own_file(path, "the file of variables", secret=True)
    for name, value in parse_env(text).items():
        if "\0" not in value and name not in os.environ:
            os.environ[name] = value
            _loaded.add(name)
    return lines_left_out(text)


def own_environment() -> dict[str, str]:
    """Give the variables that this process was started with: none of a file, which another one reads anew."""
    return {name: value for name, value in os.environ.items() if name not in _loaded}
