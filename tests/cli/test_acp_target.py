"""``acp:COMMAND ARGS`` on the command line: exec, and an editor in front of an agent behind ACP."""

import json
import os
import shlex
import signal
import subprocess
from pathlib import Path

import pytest

from tests.agents.acp.scripted import received, scripted
from tests.cli.child_programs import SECONDS, command, run
from tests.hubs import soon
from tests.process_state import eventually, wait_until_gone
from trunkline.agents.acp.client import AcpClient


@pytest.fixture(autouse=True)
def journal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A journal of our own."""
    monkeypatch.setenv("TRUNKLINE_JOURNAL", f"sqlite:{tmp_path / 'journal.db'}")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


def target(folder: Path, *options: str) -> str:
    (folder / "home").mkdir(exist_ok=True)
    program, args = scripted("--home", str(folder / "home"), "--log", str(folder / "log"), *options)
    return f"acp:{shlex.join([program, *args])}"


def test_exec_prints_the_answer_and_a_session_goes_on(tmp_path: Path) -> None:
    agent = target(tmp_path)
    first = run("exec", agent, "hello there", cwd=tmp_path)
    assert (first.code, first.out.strip()) == (0, "You said hello there")
    session_id = first.err.split()[1]
    again = run("exec", agent, "recall", "--session", session_id, cwd=tmp_path)
    assert "hello there" in again.out
    assert len([one for one in received(tmp_path / "log") if one.get("method") == "session/new"]) == 1


@pytest.mark.parametrize(
    ("name", "code", "why"),
    [
        ("acp:no-such-agent", 2, "Agent command not found: no-such-agent; looked in PATH="),
        ("pty:no-such-program", 2, "Agent command not found: no-such-program; looked in PATH="),
        ("acp:", 2, "acp: names no command"),
        ("acp:~/agent", 2, "No shell replaces ~ here: give its whole path."),
        ("acp:KEY=1 agent", 2, "No shell sets variables here: write env KEY=1 COMMAND."),
        (
            "acp:/bin/false",
            1,
            "initialize was not answered: the agent /bin/false is gone: it ended with code 1; does this",
        ),
        ("acp:cat", 1, "cat refused initialize: method not found: initialize; does this command speak ACP"),
        ("cat", 2, "unknown target 'cat'; did you mean 'acp:cat'?"),
        ("ACP:cat -u", 2, "did you mean 'acp:cat -u'?"),
        ("apc:cat -u", 2, "did you mean 'acp:cat -u'?"),
    ],
)
def test_what_is_no_agent_is_said_in_one_line(name: str, code: int, why: str, tmp_path: Path) -> None:
    result = run("exec", name, "hello", cwd=tmp_path)
    assert result.code == code
    assert why in result.err
    assert "Traceback" not in result.err


def test_the_timeout_of_exec_counts_from_the_start_of_the_agent(tmp_path: Path) -> None:
    result = run("exec", "acp:sleep 300", "hello", "--timeout", "0.5", cwd=tmp_path)
    assert (result.code, result.err) == (3, "error: the agent did not start within --timeout 0.5\n")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_no_agent_outlives_the_command(tmp_path: Path, number: signal.Signals) -> None:
    sleeper = tmp_path / "sleeper"
    agent = target(tmp_path, "--stays", "--setsid", str(sleeper))
    with subprocess.Popen(command("exec", agent, "silent"), cwd=tmp_path, stdout=subprocess.PIPE) as running:
        eventually(lambda: any(one.get("method") == "session/prompt" for one in received(tmp_path / "log")))
        os.kill(running.pid, number)
        running.wait(SECONDS)
    wait_until_gone(int(sleeper.read_text()))


def test_an_editor_reaches_the_agent_itself_without_any_option(tmp_path: Path) -> None:
    params = {"protocolVersion": 1, "own": 7}
    asked = {"jsonrpc": "2.0", "id": "ed-1", "method": "initialize", "params": params}
    done = run("acp", target(tmp_path), stdin=json.dumps(asked) + "\n", cwd=tmp_path)
    assert received(tmp_path / "log") == [asked]
    (answer,) = done.lines
    assert (answer["id"], answer["result"]["agentInfo"]["name"]) == ("ed-1", "scripted-agent")


async def test_an_editor_reaches_the_agent_through_our_own_front_end(tmp_path: Path) -> None:
    program, *args = command("acp", "--no-splice", target(tmp_path, "--early"))
    async with AcpClient(program, args, cwd=str(tmp_path), permission="allow") as editor:
        assert editor.card.name == "scripted-agent"
        await soon(editor.new_session())
        updates: list[str] = []
        editor.set_update_callback(lambda update: updates.append(update["sessionUpdate"]))
        result = await soon(editor.prompt("ask"))
        assert result.stop_reason == "end_turn"
        assert {"tool_call", "agent_message_chunk"} <= set(updates)


def test_yes_is_for_agents_of_the_registry(tmp_path: Path) -> None:
    result = run("acp", "acp:cat", "--yes", cwd=tmp_path)
    assert (result.code, "--yes is for agents of the registry" in result.err) == (2, True)
