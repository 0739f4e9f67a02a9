"""acpx, a headless client that people use: its exit codes and its words are what scripts rely on."""

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

SECONDS = 40
DENIED, TIMED_OUT = 5, 3
AGENT = shlex.join([sys.executable, "-m", "trunkline", "acp", "demo"])


class Acpx:
    """acpx in a folder and a home of its own."""

    def __init__(self, program: str, folder: Path) -> None:
        self.folder = folder
        self._program = program
        (folder / "home").mkdir()

    def command(self, *arguments: str) -> list[str]:
        return [self._program, "--agent", AGENT, *arguments]

    @property
    def environment(self) -> dict[str, str]:
        journal = f"sqlite:{self.folder / 'journal.db'}"
        return {**os.environ, "HOME": str(self.folder / "home"), "TRUNKLINE_JOURNAL": journal}

    def run(self, *arguments: str) -> tuple[int, str]:
        """Give the exit code and everything it printed."""
        done = subprocess.run(
            self.command(*arguments),
            cwd=self.folder,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=SECONDS,
        )
        return done.returncode, done.stdout


@pytest.fixture(scope="module")
def program(root: Path) -> str:
    """The command, which ``make setup`` has installed."""
    made = subprocess.run(
        [root / "scripts/peer-node", "acpx"], capture_output=True, text=True, check=True, timeout=300
    )
    return f"{made.stdout.strip()}/node_modules/.bin/acpx"


@pytest.fixture
def acpx(program: str, tmp_path: Path) -> Acpx:
    return Acpx(program, tmp_path)


def test_a_prompt_is_answered(acpx: Acpx) -> None:
    code, printed = acpx.run("exec", "hello world")
    assert code == 0
    assert printed.rstrip().endswith("hello world\n\n[done] end_turn")


def test_what_is_approved_is_done_through_the_client(acpx: Acpx) -> None:
    code, printed = acpx.run("--approve-all", "exec", "/permission")
    assert code == 0
    assert "[client] fs/write_text_file" in printed
    assert (acpx.folder / "hello.txt").read_text(encoding="utf-8") == "hello\n"


def test_what_is_denied_is_not_done_and_the_exit_code_says_so(acpx: Acpx) -> None:
    code, printed = acpx.run("--deny-all", "exec", "/permission")
    assert code == DENIED
    assert "Nothing was written." in printed
    assert not (acpx.folder / "hello.txt").exists()


def test_a_turn_that_takes_too_long_is_cancelled(acpx: Acpx) -> None:
    code, printed = acpx.run("--timeout", "10", "exec", "/wait-for-cancel")
    assert code == TIMED_OUT
    assert "[done] cancelled" in printed


def test_a_second_process_cancels_the_turn_of_the_first_and_the_session_goes_on(acpx: Acpx) -> None:
    assert acpx.run("sessions", "new", "--name", "one")[0] == 0
    try:
        with subprocess.Popen(
            acpx.command("--ttl", "30", "prompt", "-s", "one", "/wait-for-cancel"),
            cwd=acpx.folder,
            env=acpx.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        ) as first:
            assert first.stdout is not None
            assert any("[tool] Wait for cancel" in line for line in first.stdout)
            assert acpx.run("cancel", "-s", "one") == (0, "cancel requested\n")
            assert "[done] cancelled" in first.stdout.read()
            assert first.wait(SECONDS) == 0
        code, printed = acpx.run("prompt", "-s", "one", "still here")
        assert code == 0
        assert "still here\n\n[done] end_turn" in printed
    finally:
        acpx.run("sessions", "close", "one")  # Ends the process that acpx keeps for the session.
