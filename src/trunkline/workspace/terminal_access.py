"""What an agent can rely on in terminals, whether we run them or the editor does."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Protocol

from trunkline.workspace.guard import AccessGuard
from trunkline.workspace.terminal import Exit, TerminalOutputView


class TerminalAccess(Protocol):
    """One running command."""

    @property
    def terminal_id(self) -> str:
        """How events and content blocks name it."""
        ...

    def output(self) -> TerminalOutputView:
        """The output as far as it is known; complete after ``wait``."""
        ...

    async def look(self) -> TerminalOutputView:
        """Give the output as it stands now, wherever the command runs."""
        ...

    async def wait(self) -> Exit:
        """Wait for the command to end."""
        ...

    def stream(self) -> AsyncIterator[str]:
        """Give the output as it comes."""
        ...

    async def kill(self) -> None:
        """Stop the command; its output stays."""

    async def release(self) -> None:
        """Stop the command and forget the terminal."""


class TerminalsAccess(Protocol):
    """The terminals of a session."""

    guard: AccessGuard | None
    """What decides whether a command may start."""

    async def create(
        self,
        argv: Sequence[str],
        *,
        cwd: str | os.PathLike[str] | None = None,
        env: Mapping[str, str] | None = None,
        output_byte_limit: int | None = None,
    ) -> TerminalAccess:
        """Start a command, given as a list of words."""
        ...

    async def create_line(
        self,
        line: str,
        *,
        cwd: str | os.PathLike[str] | None = None,
        env: Mapping[str, str] | None = None,
        output_byte_limit: int | None = None,
    ) -> TerminalAccess:
        """Start a command, given as a line for a shell; the policy judges the line."""
        ...

    async def close(self) -> None:
        """Release every terminal."""
