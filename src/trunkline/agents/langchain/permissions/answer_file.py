"""A JSON file that keeps "always" answers for agents in one's own program."""

from __future__ import annotations

import os
import tempfile
import threading
from collections.abc import Iterator, MutableMapping
from pathlib import Path

import msgspec

from trunkline.errors import ConfigurationError
from trunkline.own_files import protect_own_file


class AnswerFile(MutableMapping[str, str]):
    """Keeps "always" answers in a JSON file, which is read anew each time and replaced whole."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        """Use a file, which need not exist yet; one that is something else is refused."""
        self._path = Path(path).expanduser()
        self._lock = threading.Lock()
        protect_own_file(self._path, "the file of earlier answers")
        self._read()

    def __getitem__(self, tool: str) -> str:
        """What was answered for a tool."""
        return self._read()[tool]

    def __setitem__(self, tool: str, answer: str) -> None:
        """Keep an answer."""
        with self._lock:
            self._write({**self._read(), tool: answer})

    def __delitem__(self, tool: str) -> None:
        """Forget an answer."""
        with self._lock:
            answers = self._read()
            del answers[tool]
            self._write(answers)

    def __iter__(self) -> Iterator[str]:
        """The tools that were answered for."""
        return iter(self._read())

    def __len__(self) -> int:
        """How many tools were answered for."""
        return len(self._read())

    def _read(self) -> dict[str, str]:
        try:
            return msgspec.json.decode(self._path.read_bytes(), type=dict[str, str])
        except FileNotFoundError:
            return {}
        except (OSError, msgspec.DecodeError) as error:
            raise ConfigurationError(
                f"{self._path} holds no permission answers ({error}): correct it, or take another file"
            ) from None

    def _write(self, answers: dict[str, str]) -> None:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=self._path.parent, prefix=f".{self._path.name}.")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(msgspec.json.format(msgspec.json.encode(answers)))
            os.replace(name, self._path)
        except BaseException:
            os.unlink(name)
            raise
