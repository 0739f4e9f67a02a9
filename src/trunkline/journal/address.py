"""Journal addresses: the one place that reads them, for every command, ``asgi()`` and ``open_journal()``."""

from __future__ import annotations

import os
from typing import NamedTuple

from trunkline.errors import ConfigurationError

FORMS = "sqlite:PATH, for example sqlite:journal.db, or memory:"
"""The addresses that are known, for error texts."""
DEFAULT_TEXT = "TRUNKLINE_JOURNAL, else a SQLite file in your data folder"
"""What is used when no address is given, for help texts."""


class JournalAddress(NamedTuple):
    """An engine, and where it keeps its data."""

    scheme: str
    path: str

    def __str__(self) -> str:
        return f"{self.scheme}:{self.path}"


def default_address() -> str:
    """Give the address that is used when none is chosen."""
    if chosen := os.environ.get("TRUNKLINE_JOURNAL"):
        return chosen
    import platformdirs

    return f"sqlite:{platformdirs.user_data_path('trunkline') / 'journal.db'}"


def parse_address(address: str | os.PathLike[str] | None = None) -> JournalAddress:
    """Read an address, or refuse it without touching anything; a path object is a SQLite file."""
    if isinstance(address, os.PathLike):
        return JournalAddress("sqlite", os.fspath(address))
    text = default_address() if address is None else address
    scheme, colon, path = text.partition(":")
    if colon and ((scheme == "memory" and not path) or (scheme == "sqlite" and path not in ("", ":memory:"))):
        return JournalAddress(scheme, path)
    hint = "" if colon or not text else f" (for a file: sqlite:{text})"
    raise ConfigurationError(f"unknown journal {text!r}: use {FORMS}{hint}")
