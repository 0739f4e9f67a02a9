"""Small facts that outlive a program: JSON files in the user's state folder, one for each key.

Each is written atomically and can be read by nobody else. One that is damaged is like a missing one: what is
kept here (the last session at an agent, a command that was approved) can be found out again.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any, cast

import orjson

__all__ = ["StateFile"]


class StateFile:
    """One fact of a kind (a folder), found by its key: words of any form and length."""

    def __init__(self, kind: str, *key: str) -> None:
        """Find the place; nothing is read or written."""
        self._kind = kind
        self._key = key

    @property
    def path(self) -> Path:
        """Where the file is; the user's state folder is looked up at each use."""
        import platformdirs

        digest = hashlib.sha256(orjson.dumps(self._key, default=str)).hexdigest()[:32]
        return platformdirs.user_state_path("trunkline") / self._kind / f"{digest}.json"

    def load(self) -> dict[str, Any] | None:
        """Give what was stored last; None if there is nothing that can be read."""
        try:
            value: Any = orjson.loads(self.path.read_bytes())
        except (OSError, orjson.JSONDecodeError):
            return None
        return cast("dict[str, Any]", value) if isinstance(value, dict) else None

    def store(self, value: dict[str, Any]) -> None:
        """Keep a value in place of the last one; OSError if it cannot be written."""
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
