"""What the Tab key offers, as a shell asks for it; nothing of the user's is imported."""

import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.cli.child_programs import command as words_of
from tests.cli.child_programs import run

BROKEN = 'raise SystemExit("imported")\nasync def hello(prompt): ...\ndef _hidden(): ...\nagent = hello\n'


def offered(line: str, cwd: Path) -> list[str]:
    """Ask as bash does; the last word is the one that is being typed."""
    words = line.split(" ")
    result = run(
        cwd=cwd, _TRUNKLINE_COMPLETE="bash_complete", COMP_WORDS=line, COMP_CWORD=str(len(words) - 1)
    )
    assert result.err == ""
    return [one.partition(",")[2] for one in result.out.splitlines() if one]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a file that must not be run, a configuration and a session."""
    (tmp_path / "broken.py").write_text(BROKEN)
    (tmp_path / "trunkline.toml").write_text('[agents]\nshop = "broken.py:agent"\n')
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "more.py").write_text("")
    monkeypatch.setenv("TRUNKLINE_JOURNAL", f"sqlite:{tmp_path / 'journal.db'}")
    return tmp_path


def test_commands_options_targets_and_names_in_a_file_are_offered(folder: Path) -> None:
    assert "sessions" in offered("trunkline se", folder)
    assert "--continue" in offered("trunkline chat demo --c", folder)
    assert {"demo", "demo-auth", "finance", "shop", "broken.py"} <= set(offered("trunkline chat ", folder))
    (folder / "inner" / "more\nplain,--yes.py").write_text("")
    assert offered("trunkline chat inn", folder) == ["inner/"]
    assert offered("trunkline chat inner/", folder) == ["inner/more.py"]
    assert offered("trunkline chat broken.py:", folder) == ["broken.py:hello", "broken.py:agent"]
    assert offered("trunkline chat missing.py:", folder) == []


def test_sessions_are_offered_by_name_and_id(folder: Path) -> None:
    assert offered("trunkline sessions show ", folder) == []
    for more in ((), ("--session", "work")):
        assert run("exec", "demo", "hello", "--config", "none", *more, cwd=folder).code == 0
    found = offered("trunkline chat demo --session ", folder)
    assert found[0] == "work"
    assert found[1].startswith("sess_")
    assert offered("trunkline sessions show wo", folder) == ["work"]


def test_policies_are_offered_by_name_or_as_a_file(folder: Path) -> None:
    assert {"ask", "allow-reads", "deny"} <= set(offered("trunkline exec demo hi --policy ", folder))
    assert offered("trunkline exec demo hi --policy allow-r", folder) == ["allow-reads", "allow-r"]


def test_a_broken_journal_or_configuration_offers_what_is_left(folder: Path) -> None:
    (folder / "trunkline.toml").write_text("=")
    (folder / "journal.db").write_text("no database")
    assert "demo" in offered("trunkline chat de", folder)
    assert offered("trunkline sessions show ", folder) == []


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_of_a_shell_is_one_that_it_reads(shell: str) -> None:
    script = run("completion", shell)
    assert script.code == 0
    assert "_TRUNKLINE_COMPLETE" in script.out
    if (program := shutil.which(shell)) is not None:
        checked = subprocess.run([program, "-n"], input=script.out, text=True, timeout=30, check=False)
        assert checked.returncode == 0


def test_bash_completes_with_the_script(folder: Path) -> None:
    program = folder / "trunkline"
    program.write_text(f'#!/bin/sh\nexec {" ".join(words_of())} "$@"\n')
    program.chmod(0o700)
    line = (
        f"{run('completion', 'bash').out}\n"
        f"COMP_WORDS=(trunkline sess); COMP_CWORD=1; _trunkline_completion {program}\n"
        "COMP_WORDS=(trunkline chat broken.py : he); COMP_CWORD=4; COMP_WORDBREAKS=:\n"
        f"_trunkline_completion {program}\n"
        'echo "${COMPREPLY[@]}"'
    )
    words = ["bash", "-c", line]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60, cwd=folder, check=False)
    assert done.stdout.split() == ["sessions", "hello"]


def test_bash_puts_what_it_offers_in_quotes(folder: Path) -> None:
    (folder / "evil$(touch made).py").touch()
    line = (
        f"{run('completion', 'bash').out}\n"
        "trunkline() { " + shlex.join(words_of()) + ' "$@"; }\n'
        "COMP_WORDS=(trunkline chat evil); COMP_CWORD=2; _trunkline_completion trunkline\n"
        'eval "echo ${COMPREPLY[0]}"'
    )
    done = subprocess.run(
        ["bash", "-c", line], capture_output=True, text=True, timeout=60, cwd=folder, check=False
    )
    assert done.stdout == "evil$(touch made).py\n"
    assert not (folder / "made").exists()
