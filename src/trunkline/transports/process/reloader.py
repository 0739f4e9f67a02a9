"""A child process that is started again whenever a file changes (``trunkline serve --reload``).

The parent holds the listening socket, so that a request which comes in between waits and is not refused. It
looks at the files twice a second: that needs no package and works on every file system, and a project has few
files. What the child must not lose (its token, its logins) it hands to the parent when it ends, and the next
one gets it. A child whose parent is gone ends.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from importlib.util import cache_from_source
from pathlib import Path
from typing import Any, NamedTuple

VARIABLE = "TRUNKLINE_RELOADER"
"""Tells a child the numbers of its sockets."""
EVERY = 0.5
"""Seconds between two looks at the files."""
ENDS_WITHIN = 20.0
"""Seconds that a child has to end; then it is killed."""
MOST_FILES = 5000
_MOST_BYTES = 1 << 20
_SKIPPED = frozenset({"__pycache__", "node_modules", "site-packages", "venv"})

Snapshot = dict[str, tuple[int, int]]
"""Files, with when they were changed and their size."""


def snapshot_of(folders: Iterable[Path], files: Iterable[Path] = ()) -> Snapshot:
    """Look at the Python files in and below folders, at most ``MOST_FILES``, and at single files."""
    seen: Snapshot = {}
    for path in files:
        _look(str(path), seen)
    for folder in folders:
        for path in _python_files(str(folder)):
            if len(seen) >= MOST_FILES:
                return seen
            _look(path, seen)
    return seen


def _look(path: str, seen: Snapshot) -> None:
    with suppress(OSError):
        found = os.stat(path)
        seen[path] = (found.st_mtime_ns, found.st_size)


def _python_files(folder: str) -> Iterator[str]:
    for path, folders, files in os.walk(folder):
        folders[:] = sorted(one for one in folders if not one.startswith(".") and one not in _SKIPPED)
        yield from (os.path.join(path, file) for file in sorted(files) if file.endswith(".py"))


def changed_file(before: Snapshot, after: Snapshot) -> str | None:
    """Name a file that was changed, made or removed."""
    return next((path for path in {**before, **after} if before.get(path) != after.get(path)), None)


def discard_compiled(before: Snapshot, after: Snapshot) -> None:
    """Remove what Python compiled of changed files: it takes a change within a second for none.

    "By default, Python does this by storing the source's last-modified timestamp and size in the cache file"
    (https://docs.python.org/3/reference/import.html#cached-bytecode-invalidation), the time in seconds.
    """
    for path in {**before, **after}:
        if path.endswith(".py") and before.get(path) != after.get(path):
            with suppress(OSError):
                os.unlink(cache_from_source(path))


class Reloader:
    """Runs a command on a listening socket until a signal comes; a changed file starts it again."""

    def __init__(
        self,
        command: Sequence[str],
        listener: socket.socket,
        look: Callable[[], Snapshot],
        *,
        env: dict[str, str],
        say: Callable[[str], None],
    ) -> None:
        """``look`` gives the files as they are now; ``say`` tells the person what happens."""
        self._command = list(command)
        self._listener = listener
        self._look = look
        self._env = env
        self._say = say
        self._state: dict[str, Any] = {}
        self._signal: signal.Signals | None = None

    def run(self) -> int:
        """Run until a signal comes, or the child ends well by itself; give the exit code."""
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, self._on_signal)
        while True:
            before = self._look()
            with _Child(self._command, self._listener, self._env, self._state) as child:
                changed = self._wait(before, child)
                if child.process.poll() is None:
                    self._state = child.end() or self._state
                code = child.process.returncode
            if self._signal is not None:
                return 0 if self._signal is not signal.SIGINT else 130
            if changed is None:
                if code == 0:
                    return 0
                self._say("The server ended with an error: it starts again when a file changes. Ctrl-C ends.")
                changed = self._wait(before, None)
                if changed is None:
                    return code
            discard_compiled(before, self._look())
            self._say(f"{os.path.relpath(changed)} changed: starting again")

    def _wait(self, before: Snapshot, child: _Child | None) -> str | None:
        """Wait for a change; None when a signal came or the child has ended."""
        while self._signal is None:
            if child is None:
                time.sleep(EVERY)
            else:
                with suppress(subprocess.TimeoutExpired):
                    child.process.wait(EVERY)
                    return None
            if (changed := changed_file(before, self._look())) is not None:
                return changed
        return None

    def _on_signal(self, number: int, frame: object) -> None:
        self._signal = signal.Signals(number)


class _Child:
    """One run of the command."""

    def __init__(
        self, command: list[str], listener: socket.socket, env: dict[str, str], state: dict[str, Any]
    ) -> None:
        self._ours, theirs = socket.socketpair()
        fds = (listener.fileno(), theirs.fileno())
        with theirs:
            self.process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                env={**env, VARIABLE: f"{fds[0]},{fds[1]}"},
                pass_fds=fds,
                # Ctrl-C is for us: a second signal would end it without its shutdown.
                start_new_session=True,
            )
        with suppress(OSError):
            self._ours.sendall(json.dumps(state).encode() + b"\n")

    def __enter__(self) -> _Child:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self._ours.close()

    def end(self) -> dict[str, Any] | None:
        """Let it end, and give what it wants to keep; one that takes too long is killed."""
        self.process.send_signal(signal.SIGTERM)
        self._ours.settimeout(ENDS_WITHIN)
        state: dict[str, Any] | None = None
        with suppress(OSError, ValueError):
            data = b""
            while len(data) < _MOST_BYTES and (piece := self._ours.recv(65536)):
                data += piece
            state = json.loads(data) if data else None
        try:
            self.process.wait(ENDS_WITHIN)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        return state


class Reloaded(NamedTuple):
    """What a child was given by its parent."""

    listener: socket.socket
    parent: socket.socket
    """Closed by the parent's end."""
    state: dict[str, Any]
    """What the child before it kept; empty for the first one."""

    def keep(self, state: dict[str, Any]) -> None:
        """Hand over what the next child is to have."""
        with suppress(OSError):
            self.parent.sendall(json.dumps(state).encode())


def reloaded() -> Reloaded | None:
    """Give what a parent that reloads gave this process; None if there is none."""
    numbers = os.environ.pop(VARIABLE, None)
    if numbers is None:
        return None
    listener, parent = (socket.socket(fileno=int(number)) for number in numbers.split(","))
    for one in (listener, parent):
        one.set_inheritable(False)
    data = b""
    while not data.endswith(b"\n") and len(data) < _MOST_BYTES and (piece := parent.recv(65536)):
        data += piece
    return Reloaded(listener, parent, json.loads(data or b"{}"))
