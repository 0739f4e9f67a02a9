"""One settings file: read whole, written in one step, with the text before it kept beside it.

A link stays a link: what it points to is written. The mode stays, and a new file can be read by its owner
alone, for it may hold keys.
"""

from __future__ import annotations

import hashlib
import os
import stat
import tempfile
from contextlib import suppress
from pathlib import Path

from trunkline.errors import ConfigurationError

MAX_BYTES = 1 << 24
"""How large a settings file may be."""
_BACKUPS = 99


class SettingsFile:
    """A file that may not be there yet."""

    def __init__(self, path: Path) -> None:
        """Name the file; nothing is read."""
        self.path = path
        self.real = Path(os.path.realpath(path))

    def read(self) -> bytes | None:
        """Give all bytes; None if there is no file. OSError if it cannot be read."""
        try:
            with self.real.open("rb") as file:
                data = file.read(MAX_BYTES + 1)
        except FileNotFoundError:
            return None
        if len(data) > MAX_BYTES:
            raise ConfigurationError(f"{self.path} is larger than {MAX_BYTES} bytes: it is no settings file")
        return data

    def write(self, data: bytes, *, expected: bytes | None) -> None:
        """Put bytes in the place of those that were read; OSError leaves everything as it was."""
        self.real.parent.mkdir(parents=True, exist_ok=True)
        if self.read() != expected:
            raise ConfigurationError(f"{self.path} was changed meanwhile: run this again")
        mode = None if expected is None else stat.S_IMODE(self.real.stat().st_mode)
        if mode is not None and not os.access(self.real, os.W_OK):
            raise PermissionError(13, "it is read-only", str(self.path))
        # Made with mode 0600, in the same folder: a rename is atomic only inside one file system.
        descriptor, partial = tempfile.mkstemp(dir=self.real.parent, prefix=".trunkline-", suffix=".partial")
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            if mode is not None:
                os.chmod(partial, mode)
            os.replace(partial, self.real)
        except BaseException:
            with suppress(OSError):
                os.unlink(partial)
            raise

    def back_up(self, data: bytes) -> Path:
        """Keep the bytes beside the file, under a name of their own; give it."""
        mode = stat.S_IMODE(self.real.stat().st_mode)
        for number in range(1, _BACKUPS + 1):
            ending = ".trunkline-backup" if number == 1 else f".trunkline-backup-{number}"
            path = self.real.with_name(self.real.name + ending)
            try:
                descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
            except FileExistsError:
                continue
            with os.fdopen(descriptor, "wb") as file:
                file.write(data)
            return path
        raise ConfigurationError(
            f"{self.real}.trunkline-backup and {_BACKUPS - 1} more are there: remove those you do not need"
        )

    def discard(self) -> None:
        """Remove the file."""
        self.real.unlink()


def digest(data: bytes) -> str:
    """Give the name of a text: another one is a text that was changed."""
    return hashlib.sha256(data).hexdigest()
