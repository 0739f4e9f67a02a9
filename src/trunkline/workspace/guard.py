"""The guard: what a session's files and terminals ask before an agent's access."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, Protocol

FileAccess = Literal["read", "edit", "delete"]


class AccessGuard(Protocol):
    """Decides about accesses; ``Denied`` is raised for those that are refused."""

    async def check_file(self, access: FileAccess, path: str, resolved: str) -> None:
        """Let a file be touched, or refuse; ``path`` is as requested, ``resolved`` where it leads."""

    async def check_command(self, argv: Sequence[str], env: Mapping[str, str], folder: str) -> None:
        """Let a command start in a folder, or refuse."""
