"""A program that takes the terminal over for as long as it runs, a login for example."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from types import FrameType

from trunkline.transports.process.environment import scrub


def run_in_terminal(argv: Sequence[str], env: Mapping[str, str]) -> int:
    """Run a program on our own terminal to its end; give its exit code, negative for a signal.

    It gets the user's environment without our secrets, and ``env``. Ctrl-C is the program's own business
    while it runs: a person who leaves it comes back to us. OSError if it cannot be started.
    """
    # A handler of ours, and not SIG_IGN: that would be inherited by the program.
    before = signal.signal(signal.SIGINT, _leave_to_program)
    try:
        return subprocess.Popen(list(argv), env={**scrub(os.environ, ["*"]), **env}).wait()
    finally:
        signal.signal(signal.SIGINT, before)


def _leave_to_program(number: int, frame: FrameType | None) -> None:
    """Do nothing: the terminal sends Ctrl-C to the program as well."""
