"""The keeper of one command: starts it, says how it ended, and leaves nothing of it behind.

It is a program of its own between us and the command (``python -I -S keeper.py``), and knows only the
standard library. Whatever the command's processes leave behind becomes the keeper's child ("subreaper",
prctl(2)), also a daemon that left its group by ``setsid``. So it can find all of them, and as nobody but
the keeper buries its children, none of their numbers can be a stranger's by the time it signals them.

* stdin is the request, and then nothing. When it ends, since we closed it or died, all are ended:
  politely, and after a grace period not. SIGTERM to the keeper means: without the grace.
* stdout is the command's.
* stderr is lines to us: ``started``, ``failed ERRNO``, ``exited CODE`` (below zero for a signal).
"""

from __future__ import annotations

import os
import select
import signal
import struct
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress

__all__ = ["Keeper", "request"]

PROC = "/proc"
POLL = 0.02
HEAD = struct.Struct("!dIQ")


def request(argv: Sequence[str], env: Mapping[str, str], grace: float) -> bytes:
    """Write what a keeper reads: the command, its variables, and the seconds of grace."""
    texts = [*argv, *(f"{name}={value}" for name, value in env.items())]
    body = b"".join(os.fsencode(text) + b"\0" for text in texts)
    return HEAD.pack(grace, len(argv), len(body)) + body


class Keeper:
    """Runs one command and adopts what it leaves."""

    def __init__(self) -> None:
        """Get ready to hear of children and of signals."""
        self._leader = 0
        self._group_left = True
        self._hurry = False
        self._woken, wake = os.pipe()
        os.set_blocking(self._woken, False)
        os.set_blocking(wake, False)
        signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
        # Handled and not ignored: what is ignored stays so in the command.
        for number in (signal.SIGCHLD, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, _pass)
        signal.signal(signal.SIGTERM, self._hasten)
        _adopt()

    def run(self) -> None:
        """Keep a command until nobody of it is left."""
        grace, argc, size = HEAD.unpack(_read(HEAD.size))
        texts = _read(size).split(b"\0")[:-1]
        env = dict(text.split(b"=", 1) for text in texts[argc:])
        if error := self._start(texts[:argc], env):
            _say(f"failed {error}")
            return
        _say("started")
        while not self._hurry and self._anybody():
            ready, _, _ = select.select([0, self._woken], [], [])
            self._sleep(0)
            if 0 in ready and not os.read(0, 4096):
                break
        self._end(grace)

    def _start(self, argv: list[bytes], env: dict[bytes, bytes]) -> int:
        """Start the command in a session of its own; gives why it did not."""
        failing, failed = os.pipe()
        self._leader = os.fork()
        if self._leader == 0:
            try:
                for number in (signal.SIGPIPE, signal.SIGXFSZ):  # the interpreter ignores these
                    signal.signal(number, signal.SIG_DFL)
                os.setsid()
                os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
                os.dup2(1, 2)
                os.execvpe(argv[0], argv, env)
            except OSError as error:
                os.write(failed, str(error.errno).encode())
            finally:
                os._exit(127)
        os.close(failed)
        os.dup2(os.open(os.devnull, os.O_RDWR), 1)  # or the command's output would never end
        return int(os.read(failing, 16) or 0)

    # -- the end --

    def _end(self, grace: float) -> None:
        limit, told = time.monotonic() + grace, set[int]()
        while not self._hurry and time.monotonic() < limit and self._anybody():
            groups = self._groups()
            _signal(groups - told, signal.SIGTERM)
            told |= groups
            self._sleep(POLL)
        limit = time.monotonic() + max(grace, 1.0)
        while (
            self._anybody() and time.monotonic() < limit
        ):  # some are beyond us: root's, or stuck in the kernel
            _signal(self._groups(), signal.SIGKILL)
            self._sleep(POLL)

    def _groups(self) -> set[int]:
        """The groups of our children. Until we bury a child, its number and its group's are taken."""
        children = _children()
        if children is None:
            return {self._leader} if self._group_left else set()
        groups: set[int] = set()
        for child in children:
            with suppress(ProcessLookupError):
                groups.add(os.getpgid(child))
        return groups - {os.getpgrp()}

    def _anybody(self) -> bool:
        """Bury the dead, say if the command is one of them, and whether anybody lives."""
        with suppress(ChildProcessError):
            while (found := os.waitpid(-1, os.WNOHANG))[0]:
                if found[0] == self._leader:
                    # If nobody is left in its group now, the number may become a stranger's.
                    self._group_left = _signal({self._leader}, 0)
                    _say(f"exited {os.waitstatus_to_exitcode(found[1])}")
            return True
        if not os.path.isdir(PROC):
            self._group_left = self._group_left and _signal({self._leader}, 0)
            return self._group_left
        return False

    def _hasten(self, *_: object) -> None:
        self._hurry = True

    def _sleep(self, seconds: float) -> None:
        select.select([self._woken], [], [], seconds)
        with suppress(BlockingIOError):
            os.read(self._woken, 4096)


def _signal(groups: set[int], number: int) -> bool:
    """Signal everybody in these groups; False if nobody was there."""
    reached = False
    for group in groups:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(group, number)
            reached = True
    return reached


def _children() -> list[int] | None:
    """Our children, the dead among them; None where there is no procfs."""
    try:
        names = [name for name in os.listdir(PROC) if name.isdigit()]
    except OSError:
        return None
    found: list[int] = []
    for name in names:
        with suppress(OSError), open(f"{PROC}/{name}/stat", "rb") as stat:
            if int(stat.read().rpartition(b")")[2].split()[1]) == os.getpid():
                found.append(int(name))
    return found


def _adopt() -> None:
    """Become the parent of orphans, and hear of our own parent's end, where the system knows such things."""
    if sys.platform == "linux":
        import ctypes

        prctl = ctypes.CDLL(None).prctl
        prctl(36, 1, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER
        # Our stdin ends with whoever started us, unless a fork of theirs still holds it.
        prctl(1, int(signal.SIGTERM), 0, 0, 0)  # PR_SET_PDEATHSIG


def _read(size: int) -> bytes:
    data = bytearray()
    while len(data) < size:
        piece = os.read(0, min(size - len(data), 1 << 20))
        if not piece:
            sys.exit(1)  # whoever started us is gone
        data += piece
    return bytes(data)


def _pass(*_: object) -> None:
    """Only wake up."""


def _say(line: str) -> None:
    with suppress(OSError):  # nobody may be left to hear it
        os.write(2, line.encode() + b"\n")


if __name__ == "__main__":
    Keeper().run()
