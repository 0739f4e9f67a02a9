"""The guard: what a session's files and terminals ask before an agent's access."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Literal, NamedTuple, Protocol

FileAccess = Literal["read", "edit", "delete"]


class TextChange(NamedTuple):
    """What a write would change, so that a person who is asked sees it."""

    text: str
    text_before: Callable[[], Awaitable[str | None]]
    """Gives the text that is there now; None for none, or none that can be shown."""


class AccessGuard(Protocol):
    """Decides about accesses; ``Denied`` is raised for those that are refused."""

    async def check_file(
        self, access: FileAccess, path: str, resolved: str, change: TextChange | None = None
    ) -> None:
        """Let a file be touched, or refuse; ``path`` is as requested, ``resolved`` where it leads."""

    async def check_command(self, command: Sequence[str] | str, env: Mapping[str, str], folder: str) -> None:
        """Let a command (its words, or a line for a shell) start in a folder, or refuse."""
