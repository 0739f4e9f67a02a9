import os
import signal
import subprocess
from typing import Any

import pytest
from tests.process_state import wait_until_gone

from trunkline.transports.process.piped_program import PipedProgram


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_program_that_is_still_being_started_ends_with_a_command_that_is_told_to_end(
    number: signal.Signals, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[int] = []

    class SignalledPopen(subprocess.Popen[bytes]):
        """The signal comes when the program runs, and before its handle is there."""

        def __init__(self, *args: Any, **named: Any) -> None:
            super().__init__(*args, **named)
            started.append(self.pid)
            os.kill(os.getpid(), number)

    def end(number: int, frame: object) -> None:
        raise SystemExit(128 + number)

    monkeypatch.setattr(subprocess, "Popen", SignalledPopen)
    before = signal.signal(number, end)
    try:
        with pytest.raises(SystemExit, match=str(128 + number)):
            PipedProgram(["sleep", "1000"], env=os.environ)
        assert signal.getsignal(number) is end
    finally:
        signal.signal(number, before)
    wait_until_gone(*started)
    assert started


def test_a_signal_that_ends_nothing_leaves_the_program_alone() -> None:
    heard: list[int] = []
    before = signal.signal(signal.SIGTERM, lambda number, frame: heard.append(number))
    try:
        program = PipedProgram(["cat"], env=os.environ)
        os.kill(os.getpid(), signal.SIGTERM)
        assert heard == [signal.SIGTERM]
        program.stdin.write(b"said\n")
        program.stdin.flush()
        assert program.stdout.readline() == b"said\n"
        program.close()
    finally:
        signal.signal(signal.SIGTERM, before)
