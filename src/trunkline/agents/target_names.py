"""How sessions record the TARGET of their agent: the same text from every folder."""

from __future__ import annotations

from pathlib import Path

__all__ = ["normalize_target"]


def normalize_target(target: str) -> str:
    """Write a TARGET so that it means the same from every folder: a file gets its whole path."""
    path, colon, attr = target.rpartition(":")
    if colon and path.endswith(".py"):
        return f"{Path(path).resolve()}:{attr}"
    return target
