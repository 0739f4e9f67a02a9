"""Options that several commands have: ``--policy`` holds in each of them."""

from pathlib import Path
from typing import Any

import click
import pytest

from tests.cli.child_programs import command, events_of, kept, run
from tests.cli.test_serve import run_input, serving
from trunkline import events as ev
from trunkline.cli.options import policy_option
from trunkline.conformance.acp.stdio_client import StdioClient
from trunkline.workspace.policy import POLICY_NAMES

AGENT = """
import trunkline
from trunkline.errors import Denied

@trunkline.agent
async def writes(prompt, ctx):
    try:
        await ctx.files.write("made.txt", "text")
        yield "written"
    except Denied as error:
        yield f"denied: {error}"
"""
POLICY = """
[[rules]]
decision = "deny"
path = "made.txt"
"""
DENIED = "denied: Write made.txt: refused by policy (the rule: deny path made.txt)"


def test_the_help_names_every_policy_and_what_holds_without_one() -> None:
    @click.command
    @policy_option
    def command(policy: Any) -> None: ...

    (option,) = command.params
    assert isinstance(option, click.Option)
    assert f": {', '.join(POLICY_NAMES)}, or" in (option.help or "")
    assert "default: no policy" in (option.help or "")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "agent.py").write_text(AGENT)
    (tmp_path / "policy.toml").write_text(POLICY)
    return tmp_path


def decisions(folder: Path) -> list[tuple[bool, str, str | None]]:
    """The decisions in the journal of a folder."""
    journal = folder / "journal.db"
    events = [event for info in kept(journal) for event in events_of(journal, info.session_id)]
    return [(one.allowed, one.by, one.rule) for one in events if isinstance(one, ev.Decided)]


def test_exec_obeys_a_policy_and_a_refusal_is_its_exit_code(folder: Path) -> None:
    arguments = ("exec", "agent.py:writes", "go", "--journal", "sqlite:journal.db")
    refused = run(*arguments, "--policy", "policy.toml", cwd=folder)

    assert (refused.code, refused.out) == (5, f"{DENIED}\n")
    assert not (folder / "made.txt").exists()
    assert decisions(folder) == [(False, "policy", "deny path made.txt")]
    allowed = run(*arguments, "--policy", "accept-edits", cwd=folder)
    assert (allowed.code, allowed.out) == (0, "written\n")


def test_chat_obeys_a_policy(folder: Path) -> None:
    ended = run(
        "chat", "agent.py:writes", "--policy", "read-only", "--journal", "memory:", stdin="go\n", cwd=folder
    )
    assert ended.code == 0
    assert "refused by policy" in ended.out


def test_acp_obeys_a_policy(folder: Path) -> None:
    arguments = ("acp", "agent.py:writes", "--policy", "policy.toml", "--journal", "sqlite:journal.db")
    with StdioClient(command(*arguments), cwd=folder) as talk:
        talk.initialize()
        talk.prompt(talk.open(folder), "go")
        assert talk.finish() == 0
    assert decisions(folder) == [(False, "policy", "deny path made.txt")]


def test_serve_obeys_a_policy_in_the_folder_of_its_sessions(folder: Path) -> None:
    (folder / "work").mkdir()
    with (
        serving("agent.py:writes", "--policy", "policy.toml", "--cwd", "work", cwd=folder) as child,
        child.client() as client,
    ):
        answer = client.post("/agui", json=run_input())
    assert DENIED in answer.text
    assert not (folder / "work" / "made.txt").exists()


@pytest.mark.parametrize("name", ["exec", "chat", "acp", "serve"])
def test_a_policy_that_is_none_is_refused_before_anything_starts(name: str, folder: Path) -> None:
    prompt = ("go",) if name == "exec" else ()
    ended = run(name, "agent.py:writes", *prompt, "--policy", "readonly", cwd=folder)
    assert ended.code == 2
    assert "there is no policy and no file 'readonly' (did you mean 'read-only'?)" in ended.err
    assert "Traceback" not in ended.err


@pytest.mark.parametrize("arguments", [("exec", "demo", "go"), ("serve", "demo")])
def test_an_empty_folder_is_refused_and_is_not_the_current_one(arguments: tuple[str, ...]) -> None:
    ended = run(*arguments, "--cwd", "")
    assert ended.code == 2
    assert "'--cwd': it is empty: name a folder, or leave the option out" in ended.err


@pytest.mark.parametrize("name", ["exec", "chat", "acp", "serve", "sessions list"])
def test_the_help_names_the_default_journal(name: str) -> None:
    text = " ".join(run(*name.split(), "--help").out.split())
    assert "(default: TRUNKLINE_JOURNAL, else a SQLite file in your data folder)" in text
