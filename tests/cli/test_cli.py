"""The command line as a whole: help that teaches, errors that are sentences, nothing loaded in vain."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.child_programs import command, run
from trunkline._version import __version__


def imported(*arguments: str) -> set[str]:
    """Give the modules that a command loads."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE")}
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "trunkline", *arguments],
        env=environment,
        capture_output=True,
        text=True,
        timeout=30,
    )
    lines = done.stderr.splitlines()
    return {line.rpartition("|")[2].strip() for line in lines if line.startswith("import time:")}


def test_a_default_in_the_help_is_told() -> None:
    help_text = " ".join(run("exec", "--help").out.split())
    assert "default: you are asked in a terminal, none elsewhere" in help_text


def test_the_version_is_said() -> None:
    assert run("--version").out == f"trunkline {__version__}\n"


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("exec",),
        ("chat",),
        ("serve",),
        ("sessions",),
        ("finance",),
        *(("finance", n) for n in ("import", "undo", "link")),
        *(("sessions", n) for n in ("list", "show", "export", "delete", "cancel", "rename")),
        ("config",),
        ("completion",),
    ],
)
def test_every_help_shows_examples(arguments: tuple[str, ...]) -> None:
    result = run(*arguments, "--help")

    assert result.code == 0
    assert "Example" in result.out
    assert "  trunkline " in result.out


def test_the_help_of_all_loads_no_command() -> None:
    loaded = imported("--help")

    assert "trunkline.cli" in loaded
    assert not {name for name in loaded if name.startswith("trunkline.cli.")}


def test_events_and_json_are_printed_without_rich_and_without_frameworks() -> None:
    loaded = imported("exec", "demo", "/tools", "--format", "events", "--journal", "memory:")
    roots = {name.partition(".")[0] for name in loaded}

    assert "trunkline.cli.exec.run" in loaded
    assert roots.isdisjoint({"rich", "pydantic", "langchain", "langgraph", "starlette", "sqlite3", "httpx"})


def test_sessions_are_read_without_an_agent() -> None:
    assert "trunkline.agents.targets" not in imported("sessions", "list", "--journal", "memory:")


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        (("exce", "demo", "x"), "did you mean 'exec'?"),
        (("juggle",), "commands are exec, chat"),
        (("exec", "demo"), "Missing argument 'PROMPT'"),
        (("chat",), "Which agent? For example demo, agent.py:hello"),
        (("exec", "demo", "x", "--format", "xml"), "'xml' is not one of"),
        (("exec", "demo", "x", "--timeout", "0"), "--timeout"),
        (("exec", "nothing", "x"), "Known forms: module:attr"),
        (("exec", "demmo", "x"), "did you mean 'demo'?"),
        (("exec", "missing.py:agent", "x"), "there is no file 'missing.py'"),
        (("exec", "demo", "x", "--journal", "paper:"), "use sqlite:PATH"),
        (("exec", "demo", "x", "--cwd", "/nowhere/at/all"), "does not exist"),
        (("exec", "demo", "x", "--session", "sess_12345678", "--cwd", "."), "--cwd is for a new session"),
        (("exec", "demo", "x", "--session", "sess_12345678", "--journal", "memory:"), "no session"),
        (("chat", "demo", "--session", "sess_12345678", "--journal", "memory:"), "no session"),
    ],
)
def test_wrong_usage_is_explained_and_ends_with_2(
    arguments: tuple[str, ...], hint: str, tmp_path: Path
) -> None:
    result = run(*arguments, cwd=tmp_path)

    assert result.code == 2
    assert hint in result.err
    assert "Traceback" not in result.err
    assert result.out == ""


def test_a_journal_that_is_none_is_named_without_a_stack_trace(tmp_path: Path) -> None:
    (tmp_path / "journal.db").write_text("certainly not a database" * 100)
    result = run("sessions", "list", "--journal", "sqlite:journal.db", cwd=tmp_path)

    assert result.code == 1
    assert result.err.startswith("error: ")
    assert "Traceback" not in result.err


def test_a_folder_that_is_not_there_and_a_disk_that_is_full_get_their_own_words(tmp_path: Path) -> None:
    missing = run("bundle", "--no-doctor", "-o", f"{tmp_path}/none/b.zip")
    assert missing.code == 1
    assert missing.err == f"error: {tmp_path}/none/b.zip: No such file or directory\n"
    words = " ".join(command("exec", "demo", "hi", "--journal", "memory:"))
    full = subprocess.run(
        ["bash", "-c", f"{words} > /dev/full"], capture_output=True, timeout=60, check=False
    )
    assert b"No space left on device; free some space or write elsewhere\n" in full.stderr


def test_a_bug_of_our_own_keeps_its_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    from trunkline import cli

    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(cli.click.Group, "main", broken)
    with pytest.raises(ZeroDivisionError):
        cli.main(["--version"])


def test_a_shell_completes_the_commands() -> None:
    output = run(_TRUNKLINE_COMPLETE="bash_complete", COMP_WORDS="trunkline ", COMP_CWORD="1").out
    assert {"plain,exec", "plain,chat", "plain,sessions"} <= set(output.split())


def test_a_prompt_too_long_for_any_agent_is_refused() -> None:
    result = run("exec", "demo", "-", stdin="x" * (16 * 1024 * 1024 + 1))
    assert result.code == 2
    assert "longer than 16 MiB" in result.err
