"""Small facts that outlive a program: JSON files in the user's state folder, one for each key.

Each is written atomically and can be read by nobody else. One that is damaged is like a missing one: what is
kept here (the last session at an agent, a command that was approved) can be found out again.
"""

from __future__ import annotations

import hashlib
import os
from contextlib import suppress
from pathlib import Path
from typing import Any, cast

import orjson

from trunkline.own_files import protect_own_file

__all__ = ["StateFile", "protect_state_folder", "state_folder"]


def state_folder() -> Path:
    """The user's folder of ours for small facts."""
    base = os.environ.get("XDG_STATE_HOME") or os.path.expanduser("~/.local/state")
    return Path(base) / "trunkline"


def protect_state_folder() -> None:
    """Keep the agents of this process from writing there: they could approve what a person has to."""
    protect_own_file(state_folder(), "a part of the state folder", folder=True)


class StateFile:
    """One fact of a kind (a folder), found by its key: words of any form and length."""

    def __init__(self, kind: str, *key: str) -> None:
        """Find the place; nothing is read or written."""
        self._kind = kind
        self._key = key

    @property
    def path(self) -> Path:
        """Where the file is; the user's state folder is looked up at each use."""
        digest = hashlib.sha256(orjson.dumps(self._key, default=str)).hexdigest()[:32]
        return state_folder() / self._kind / f"{digest}.json"

    def load(self) -> dict[str, Any] | None:
        """Give what was stored last; None if there is nothing that can be read."""
        try:
            value: Any = orjson.loads(self.path.read_bytes())
        except (OSError, orjson.JSONDecodeError):
            return None
        return cast("dict[str, Any]", value) if isinstance(value, dict) else None

    def store(self, value: dict[str, Any]) -> None:
        """Keep a value in place of the last one; OSError if it cannot be written."""
        import tempfile  # Slow to import, and each start of ours for an editor counts.

        path = self.path
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        # Made with mode 0600, in the same folder: a rename is atomic only inside one file system.
        descriptor, partial = tempfile.mkstemp(dir=path.parent, prefix=".", suffix=".partial")
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(orjson.dumps(value))
            os.replace(partial, path)
        except BaseException:
            with suppress(OSError):
                os.unlink(partial)
            raise

    def discard(self) -> None:
        """Forget the value."""
        with suppress(FileNotFoundError):
            self.path.unlink()
