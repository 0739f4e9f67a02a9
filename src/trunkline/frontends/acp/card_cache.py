"""The cache of agents' cards: ``initialize`` is answered from it, before the agent is imported.

The card of a TARGET is kept under the hash of its file or program.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import Any, cast

import orjson

from trunkline._version import __version__
from trunkline.target_names import split_target


class CardCache:
    """Keeps the card of a TARGET for as long as its file and our version stay the same."""

    def __init__(self, target: str, folder: Path | None = None) -> None:
        """Look at the TARGET's file, if it has one."""
        self._path = (folder or _folder()) / f"{_digest(target)}.json"

    def load(self) -> dict[str, Any] | None:
        """The card, if it is known."""
        try:
            card: Any = orjson.loads(self._path.read_bytes())
        except (OSError, orjson.JSONDecodeError):
            return None
        return cast("dict[str, Any]", card) if isinstance(card, dict) and "name" in card else None

    def store(self, card: dict[str, Any]) -> None:
        """Remember the card; a folder that cannot be written only costs time."""
        data = orjson.dumps(card)
        try:
            if self._path.exists() and self._path.read_bytes() == data:
                return
            self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            partial = self._path.with_suffix(f".{os.getpid()}")
            partial.write_bytes(data)
            partial.replace(self._path)
        except OSError:
            return


def _folder() -> Path:
    # platformdirs would say the same, at five times the price of this line on every start.
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return Path(base) / "trunkline" / "cards"


def _find_program(command_line: str) -> str | None:
    """Name the program of a command line as it is installed now: an upgrade gives it another name."""
    # shutil.which would say the same, at the price of an import on every start.
    parts = command_line.split(maxsplit=1)
    for folder in os.get_exec_path() if parts else ():
        path = os.path.join(folder, parts[0])
        if os.path.isfile(path) and os.access(path, os.X_OK):
            found = os.stat(path)
            return f"{os.path.realpath(path)}\0{found.st_mtime_ns}\0{found.st_size}"
    return None


def _digest(target: str) -> str:
    """Name a TARGET's card: the same target, the same file or program, the same version of ours."""
    digest = hashlib.sha256(f"{__version__}\0{target}\0{os.getcwd()}\0".encode())
    if program := _find_program(target.partition(":")[2]):
        digest.update(program.encode())
    parts = split_target(target)
    if parts.is_file:
        try:
            digest.update(Path(parts.source).read_bytes())
        except OSError:
            return digest.hexdigest()
    return digest.hexdigest()
