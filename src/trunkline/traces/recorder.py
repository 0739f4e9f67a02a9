"""Stands between a client and an agent's command: passes every line on as it is, and writes it down."""

from __future__ import annotations

import logging
import signal
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing, suppress
from typing import BinaryIO

from trunkline.traces.trace import Direction, write_line
from trunkline.transports.process.piped_program import PipedProgram

log = logging.getLogger("trunkline.traces")

_LONGEST_LINE = 256 * 1024 * 1024
_ENDS_WITHIN = 10.0
"""Seconds that the agent has to end by itself once the client is gone."""


class _TraceFile:
    """Writes lines of both directions, each whole and at once: a crash loses nothing before it.

    A file that takes no more, as on a full disk, ends the trace and nothing else.
    """

    def __init__(self, file: BinaryIO, clock: Callable[[], float]) -> None:
        self._file = file
        self._clock = clock
        self._began = clock()
        self._lock = threading.Lock()
        self._is_over = False

    def add(self, by: Direction, line: bytes) -> None:
        with self._lock:
            if self._is_over:
                return
            left = memoryview(write_line(self._clock() - self._began, by, line))
            try:
                while left:
                    left = left[self._file.write(left) :]
            except OSError as error:
                self._is_over = True
                log.warning("the trace ends here: %s", error.strerror or error)


def record(
    argv: Sequence[str],
    trace: BinaryIO,
    *,
    stdin: BinaryIO,
    stdout: BinaryIO,
    env: Mapping[str, str],
    clock: Callable[[], float] = time.monotonic,
) -> int:
    """Run an agent's command for the client on ``stdin`` and ``stdout``; give its exit code.

    Lines pass byte by byte as they are; ``trace`` has no buffer. When the client closes its end, so do we;
    an agent that does not end then is killed. OSError if the command cannot be started.
    """
    written = _TraceFile(trace, clock)
    with closing(PipedProgram(argv, env=env)) as program:

        def listen() -> None:
            """Pass on what the client says; this thread may wait for ever, and is not waited for."""
            with suppress(OSError, ValueError):
                while line := stdin.readline(_LONGEST_LINE):
                    written.add("client->agent", line)
                    program.stdin.write(line)
                    program.stdin.flush()
            with suppress(OSError):
                program.stdin.close()
            client_left.set()

        client_left = threading.Event()
        threading.Thread(target=listen, daemon=True).start()
        threading.Thread(target=_end_after, args=(program, client_left), daemon=True).start()
        while line := program.stdout.readline(_LONGEST_LINE):
            written.add("agent->client", line)
            with suppress(BrokenPipeError):
                stdout.write(line)
                stdout.flush()
        code = program.wait(_ENDS_WITHIN)
        return 128 + signal.SIGKILL if code is None else code


def _end_after(program: PipedProgram, client_left: threading.Event) -> None:
    """Kill an agent that goes on without its client."""
    client_left.wait()
    if program.wait(_ENDS_WITHIN) is None:
        program.kill()
