"""Files that a program's own handlers read and write; our rules still decide what is allowed."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from trunkline.workspace import Files
from trunkline.workspace.files import check_lines

__all__ = ["FileSystemHandler", "HandledFiles"]


@runtime_checkable
class FileSystemHandler(Protocol):
    """What carries out ACP's fs/read_text_file and fs/write_text_file for a session."""

    async def read_text_file(self, path: str, line: int | None = None, limit: int | None = None) -> str:
        """Give the text of a file, or some lines of it."""
        ...

    async def write_text_file(self, path: str, content: str) -> None:
        """Write a file."""


class HandledFiles(Files):
    """Files that a handler reads and writes; folders, links, protected files and the policy still count."""

    def __init__(self, roots: Sequence[str], handler: FileSystemHandler) -> None:
        super().__init__(roots)
        self._handler = handler

    async def read(
        self, path: str | os.PathLike[str], *, line: int | None = None, limit: int | None = None
    ) -> str:
        """Read text through the handler."""
        check_lines(line, limit)
        await self.check_access("read", path)
        absolute, _ = await asyncio.to_thread(self.vet, path, change=False)
        text = await self._handler.read_text_file(absolute, line, limit)
        self.encoded(path, text)
        return text

    async def write(self, path: str | os.PathLike[str], text: str) -> None:
        """Write text through the handler."""
        self.encoded(path, text)
        await self.check_access("edit", path, text)
        absolute, found = await asyncio.to_thread(self.vet, path, change=True)
        if found is not None and found.st_nlink > 1:
            # A handler writes into the file, and so into all its names. We replace the one that was meant.
            await super().write(path, text)
            return
        await self._handler.write_text_file(absolute, text)
