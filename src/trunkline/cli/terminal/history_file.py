"""The prompts of earlier chats, for the Up key: the newest thousand, in the user's state folder."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from prompt_toolkit.history import History

from trunkline.state_files import state_folder

_KEPT = 1000
_LONGEST = 16 * 1024


class HistoryFile(History):
    """Prompts, one JSON string a line. A file that cannot be read or written is no reason not to chat.

    A prompt that begins with a blank is not kept, as in shells.
    """

    def __init__(self, path: Path | None = None) -> None:
        super().__init__()
        self.path = path or state_folder() / "chat-history"

    def load_history_strings(self) -> Iterable[str]:
        """Give the prompts, newest first."""
        prompts = self._read()
        if len(prompts) > 2 * _KEPT:
            with suppress(OSError):
                self._replace(prompts[-_KEPT:])
        return reversed(prompts[-_KEPT:])

    def store_string(self, string: str) -> None:
        """Keep one more."""
        if string.startswith(" ") or len(string) > _LONGEST:
            return
        with suppress(OSError):
            self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            # One write at the end of the file: two chats do not mix their lines.
            descriptor = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
            try:
                os.write(descriptor, f"{json.dumps(string)}\n".encode())
            finally:
                os.close(descriptor)

    def _read(self) -> list[str]:
        prompts: list[str] = []
        with suppress(OSError, UnicodeDecodeError):
            for line in self.path.read_text("utf-8").splitlines():
                with suppress(ValueError):
                    prompt = json.loads(line)
                    prompts += [prompt] if isinstance(prompt, str) else []
        return prompts

    def _replace(self, prompts: list[str]) -> None:
        descriptor, partial = tempfile.mkstemp(dir=self.path.parent, prefix=".", suffix=".partial")
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                file.writelines(f"{json.dumps(prompt)}\n" for prompt in prompts)
            os.replace(partial, self.path)
        except OSError:
            with suppress(OSError):
                os.unlink(partial)
            raise
