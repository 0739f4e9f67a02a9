"""What ``trunkline init`` wrote into a settings file: how an entry of ours is known again, and taken out."""

from __future__ import annotations

from typing import Any, cast

import msgspec

from trunkline.cli.init.settings_file import SettingsFile
from trunkline.state_files import StateFile


class Record(msgspec.Struct, frozen=True, kw_only=True):
    """One entry, as it was written."""

    editor: str
    name: str
    keys: list[str]
    """Where it stands in the file; none for a file of its own."""
    entry: str
    """The digest of its value, or of the whole file of its own."""
    after: str
    """The digest of the whole file when it had been written."""
    backup: str | None
    """Where the text before it is kept; None if there was no file."""
    previous: str | None = None
    """The text of an entry of somebody else that stood there."""
    made: int = 0
    """How many objects above it were made for it."""


class Records:
    """The entries of one settings file, by their names."""

    def __init__(self, file: SettingsFile) -> None:
        """Read what was remembered."""
        self._state = StateFile("init", str(file.real))
        stored = (self._state.load() or {}).get("entries")
        self._entries: dict[str, Record] = {}
        for one in cast("list[Any]", stored) if isinstance(stored, list) else []:
            try:
                record = msgspec.convert(one, Record)
            except msgspec.ValidationError:
                continue  # Of another version: the entry counts as somebody else's.
            self._entries[record.name] = record

    def names(self, editor: str) -> list[str]:
        """Give the names of an editor's entries in this file."""
        return [record.name for record in self._entries.values() if record.editor == editor]

    def get(self, name: str) -> Record | None:
        """Give the entry of a name."""
        return self._entries.get(name)

    def add(self, record: Record) -> None:
        """Remember an entry."""
        self._entries[record.name] = record
        self._store()

    def discard(self, name: str) -> None:
        """Forget an entry."""
        self._entries.pop(name, None)
        self._store()

    def _store(self) -> None:
        if self._entries:
            self._state.store({"entries": [msgspec.to_builtins(one) for one in self._entries.values()]})
        else:
            self._state.discard()
