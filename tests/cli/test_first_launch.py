import shutil
from pathlib import Path

import pytest

from tests.cli.child_programs import Pty, run

LINE = "npx -y @google/gemini-cli@0.56.0 --acp"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine whose npx is a program that ends at once, and without gemini."""
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "npx").write_text("#!/bin/sh\necho started > started\nexit 3\n")
    (programs / "npx").chmod(0o755)
    for name in ("env", "sh", "setsid"):
        (programs / name).symlink_to(shutil.which(name) or "")
    monkeypatch.setenv("PATH", str(programs))
    monkeypatch.setenv("TRUNKLINE_JOURNAL", f"sqlite:{tmp_path / 'journal.db'}")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path


def test_without_a_terminal_the_exact_command_is_shown_and_run(home: Path) -> None:
    for _ in range(2):
        result = run("exec", "registry:gemini", "hi", cwd=home)
        assert f"registry:gemini is downloaded and run: {LINE}\n" in result.err
        assert result.code == 1
    assert (home / "started").exists()


def test_a_person_is_asked_once(home: Path) -> None:
    with Pty("exec", "registry:gemini", "hi", cwd=home) as terminal:
        assert LINE in terminal.expect("Start it? [y/N]")
        assert not (home / "started").exists()
        terminal.type("y")
        assert terminal.wait() == 1
    assert (home / "started").exists()
    again = run("exec", "registry:gemini", "hi", cwd=home)
    assert "downloaded" not in again.err
    assert "downloaded" in run("exec", "registry:gemini@latest", "hi", cwd=home).err


def test_nothing_runs_after_a_no(home: Path) -> None:
    target = "registry:gemini"
    for command in (("exec", target, "hi"), ("chat", target), ("serve", target)):
        with Pty(*command, cwd=home) as terminal:
            terminal.expect("Start it?")
            terminal.type("n")
            terminal.expect("nothing was started")
            assert terminal.wait() == 1
    assert not (home / "started").exists()


def test_yes_is_an_answer_that_is_remembered_too(home: Path) -> None:
    with Pty("exec", "registry:gemini", "hi", "--yes", cwd=home) as terminal:
        terminal.expect(LINE)
        assert terminal.wait() == 1
    assert "downloaded" not in run("exec", "registry:gemini", "hi", cwd=home).err


def test_yes_without_an_agent_of_the_registry_is_refused(home: Path) -> None:
    result = run("exec", "demo", "hi", "--yes", cwd=home)
    assert result.code == 2
    assert "--yes is for agents of the registry" in result.err
