"""A person's machine for `trunkline init`: a home, a folder with an agent, and nothing else."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.child_programs import Result
from trunkline.cli import main
from trunkline.cli.init.variables import PROVIDER_KEYS

AGENT = """
import trunkline


@trunkline.agent(title="Hello")
async def hello(prompt, ctx):
    yield f"You said {prompt.text}."
"""

Run = Callable[..., Result]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The person's home folder; the current folder is one with agent.py."""
    home = tmp_path / "home"
    work = tmp_path / "work"
    home.mkdir()
    work.mkdir()
    (work / "agent.py").write_text(AGENT)
    monkeypatch.chdir(work)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    for name in ("XDG_CONFIG_HOME", "XDG_STATE_HOME", "TRUNKLINE_CONFIG", *PROVIDER_KEYS):
        monkeypatch.delenv(name, raising=False)
    return home


@pytest.fixture
def init(home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run the command line in this process, without a terminal."""

    def run(*arguments: str) -> Result:
        with Path("/dev/null").open() as nothing:
            monkeypatch.setattr("sys.stdin", nothing)
            with pytest.raises(SystemExit) as left:
                main.main(["init", *arguments])
        shown = capsys.readouterr()
        assert isinstance(left.value.code, int)
        return Result(left.value.code, shown.out, shown.err)

    return run


@pytest.fixture
def program(tmp_path: Path) -> Callable[[str], Path]:
    """Put a program into PATH."""

    def make(name: str) -> Path:
        path = tmp_path / "bin" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("#!/bin/sh\nexit 0\n")
        path.chmod(0o755)
        subprocess.run([str(path)], check=True, timeout=30)
        return path

    return make
