"""What is said about a path that cannot be used: which kind of file it is, or what the system refused."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Generator
from contextlib import contextmanager

from trunkline.errors import NoSuchFile, WorkspaceError

_REASONS = {
    errno.ENOENT: "does not exist",
    errno.EACCES: "is not permitted by the operating system: check its owner and mode",
    errno.EPERM: "is not permitted by the operating system: check its owner and flags",
    errno.EROFS: "is on a read-only file system",
    errno.ENOSPC: "cannot be written, the disk is full: free some space and try again",
    errno.EDQUOT: "cannot be written, the disk quota is used up: free some space and try again",
    errno.ELOOP: "has become a symbolic link, and links are not followed inside a session's folders",
    errno.ENAMETOOLONG: "has a name that is too long for the file system",
}


def describe(mode: int) -> str:
    """Say what a file is that is not a regular one."""
    if stat.S_ISLNK(mode):
        return "a symbolic link, and links are not followed inside a session's folders: use its target's path"
    if stat.S_ISDIR(mode):
        return "a folder"
    if stat.S_ISFIFO(mode):
        return "a named pipe"
    return "a socket" if stat.S_ISSOCK(mode) else "a device"


@contextmanager
def explained(path: str | os.PathLike[str]) -> Generator[None]:
    """Turn what the operating system says about a path into an error that a person can act on."""
    try:
        yield
    except OSError as error:
        reason = _REASONS.get(error.errno or 0, f"failed: {(error.strerror or 'unknown error').lower()}")
        kind = NoSuchFile if error.errno == errno.ENOENT else WorkspaceError
        raise kind(f"{os.fspath(path)!r} {reason}") from None
