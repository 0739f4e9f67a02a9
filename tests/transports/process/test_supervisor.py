"""The supervisor: a process that starts one command and ends everything that the command started."""

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.process_state import is_alive, wait_until_gone

from trunkline.transports.process import supervisor

PROGRAM = [sys.executable, "-I", "-S", supervisor.__file__]
WITHOUT_PROCFS = f"""
import sys
sys.path.insert(0, {str(Path(supervisor.__file__).parent)!r})
import supervisor
supervisor.PROC = "/no/such/place"
supervisor.Supervisor().run()
"""
TREE = """
trap '' TERM
setsid -f sh -c 'trap "" TERM; echo $$; while :; do sleep 1; done'
sh -c 'echo $$; exec sleep 600' &
echo $$
while :; do sleep 1; done
"""
"""A shell that is deaf, a daemon that is deaf, and a child."""


class Kept:
    """A supervisor, and what it reports."""

    def __init__(self, program: list[str], *argv: str, grace: float = 0.2) -> None:
        self.control, theirs = socket.socketpair()
        with theirs:
            number = theirs.fileno()
            self.process = subprocess.Popen(
                [*program, str(number)],
                pass_fds=[number],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self.control.sendall(supervisor.request(argv, {"PATH": os.environ["PATH"], "A": "b=c"}, grace))
        self.control.settimeout(20)
        self.reports = self.control.makefile()

    def reported(self) -> str:
        return self.reports.readline().strip()

    def pids(self, count: int) -> list[int]:
        assert self.process.stdout
        return [int(self.process.stdout.readline()) for _ in range(count)]

    def output(self) -> bytes:
        assert self.process.stdout
        return self.process.stdout.read()

    def close(self) -> int:
        with self.process:
            self.reports.close()
            self.control.close()
            return self.process.wait(20)


@pytest.fixture
def tree() -> Iterator[tuple[Kept, list[int]]]:
    kept = Kept(PROGRAM, "sh", "-c", TREE)
    pids = kept.pids(3)
    assert all(map(is_alive, pids))
    yield kept, pids
    kept.close()


def test_it_says_how_a_command_starts_and_ends() -> None:
    kept = Kept(PROGRAM, "sh", "-c", 'echo "$A"; echo error >&2; exit 7')
    assert (kept.reported(), kept.reported()) == ("started", "exited 7")
    assert kept.output() == b"b=c\nerror\n"
    kept.close()
    killed = Kept(PROGRAM, "sh", "-c", "kill -9 $$")
    assert (killed.reported(), killed.reported(), killed.close()) == ("started", "exited -9", 0)
    missing = Kept(PROGRAM, "no-such-program")
    assert (missing.reported(), missing.close()) == ("failed 2", 0)


def test_what_a_supervisor_does_to_signals_is_undone_in_its_command() -> None:
    touched = sum(
        1 << number - 1
        for number in (
            signal.SIGHUP,
            signal.SIGINT,
            signal.SIGPIPE,
            signal.SIGTERM,
            signal.SIGCHLD,
            signal.SIGXFSZ,
        )
    )
    kept = Kept(PROGRAM, "grep", "-E", "Sig(Ign|Blk)", "/proc/self/status")
    assert (kept.reported(), kept.reported()) == ("started", "exited 0")
    assert [int(line.split()[1], 16) & touched for line in kept.output().splitlines()] == [0, 0]
    kept.close()


def test_all_end_when_its_input_ends(tree: tuple[Kept, list[int]]) -> None:
    kept, pids = tree
    kept.close()
    wait_until_gone(*pids)


def test_all_end_at_once_when_it_is_told_to_hurry() -> None:
    kept = Kept(PROGRAM, "sh", "-c", TREE, grace=600)
    pids = kept.pids(3)
    kept.process.send_signal(signal.SIGTERM)
    assert kept.process.wait(20) == 0
    wait_until_gone(*pids)
    kept.close()


def test_all_end_when_its_starter_is_killed() -> None:
    starter = f"""
import socket, subprocess, sys, time
from trunkline.transports.process import supervisor
ours, theirs = socket.socketpair()
number = theirs.fileno()
kept = subprocess.Popen([*{PROGRAM!r}, str(number)], pass_fds=[number], start_new_session=True)
theirs.close()
ours.sendall(supervisor.request(["sh", "-c", {TREE!r}], dict(PATH={os.environ["PATH"]!r}), 0.2))
time.sleep(600)
"""
    with subprocess.Popen(
        [sys.executable, "-c", starter], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as ours:
        assert ours.stdout
        pids = [int(ours.stdout.readline()) for _ in range(3)]
        ours.kill()
        ours.wait(20)
        wait_until_gone(*pids)


@pytest.mark.skipif(sys.platform != "linux", reason="no other system tells a child that its parent died")
def test_a_command_ends_with_a_supervisor_that_is_killed() -> None:
    kept = Kept(PROGRAM, "sh", "-c", "trap '' TERM HUP INT; echo $$; while :; do sleep 1; done")
    (pid,) = kept.pids(1)
    kept.process.kill()
    wait_until_gone(pid)
    kept.close()


def test_without_procfs_the_commands_group_ends(tmp_path: Path) -> None:
    program = [sys.executable, "-I", "-S", "-c", WITHOUT_PROCFS]
    kept = Kept(program, "sh", "-c", "sleep 600 & echo $!; exec sleep 600")
    (pid,) = kept.pids(1)
    kept.close()
    wait_until_gone(pid)
    left = Kept(program, "sh", "-c", "sh -c 'trap \"\" TERM; echo $$; while :; do sleep 1; done' & exit 3")
    (pid,) = left.pids(1)
    assert (left.reported(), left.reported()) == ("started", "exited 3")
    left.close()
    wait_until_gone(pid)
    nobody = Kept(program, "true")
    assert (nobody.reported(), nobody.reported(), nobody.process.wait(20)) == ("started", "exited 0", 0)
    nobody.close()


def test_a_request_that_ends_too_soon_starts_nothing() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        process = subprocess.Popen([*PROGRAM, str(theirs.fileno())], pass_fds=[theirs.fileno()])
        ours.sendall(b"half")
        ours.shutdown(socket.SHUT_WR)
        assert process.wait(20) == 1
