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
OWN = """
import trunkline


@trunkline.agent(title="My Greeter")
async def greeter(prompt, ctx):
    yield f"Hello, {prompt.text}!"
"""


class Acpx:
    """acpx in a folder and a home of its own."""

    def __init__(self, program: str, folder: Path) -> None:
        self.folder = folder
        self._program = program
        (folder / "home").mkdir()

    def command(self, *arguments: str) -> list[str]:
        return [self._program, "--agent", AGENT, *arguments]

    def run_configured(self, *arguments: str) -> tuple[int, str]:
        """Run it with the agents of its own configuration file."""
        return self._run([self._program, *arguments])

    @property
    def environment(self) -> dict[str, str]:
        journal = f"sqlite:{self.folder / 'journal.db'}"
        return {**os.environ, "HOME": str(self.folder / "home"), "TRUNKLINE_JOURNAL": journal}

    def run(self, *arguments: str) -> tuple[int, str]:
        """Give the exit code and everything it printed."""
        return self._run(self.command(*arguments))

    def _run(self, words: list[str]) -> tuple[int, str]:
        done = subprocess.run(
            words,
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


@pytest.mark.parametrize("options", [[], ["--project"]])
def test_what_init_wrote_starts_the_agent(acpx: Acpx, options: list[str]) -> None:
    place = acpx.folder / ("home/.acpx/config.json" if not options else ".acpxrc.json")
    place.parent.mkdir(exist_ok=True)
    place.write_text('{"defaultPermissions": "deny-all", "agents": {}}')
    (acpx.folder / "agent.py").write_text(OWN)
    init = [sys.executable, "-m", "trunkline", "init", "acpx", "agent.py", "--yes", *options]
    env = {**acpx.environment, "XDG_STATE_HOME": str(acpx.folder / "state")}
    subprocess.run(init, cwd=acpx.folder, env=env, check=True, capture_output=True, timeout=SECONDS)
    code, printed = acpx.run_configured("my-greeter", "exec", "world")
    assert code == 0
    assert "Hello, world!" in printed
    assert printed.rstrip().endswith("[done] end_turn")
    subprocess.run(
        [*init[:5], *options, "--undo", "--yes"],
        cwd=acpx.folder,
        env=env,
        check=True,
        capture_output=True,
        timeout=SECONDS,
    )
    assert place.read_text() == '{"defaultPermissions": "deny-all", "agents": {}}'


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
