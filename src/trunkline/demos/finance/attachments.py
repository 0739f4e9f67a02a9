"""The names of files that came with a prompt. Pure."""

from __future__ import annotations

from pathlib import PurePath
from urllib.parse import unquote, urlsplit

__all__ = ["attached_name"]


def attached_name(uri: str) -> str:
    """Give the name of a file by its address: a path, ``file:///...``, ``attachment:NAME``."""
    try:
        path = urlsplit(uri).path
    except ValueError:
        path = uri
    return PurePath(unquote(path)).name
