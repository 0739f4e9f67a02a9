"""Disks that can be filled: a small file system of a server's own, or a limit on how far files may grow."""

import os
import resource
import shutil
import subprocess
from collections.abc import Sequence
from functools import cache
from pathlib import Path

MEBIBYTE = 2**20
SIZE = 64 * MEBIBYTE


@cache
def can_mount() -> bool:
    """Whether this machine lets us mount a file system in a namespace of our own."""
    if shutil.which("unshare") is None:
        return False
    tried = subprocess.run(
        ["unshare", "-m", "mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", "/mnt"],
        capture_output=True,
        timeout=30,
    )
    return tried.returncode == 0


def as_anybody() -> list[str]:
    """Words before a command that take the rights away which let root write everywhere."""
    rights = "-dac_override,-dac_read_search"
    return ["setpriv", f"--bounding-set={rights}", f"--inh-caps={rights}"] if os.geteuid() == 0 else []


class Disk:
    """Where one server keeps its journal; only processes that were started on it see it."""

    def __init__(self, folder: Path) -> None:
        """Make the folder that it is mounted on."""
        self.folder = folder / "disk"
        self.folder.mkdir()
        self.path = self.folder / "journal.db"
        self.measured = can_mount()
        """Whether it has a size of its own, so that a program can see how much is left."""
        self._pid = 0

    def on(self, *command: str) -> Sequence[str]:
        """Give the words that run a command on this disk."""
        if not self.measured:
            return command
        mount = f'mount -t tmpfs -o size={SIZE} tmpfs "$0" && exec "$@"'
        return ("unshare", "-m", "sh", "-c", mount, str(self.folder), *command)

    def watch(self, pid: int) -> None:
        """Name the process that was started on it."""
        self._pid = pid

    @property
    def inside(self) -> Path:
        """The folder as that process sees it."""
        return Path(f"/proc/{self._pid}/root{self.folder}") if self.measured else self.folder

    def leave(self, size: int) -> None:
        """Let so many bytes be free; without a size of its own, let no file grow by more."""
        if not self.measured:
            largest = max(file.stat().st_size for file in self.folder.iterdir())
            _limit(self._pid, largest + size)
            return
        disk = os.statvfs(self.inside)
        taken = disk.f_bavail * disk.f_frsize - size
        with (self.inside / f"ballast-{taken}").open("wb") as file:
            os.posix_fallocate(file.fileno(), 0, taken)

    def free(self) -> None:
        """Make room again."""
        if not self.measured:
            _limit(self._pid, resource.RLIM_INFINITY)
        for ballast in self.inside.glob("ballast-*"):
            ballast.unlink()


def _limit(pid: int, size: int) -> None:
    _, hard = resource.prlimit(pid, resource.RLIMIT_FSIZE)
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (size, hard))
