"""Files inside a session's folders: read, written, listed and removed without a way out.

Above are agents and the endpoints that act for them; below is the operating system, reached only
through ``Roots``. Text is UTF-8 and its newlines stay as they are.
"""

from __future__ import annotations

import asyncio
import builtins
import os
import secrets
import stat
from collections.abc import Iterable
from contextlib import suppress
from typing import BinaryIO

from trunkline.errors import Denied, NotAFile, TooLarge, WorkspaceError
from trunkline.own_files import own_file
from trunkline.workspace.guard import AccessGuard, FileAccess, TextChange
from trunkline.workspace.path_errors import describe, explained
from trunkline.workspace.protected import DEFAULT_PROTECTED, Protection
from trunkline.workspace.roots import SAFE, Place, Roots, StrPath

__all__ = ["DEFAULT_PROTECTED", "Files", "check_lines"]


class Files:
    """The files of a session; relative paths begin in the first root."""

    def __init__(
        self,
        roots: Iterable[StrPath],
        *,
        max_bytes: int = 10 * 1024 * 1024,
        max_scan: int = 256 * 1024 * 1024,
        max_entries: int = 10_000,
        protected: Iterable[str] = DEFAULT_PROTECTED,
    ) -> None:
        """Bind to folders that exist.

        ``max_bytes`` bounds what one read gives and one write takes, ``max_scan`` how far into a
        bigger file a read by lines goes, ``max_entries`` what a listing gives.
        """
        self._roots = Roots(roots)
        self._max_bytes = max_bytes
        self._max_scan = max_scan
        self._max_entries = max_entries
        self._protection = Protection(protected)
        self.guard: AccessGuard | None = None
        """What decides about an access; None for files without a session."""

    @property
    def roots(self) -> tuple[str, ...]:
        """The real paths of the session's folders."""
        return self._roots.folders

    def resolve(self, path: StrPath) -> str:
        """Give the absolute path that would be touched; a policy wants to see it."""
        return self._roots.locate(path, folder=True).path

    async def check_access(self, access: FileAccess, path: StrPath, text: str | None = None) -> None:
        """Ask the guard about an access (``text`` is to be written); ``Denied`` when it is refused."""
        if self.guard is None:
            return
        if access != "read":
            # What nobody may allow is not asked about.
            self._changeable(path)
        change = (
            None if text is None else TextChange(text, lambda: asyncio.to_thread(self._text_before, path))
        )
        await self.guard.check_file(access, os.fspath(path), self.resolve(path), change)

    def _text_before(self, path: StrPath) -> str | None:
        try:
            return self.read_now(path)
        except WorkspaceError:
            return None

    async def read(self, path: StrPath, *, line: int | None = None, limit: int | None = None) -> str:
        """Give a file's text, or at most ``limit`` lines of it from ``line`` (1-based) on."""
        await self.check_access("read", path)
        return await asyncio.to_thread(self._read, path, line, limit)

    def read_now(self, path: StrPath) -> str:
        """Give a file's text; blocks for a moment."""
        return self._read(path, None, None)

    async def read_bytes(self, path: StrPath) -> bytes:
        """Give a whole file as it is."""
        await self.check_access("read", path)
        return await asyncio.to_thread(self._read_bytes, path)

    async def write(self, path: StrPath, text: str) -> None:
        """Replace a file as a whole or not at all; missing folders are made."""
        await self.check_access("edit", path, text)
        await asyncio.to_thread(self._write, path, text)

    async def remove(self, path: StrPath) -> None:
        """Remove a regular file."""
        await self.check_access("delete", path)
        await asyncio.to_thread(self._remove, path)

    async def exists(self, path: StrPath) -> bool:
        """Whether a regular file or a folder is there that can be reached without links."""
        await self.check_access("read", path)
        return await asyncio.to_thread(self._exists, path)

    async def list(self, path: StrPath = ".") -> builtins.list[str]:
        """Give the names in a folder, sorted."""
        await self.check_access("read", path)
        return await asyncio.to_thread(self._list, path)

    # -- for those whose files are opened by somebody else --

    def vet(self, path: StrPath, *, change: bool) -> tuple[str, os.stat_result | None]:
        """Judge a path by all that holds for our own reads or writes, and give it with what is there.

        Blocks for a moment. Where nothing is there, the letters and the protection are all that counts.
        """
        place = self._changeable(path) if change else self._readable(path)
        with explained(path):
            found = self._roots.look(place)
        if found is not None:
            _demand_regular(found, path)
        return place.path, found

    def encoded(self, path: StrPath, text: str) -> bytes:
        """Give a text as a file holds it, if it is not too large."""
        try:
            data = text.encode()
        except UnicodeEncodeError as error:
            raise WorkspaceError(
                f"the text has a lone surrogate at character {error.start}: not UTF-8"
            ) from None
        if len(data) > self._max_bytes:
            raise TooLarge(
                f"{len(data)} bytes are too many for {os.fspath(path)!r}: the limit is {self._max_bytes}"
            )
        return data

    # -- the same, in a thread --

    def _read(self, path: StrPath, line: int | None, limit: int | None) -> str:
        check_lines(line, limit)
        whole = line is None and limit is None
        with explained(path), self._open(path) as stream:
            # The protocol's schema lets line be 0; editors take that for the first line.
            data = self._all(stream, path) if whole else self._lines(stream, path, max(line or 1, 1), limit)
        return _text(data, path)

    def _read_bytes(self, path: StrPath) -> bytes:
        with explained(path), self._open(path) as stream:
            return self._all(stream, path)

    def _open(self, path: StrPath) -> BinaryIO:
        place = self._readable(path)
        with self._roots.enter(place.parent) as folder:
            # Looked at before it is opened, as opening a device can act on it, and again after,
            # as it may be another file by then.
            _demand_regular(os.stat(place.name, dir_fd=folder, follow_symlinks=False), path)
            stream = os.fdopen(os.open(place.name, os.O_RDONLY | SAFE, dir_fd=folder), "rb")
        try:
            _demand_regular(os.fstat(stream.fileno()), path)
        except NotAFile:
            stream.close()
            raise
        return stream

    def _all(self, stream: BinaryIO, path: StrPath) -> bytes:
        size = os.fstat(stream.fileno()).st_size
        if size <= self._max_bytes:
            data = stream.read(self._max_bytes + 1)  # it may grow while we read
            if len(data) <= self._max_bytes:
                return data
            size = len(data)
        raise TooLarge(
            f"{os.fspath(path)!r} has {size} bytes or more and the limit is {self._max_bytes}: "
            "read it in pieces, by line and limit"
        )

    def _lines(self, stream: BinaryIO, path: StrPath, line: int, limit: int | None) -> bytes:
        number, taken, scanned = 1, bytearray(), 0
        while limit is None or number < line + limit:
            piece = stream.readline(self._max_bytes + 1)
            if not piece:
                break
            scanned += len(piece)
            if scanned > self._max_scan:
                raise TooLarge(
                    f"line {line} of {os.fspath(path)!r} lies beyond the {self._max_scan} bytes we scan"
                )
            if number >= line:
                taken += piece
            if len(taken) > self._max_bytes:
                raise TooLarge(
                    f"these lines of {os.fspath(path)!r} exceed {self._max_bytes} bytes: ask for fewer"
                )
            number += piece.endswith(b"\n")
        return bytes(taken)

    def _write(self, path: StrPath, text: str) -> None:
        data = self.encoded(path, text)
        place = self._changeable(path)
        with explained(path), self._roots.enter(place.parent, create=True) as folder:
            old = _writable(folder, place.name, path)
            _replace(folder, place.name, data, old)

    def _remove(self, path: StrPath) -> None:
        place = self._changeable(path)
        with explained(path), self._roots.enter(place.parent) as folder:
            _demand_regular(os.stat(place.name, dir_fd=folder, follow_symlinks=False), path)
            os.unlink(place.name, dir_fd=folder)

    def _readable(self, path: StrPath) -> Place:
        place = self._roots.locate(path)
        own = own_file(place.path)
        if own is not None and own.secret:
            raise Denied(f"{os.fspath(path)!r} is {own.what} of this process: no agent may read it")
        return place

    def _changeable(self, path: StrPath) -> Place:
        place = self._readable(path)
        if own := own_file(place.path):
            raise Denied(f"{os.fspath(path)!r} is {own.what} of this process: ask the person to change it")
        if pattern := self._protection.of(place.path):
            raise Denied(f"{os.fspath(path)!r} is protected ({pattern}): ask the person to change it")
        return place

    def _exists(self, path: StrPath) -> bool:
        place = self._roots.locate(path, folder=True)
        try:
            with self._roots.enter(place.parent) as folder:
                mode = os.stat(place.name, dir_fd=folder, follow_symlinks=False).st_mode
        except (OSError, NotAFile):
            return False
        return stat.S_ISREG(mode) or stat.S_ISDIR(mode)

    def _list(self, path: StrPath) -> builtins.list[str]:
        place = self._roots.locate(path, folder=True)
        names: builtins.list[str] = []
        with explained(path), self._roots.enter(place) as folder:
            listing = os.open(".", os.O_RDONLY | os.O_DIRECTORY, dir_fd=folder)
            try:
                with os.scandir(listing) as entries:
                    for entry in entries:
                        if len(names) == self._max_entries:
                            raise TooLarge(
                                f"{os.fspath(path)!r} has more than {self._max_entries} names in it"
                            )
                        # A name that is not UTF-8 could not go over any wire.
                        names.append(os.fsencode(entry.name).decode(errors="replace"))
            finally:
                os.close(listing)
        return sorted(names)


def check_lines(line: int | None, limit: int | None) -> None:
    """Refuse lines that no file has."""
    if (line or 0) < 0 or (limit or 0) < 0:
        raise WorkspaceError(f"line {line} and limit {limit} must not be negative: lines count from 1")


def _demand_regular(found: os.stat_result, path: StrPath) -> None:
    if not stat.S_ISREG(found.st_mode):
        raise NotAFile(f"{os.fspath(path)!r} is {describe(found.st_mode)}")


def _text(data: bytes, path: StrPath) -> str:
    advice = "it is not text; attach it as a whole instead"
    if b"\0" in data:
        raise WorkspaceError(f"{os.fspath(path)!r} is binary (a NUL byte): {advice}")
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise WorkspaceError(
            f"{os.fspath(path)!r} is binary (no UTF-8 at byte {error.start}): {advice}"
        ) from None


def _writable(folder: int, name: str, path: StrPath) -> os.stat_result | None:
    """Look at the file that will be replaced; None for a new one."""
    try:
        _demand_regular(os.stat(name, dir_fd=folder, follow_symlinks=False), path)
        # A rename would replace a read-only file as well, so let the kernel say whether we may write.
        fd = os.open(name, os.O_WRONLY | SAFE, dir_fd=folder)
    except FileNotFoundError:
        return None
    try:
        found = os.fstat(fd)
    finally:
        os.close(fd)
    _demand_regular(found, path)
    return found


def _replace(folder: int, name: str, data: bytes, old: os.stat_result | None) -> None:
    """Write beside the file and rename: readers see the old text or the new, never a part.

    The name gets a new inode. Other hard links keep the old text, which is why a link that somebody
    planted cannot make us write elsewhere.
    """
    temporary = f".{secrets.token_hex(12)}.tmp"
    # A new file gets what the umask leaves, like any other; a known one is closed until it has its bits.
    fd = os.open(
        temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | SAFE, 0o600 if old else 0o666, dir_fd=folder
    )
    try:
        with os.fdopen(fd, "wb") as stream:
            stream.write(data)
            stream.flush()
            if old:
                with suppress(OSError):  # only root may give a file away
                    os.fchown(fd, old.st_uid, old.st_gid)
                os.fchmod(fd, stat.S_IMODE(old.st_mode) & 0o777)
            os.fsync(fd)
        os.replace(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(temporary, dir_fd=folder)
        raise
