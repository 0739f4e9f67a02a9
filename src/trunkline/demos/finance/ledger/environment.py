"""The variables of the process, with those of a file ``.env`` below them.

The file never overrides what the process has. A line is ``NAME=value``, also after ``export``; a value may be
in quotes, and outside of them `` #`` begins a comment. Nothing is expanded or executed.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path

from trunkline.demos.finance.ledger.failures import LedgerError

MAX_BYTES = 1 << 16
"""How large a file ``.env`` may be."""
_LINE = re.compile(r"(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)\s*=\s*(.*)")
_QUOTED = re.compile(r"""'([^']*)'|"((?:[^"\\]|\\.)*)\"""")
_ESCAPES = {"n": "\n", "r": "\r", "t": "\t"}


def parse_env(text: str) -> dict[str, str]:
    """Read the lines of a file ``.env``; a line of another form is left out, the last of a name counts."""
    found: dict[str, str] = {}
    for line in text.removeprefix("\ufeff").splitlines():
        if match := _LINE.fullmatch(line.strip()):
            found[match[1]] = _value(match[2])
    return found


def _value(text: str) -> str:
    if quoted := _QUOTED.match(text):
        if quoted[1] is not None:
            return quoted[1]
        return re.sub(r"\\(.)", lambda escape: _ESCAPES.get(escape[1], escape[1]), quoted[2])
    return re.sub(r"(^|\s)#.*$", "", text).strip()


def environment(folder: Path | None = None, variables: Mapping[str, str] | None = None) -> dict[str, str]:
    """Give the variables of the process (or ``variables``), and those that only ``.env`` in a folder has."""
    own = os.environ if variables is None else variables
    path = (Path.cwd() if folder is None else folder) / ".env"
    return {**_read(path), **own}


def _read(path: Path) -> dict[str, str]:
    try:
        if not path.is_file():
            return {}
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise LedgerError(
            f"{path} cannot be read ({error.strerror}): check its mode, or move it away"
        ) from error
    if len(data) > MAX_BYTES:
        raise LedgerError(f"{path} is larger than {MAX_BYTES} bytes: keep only NAME=value lines in it")
    try:
        return parse_env(data.decode())
    except UnicodeDecodeError as error:
        raise LedgerError(f"{path} is not text in UTF-8: write it again in that encoding") from error
