"""TARGETs as texts: what one is made of, and how a session records it."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

__all__ = ["PREFIXES", "TargetParts", "normalize_target", "split_target"]

PREFIXES = ("acp", "agui", "pty", "registry")
"""Words before a colon that need something after it."""


class TargetParts(NamedTuple):
    """What a TARGET is made of."""

    prefix: str
    """One of ``PREFIXES``; empty for a file, a module or a name."""
    source: str
    """The command, the address or the id behind the prefix; else the file, the module or the name."""
    attr: str | None = None
    """What is named in the file or module; None if nothing is."""

    @property
    def is_file(self) -> bool:
        """Whether it names a Python file."""
        return not self.prefix and self.source.endswith(".py")

    def with_source(self, source: str) -> str:
        """Write the TARGET with another file or module."""
        return source if self.attr is None else f"{source}:{self.attr}"


def split_target(target: str) -> TargetParts:
    """Take a TARGET apart; whether there is such an agent is not looked at."""
    word, colon, rest = target.partition(":")
    if colon and word in PREFIXES:
        return TargetParts(word, rest)
    source, colon, attr = target.rpartition(":")
    return TargetParts("", source, attr) if colon and not target.endswith(".py") else TargetParts("", target)


def normalize_target(target: str) -> str:
    """Write a TARGET so that it means the same from every folder: a file gets its whole path."""
    parts = split_target(target)
    if not parts.is_file or parts.attr is None:
        return target
    return parts.with_source(str(Path(parts.source).resolve()))
