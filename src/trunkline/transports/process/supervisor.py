"""The supervisor of one command: starts it, reports how it ended, and leaves nothing of it behind.

It is a program of its own between us and the command (``python -I -S supervisor.py FD``), and knows only the
standard library. Processes that the command leaves behind become the supervisor's children ("subreaper",
https://man7.org/linux/man-pages/man2/PR_SET_CHILD_SUBREAPER.2const.html), also a daemon that left its group
by ``setsid``. So the supervisor finds all of them; and as nobody else waits for its children, the number of a
dead one cannot belong to another process by the time it is signalled.

* stdin, stdout and stderr are the command's.
* FD is a socket to us. It brings the request, and then the numbers of signals, a byte each, which the
  supervisor sends to all processes. When it ends, because we closed it or died, all processes are ended: by
  SIGTERM, and after a grace period by SIGKILL. SIGTERM to the supervisor means: without the grace. It writes
  lines: ``started``, ``failed ERRNO``, ``exited CODE`` (negative: by that signal).
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

PROC = "/proc"
POLL = 0.02
HEAD = struct.Struct("!dIQ")
_PARENT_DEATH_SIGNAL, _SUBREAPER = 1, 36  # PR_SET_PDEATHSIG and PR_SET_CHILD_SUBREAPER of prctl(2)


def request(argv: Sequence[str], env: Mapping[str, str], grace: float) -> bytes:
    """Write what a supervisor reads: the command, its variables, and the seconds of grace."""
    texts = [*argv, *(f"{name}={value}" for name, value in env.items())]
    if any("\0" in text for text in texts) or any("=" in name for name in env):
        raise ValueError("an argument or a variable has a character that the system does not allow")
    body = b"".join(os.fsencode(text) + b"\0" for text in texts)
    return HEAD.pack(grace, len(argv), len(body)) + body


class Supervisor:
    """Runs one command and adopts what it leaves."""

    def __init__(self) -> None:
        self._control = int(sys.argv[1])
        os.set_inheritable(self._control, False)
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
        """Keep a command until no process of it is left."""
        grace, argc, size = HEAD.unpack(self._read(HEAD.size))
        texts = self._read(size).split(b"\0")[:-1]
        env = dict(text.split(b"=", 1) for text in texts[argc:])
        if error := self._start(texts[:argc], env):
            self._report(f"failed {error}")
            return
        self._report("started")
        while not self._hurry and self._reap():
            ready, _, _ = select.select([self._control, self._woken], [], [])
            self._sleep(0)
            if self._control in ready:
                if not (numbers := self._receive(4096)):
                    break
                for number in numbers:
                    _signal(self._groups(), number)
        self._end(grace)

    def _start(self, argv: list[bytes], env: dict[bytes, bytes]) -> int:
        """Start the command in a session of its own; gives the errno if it does not start, else 0."""
        failing, failed = os.pipe()
        supervisor = os.getpid()
        self._leader = os.fork()
        if self._leader == 0:
            try:
                # Whoever kills every Python leaves the command without a supervisor.
                _set_process(_PARENT_DEATH_SIGNAL, signal.SIGKILL)
                if os.getppid() != supervisor:
                    os._exit(127)
                for number in (signal.SIGPIPE, signal.SIGXFSZ):  # the interpreter ignores these
                    signal.signal(number, signal.SIG_DFL)
                os.setsid()
                if os.isatty(0):
                    _take_terminal()
                os.execvpe(argv[0], argv, env)
            except OSError as error:
                os.write(failed, str(error.errno).encode())
            finally:
                os._exit(127)
        os.close(failed)
        nothing = os.open(os.devnull, os.O_RDWR)
        for pipe in (0, 1, 2):  # or the command's input and output would never end
            os.dup2(nothing, pipe)
        return int(os.read(failing, 16) or 0)

    # -- the end --

    def _end(self, grace: float) -> None:
        limit, signalled = time.monotonic() + grace, set[int]()
        while not self._hurry and time.monotonic() < limit and self._reap():
            groups = self._groups()
            _signal(groups - signalled, signal.SIGTERM)
            signalled |= groups
            self._sleep(POLL)
        limit = time.monotonic() + max(grace, 1.0)
        # Some cannot be ended: those of root, or stuck in the kernel.
        while self._reap() and time.monotonic() < limit:
            _signal(self._groups(), signal.SIGKILL)
            self._sleep(POLL)

    def _groups(self) -> set[int]:
        """The groups of our children. Until we wait for a child, its number and its group's are taken."""
        children = _children()
        if children is None:
            return {self._leader} if self._group_left else set()
        groups: set[int] = set()
        for child in children:
            with suppress(ProcessLookupError):
                groups.add(os.getpgid(child))
        return groups - {os.getpgrp()}

    def _reap(self) -> bool:
        """Wait for children that ended, report the command if it is one of them; whether any is left."""
        with suppress(ChildProcessError):
            while (found := os.waitpid(-1, os.WNOHANG))[0]:
                if found[0] == self._leader:
                    # If its group is empty now, another process may get the number.
                    self._group_left = _signal({self._leader}, 0)
                    self._report(f"exited {os.waitstatus_to_exitcode(found[1])}")
            return True
        if not os.path.isdir(PROC):
            self._group_left = self._group_left and _signal({self._leader}, 0)
            return self._group_left
        return False

    def _hasten(self, *_: object) -> None:
        self._hurry = True

    def _read(self, size: int) -> bytes:
        data = bytearray()
        while len(data) < size:
            piece = self._receive(min(size - len(data), 1 << 20))
            if not piece:
                sys.exit(1)  # our parent is gone
            data += piece
        return bytes(data)

    def _receive(self, size: int) -> bytes:
        try:
            return os.read(self._control, size)
        except ConnectionError:  # our parent is gone and has not read all that we reported
            return b""

    def _report(self, line: str) -> None:
        with suppress(OSError):  # our parent may be gone
            os.write(self._control, line.encode() + b"\n")

    def _sleep(self, seconds: float) -> None:
        select.select([self._woken], [], [], seconds)
        with suppress(BlockingIOError):
            os.read(self._woken, 4096)


def _take_terminal() -> None:
    """Make stdin the terminal of our session, so that its keys become signals."""
    import fcntl
    import termios

    with suppress(OSError):  # The terminal of another session stays that.
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)


def _signal(groups: set[int], number: int) -> bool:
    """Signal all processes of these groups; False if there was none."""
    reached = False
    for group in groups:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(group, number)
            reached = True
    return reached


def _children() -> list[int] | None:
    """Our children, also those that ended; None where there is no procfs."""
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
    """Become the parent of orphans, and be signalled when our own parent ends."""
    _set_process(_SUBREAPER, 1)
    # The socket ends with our parent, unless a fork of the parent still holds it.
    _set_process(_PARENT_DEATH_SIGNAL, signal.SIGTERM)


def _set_process(attribute: int, value: int) -> None:
    """Set an attribute of this process; Linux only."""
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(attribute, int(value), 0, 0, 0)


def _pass(*_: object) -> None:
    """Only wake up."""


if __name__ == "__main__":
    Supervisor().run()
