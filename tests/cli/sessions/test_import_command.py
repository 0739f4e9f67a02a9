"""Sessions that exist at an agent alone become sessions of the journal."""

import json
import shlex
from pathlib import Path

import pytest

from tests.agents.acp.scripted import received, scripted
from tests.cli.child_programs import run


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a journal, and an agent that remembers two sessions of another program."""
    monkeypatch.setenv("TRUNKLINE_JOURNAL", f"sqlite:{tmp_path / 'journal.db'}")
    (tmp_path / "agent").mkdir()
    for name in ("one", "two"):
        said = [["user", f"question {name}"], ["agent", f"answer {name}"]]
        kept = {"said": said, "cwd": str(tmp_path), "servers": []}
        (tmp_path / "agent" / f"{name}.json").write_text(json.dumps(kept))
    return tmp_path


def target(home: Path, *options: str) -> str:
    command, args = scripted("--home", str(home / "agent"), "--log", str(home / "log"), *options)
    return f"acp:{shlex.join([command, *args])}"


def test_without_an_id_the_sessions_are_listed(home: Path) -> None:
    result = run("sessions", "import", target(home), cwd=home)
    assert result.code == 0
    assert [line.split() for line in result.out.splitlines()] == [
        ["ID", "LAST", "USED", "IMPORTED", "TITLE"],
        ["one", "no", "One"],
        ["two", "no", "Two"],
    ]
    assert "--all" in result.err


def test_the_ids_of_the_list_are_short_and_enough_to_import(home: Path) -> None:
    for name in ("0199a213-81c0-7800-aaaa-0123456789ab-a", "0199a213-81c0-7800-aaaa-0123456789ab-b"):
        (home / "agent" / f"{name}.json").write_text((home / "agent" / "one.json").read_text())
    for name in ("one", "two"):
        (home / "agent" / f"{name}.json").rename(home / "agent" / f"{name}-{'0' * 60}.json")
    listed = run("sessions", "import", target(home), cwd=home).out
    assert "0199a213-81c0-7800-aaaa-0123456789ab-a  " in listed
    result = run("sessions", "import", target(home), "two-0000", "0199a213", cwd=home)
    assert result.code == 2
    assert "2 sessions of the agent begin with '0199a213': give more of the id" in result.err
    done = run("sessions", "import", target(home), "two-0000", cwd=home)
    assert (done.code, len(done.out.splitlines())) == (0, 1), done.err


def test_a_session_is_imported_once_and_goes_on(home: Path) -> None:
    agent = target(home)
    result = run("sessions", "import", agent, "one", cwd=home)
    assert result.code == 0, result.err
    session_id = result.out.strip()
    shown = run("sessions", "show", session_id, cwd=home).out
    assert "question one" in shown
    assert "answer one" in shown
    again = run("sessions", "import", agent, "--all", cwd=home)
    assert f"one is in the journal already: {session_id}" in again.err
    assert len(again.out.splitlines()) == 1
    said = json.loads(run("exec", agent, "recall", "--session", session_id, cwd=home).out)
    assert said[0] == ["user", "question one"]
    assert said[-1] == ["user", "recall"]


def test_what_cannot_be_imported_leaves_nothing_and_takes_nothing_from_the_agent(home: Path) -> None:
    result = run("sessions", "import", target(home, "--refuse", "load"), "one", "nothing", cwd=home)
    assert result.code == 1
    assert "one was not imported" in result.err
    assert "nothing was not imported" in result.err
    assert run("sessions", "list", cwd=home).out == ""
    assert not [one for one in received(home / "log") if one.get("method") == "session/delete"]
    assert (home / "agent" / "one.json").exists()


def test_an_agent_that_lists_nothing_can_still_load_what_is_named(home: Path) -> None:
    agent = target(home, "--offer", "load")
    result = run("sessions", "import", agent, cwd=home)
    assert result.code == 1
    assert "does not offer a list of its sessions" in result.err
    assert run("sessions", "import", agent, "two", cwd=home).code == 0


def test_wrong_usage_is_told(home: Path) -> None:
    result = run("sessions", "import", "demo", cwd=home)
    assert result.code == 2
    assert "demo has no sessions of its own" in result.err
    result = run("sessions", "import", target(home), "one", "--all", cwd=home)
    assert result.code == 2
    (home / "agent" / "one.json").unlink()
    (home / "agent" / "two.json").unlink()
    assert "The agent has no sessions." in run("sessions", "import", target(home), cwd=home).err


def test_a_file_of_an_export_is_refused_with_the_reason(home: Path) -> None:
    result = run("sessions", "import", "talk.jsonl", cwd=home)
    assert result.code == 2
    assert "what `sessions export` wrote cannot be imported" in result.err
