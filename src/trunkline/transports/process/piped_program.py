"""A program over whose pipes plain threads talk: the order of what is said is the order of the calls."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager, suppress


class PipedProgram:
    """One program in a session of its own, with pipes for stdin and stdout.

    What blocks here blocks its caller: for programs that drive another one step by step. Servers and
    sessions use ``child``, which also ends what a program leaves behind in other sessions.
    """

    def __init__(
        self,
        argv: Sequence[str],
        *,
        env: Mapping[str, str],
        cwd: str | os.PathLike[str] | None = None,
        stderr: int | None = None,
    ) -> None:
        """Start the program; ``stderr`` is a file descriptor, None for our own. OSError if it cannot."""
        with _signals_held() as held:
            self._process = subprocess.Popen(
                list(argv),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=stderr,
                cwd=cwd,
                env=dict(env),
                start_new_session=True,
            )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self.stdin = self._process.stdin
        self.stdout = self._process.stdout
        try:
            for number in held:
                signal.raise_signal(number)
        except BaseException:
            self.close()
            raise

    @property
    def pid(self) -> int:
        """The id of the process."""
        return self._process.pid

    @property
    def code(self) -> int | None:
        """The exit code, negative for a signal; None while it runs."""
        return self._process.poll()

    def send_signal(self, number: int) -> None:
        """Send a signal to the program alone; does nothing once it has ended."""
        self._process.send_signal(number)

    def wait(self, seconds: float) -> int | None:
        """Wait for the end and give the exit code; None when it does not come in time."""
        with suppress(subprocess.TimeoutExpired):
            return self._process.wait(seconds)
        return None

    def kill(self, patience: float = 20.0) -> None:
        """Kill the program and all that it started in its session."""
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait(patience)

    def close(self) -> None:
        """Kill what still runs and close the pipes."""
        self.kill()
        for pipe in (self.stdin, self.stdout):
            with suppress(OSError):
                pipe.close()


@contextmanager
def _signals_held() -> Generator[list[int]]:
    """Collect the signals that end us: what a handler raises would come between a start and its handle."""
    held: list[int] = []
    if threading.current_thread() is not threading.main_thread():
        yield held
        return
    ends = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    handlers = {number: handler for number in ends if callable(handler := signal.getsignal(number))}
    for number in handlers:
        signal.signal(number, lambda number, frame: held.append(number))
    try:
        yield held
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
