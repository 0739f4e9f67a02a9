import json
import shlex
from pathlib import Path
from typing import Any

import pytest

from tests.agents.acp.scripted import received, scripted
from tests.cli.child_programs import Pty, command, run

AGENT = """
import trunkline
from trunkline.agents.interface import AgentCard, AuthMethod
from trunkline.errors import AuthenticationRequired

class Keyed:
    card = AgentCard(
        name="keyed",
        auth_methods=(
            AuthMethod(method_id="key", name="API key", kind="env_var", variables=("DEMO_KEY", "DEMO_ORG")),
        ),
    )

    async def run(self, prompt, ctx):
        raise AuthenticationRequired("the key was refused")
        yield

class Lost:
    card = AgentCard(
        name="lost",
        auth_methods=(
            AuthMethod(method_id="one", name="One"),
            AuthMethod(method_id="two", name="Two", kind="terminal"),
        ),
    )

    async def run(self, prompt, ctx):
        yield "hi"

keyed, lost = Keyed(), Lost()

@trunkline.agent
async def free(prompt, ctx):
    yield "hi"
"""


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with agents, a journal and a state folder of its own."""
    (tmp_path / "agents.py").write_text(AGENT, encoding="utf-8")
    monkeypatch.setenv("TRUNKLINE_JOURNAL", f"sqlite:{tmp_path / 'journal.db'}")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path


def test_several_ways_are_listed_and_nothing_is_done(home: Path) -> None:
    result = run("login", "demo-auth", cwd=home)
    assert result.code == 2
    assert result.out.splitlines() == [
        "demo-login            agent     Demo login: Logs in until the program ends",
        "demo-terminal         terminal  Log in from a terminal: Asks there, and lasts",
    ]
    assert "Choose one: trunkline login demo-auth METHOD" in result.err


def test_an_agent_logs_in_by_itself(home: Path) -> None:
    result = run("login", "demo-auth", "demo-login", cwd=home)
    assert (result.code, result.out) == (0, "")
    assert "Logged in: Demo login" in result.err


def test_a_login_in_the_terminal_lasts_until_the_logout(home: Path) -> None:
    before = run("exec", "demo-auth", "hello", cwd=home)
    assert before.code == 1
    assert "log in with: trunkline login demo-auth" in before.err
    with Pty("login", "demo-auth", "demo-terminal", cwd=home) as terminal:
        terminal.expect("Your name")
        terminal.type("Ada")
        terminal.expect("Logged in: Log in from a terminal")
        assert terminal.wait() == 0
    assert run("exec", "demo-auth", "hello", cwd=home).out == "hello\n"
    assert run("login", "demo-auth", "--logout", cwd=home).code == 0
    assert run("exec", "demo-auth", "hello", cwd=home).code == 1


def test_a_login_that_fails_in_the_terminal_is_none(home: Path) -> None:
    with Pty("login", "demo-auth", "demo-terminal", cwd=home) as terminal:
        terminal.expect("Your name")
        terminal.type("")
        terminal.expect("not logged in")
        terminal.expect("ended with exit code 1")
        assert terminal.wait() == 1


def test_ctrl_c_ends_the_login_program_and_not_us(home: Path) -> None:
    with Pty("login", "demo-auth", "demo-terminal", cwd=home, controlling=True) as terminal:
        terminal.expect("Your name")
        terminal.press(b"\x03")
        terminal.expect("not logged in")
        assert terminal.wait() == 1


def test_a_terminal_is_needed_for_a_login_in_one(home: Path) -> None:
    result = run("login", "demo-auth", "demo-terminal", cwd=home)
    assert result.code == 1
    assert "needs a terminal" in result.err


def test_an_editor_that_runs_our_command_again_can_log_in(home: Path) -> None:
    asked = {"protocolVersion": 1, "clientCapabilities": {"auth": {"terminal": True}}}
    line = json.dumps({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": asked}) + "\n"
    cache = str(home / "cache")
    for _ in ("by the agent's own card", "by the cached card"):
        answer = json.loads(run("acp", "demo-auth", stdin=line, cwd=home, XDG_CACHE_HOME=cache).out)
        method = answer["result"]["authMethods"][1]
        assert (method["type"], method["args"]) == ("terminal", ["--login", "demo-terminal"])
    with Pty("acp", "demo-auth", *method["args"], cwd=home) as terminal:
        terminal.expect("Your name")
        terminal.type("Ada")
        assert terminal.wait() == 0
    assert run("exec", "demo-auth", "hello", cwd=home).out == "hello\n"
    assert run("acp", "demo-auth", "--login", "x", "--journal", "memory:", cwd=home).code == 2


def test_variables_are_named_and_whether_they_are_set(home: Path) -> None:
    missing = run("login", "agents.py:keyed", cwd=home, DEMO_ORG="us")
    assert missing.code == 1
    assert missing.out == "DEMO_KEY  not set\nDEMO_ORG  set\n"
    assert "export DEMO_KEY=...\n" in missing.err
    there = run("login", "agents.py:keyed", cwd=home, DEMO_ORG="us", DEMO_KEY="secret")
    assert there.code == 0
    assert there.out == "DEMO_KEY  set\nDEMO_ORG  set\n"
    assert "secret" not in there.err


def test_a_login_that_is_missing_in_a_turn_is_guidance_too(home: Path) -> None:
    result = run("exec", "agents.py:keyed", "hello", cwd=home)
    assert result.code == 1
    assert f"the key was refused; log in with: trunkline login {home}/agents.py:keyed" in result.err


def test_an_agent_without_a_login_needs_none(home: Path) -> None:
    result = run("login", "agents.py:free", cwd=home)
    assert result.code == 0
    assert "offers no login" in result.err


def test_a_way_that_is_none_is_wrong_usage_with_the_nearest(home: Path) -> None:
    result = run("login", "demo-auth", "demo-logn", cwd=home)
    assert result.code == 2
    assert "demo-auth has no login 'demo-logn'; did you mean demo-login?" in result.err
    assert "known: none" in run("login", "agents.py:free", "x", cwd=home).err
    assert run("login", "demo-auth", "x", "--logout", cwd=home).code == 2
    assert run("login", "demo-auth", "--yes", cwd=home).code == 2


def test_an_agent_that_cannot_carry_out_its_own_login_says_so(home: Path) -> None:
    assert "cannot carry it out" in run("login", "agents.py:lost", "one", cwd=home).err
    assert "no command of its own" in run("login", "agents.py:lost", "two", cwd=home).err
    assert "has no logout" in run("login", "agents.py:lost", "--logout", cwd=home).err


# -- agents in processes of their own --------------------------------------------------------------


def acp_target(*options: str) -> str:
    """The TARGET of the scripted ACP agent."""
    program, args = scripted(*options)
    return f"acp:{shlex.join([program, *args])}"


def test_an_acp_agent_logs_in_by_the_ways_of_its_handshake(home: Path) -> None:
    log = home / "log"
    target = acp_target("--log", str(log))
    listed = run("login", target, cwd=home)
    assert [line.split()[:2] for line in listed.out.splitlines()] == [
        ["browser", "agent"],
        ["key", "env_var"],
        ["shell", "terminal"],
    ]
    assert run("login", target, "key", cwd=home).out == "SCRIPTED_KEY  not set\n"
    done = run("login", target, "browser", cwd=home)
    assert (done.code, "Logged in: Browser" in done.err) == (0, True)
    assert run("login", target, "--logout", cwd=home).code == 0
    sent = [message["method"] for message in received(log) if message["method"] != "initialize"]
    assert sent == ["authenticate", "logout"]


def test_the_command_of_an_acp_agent_runs_in_this_terminal_with_the_arguments_of_the_method(
    home: Path,
) -> None:
    target = f"acp:{shlex.join(command('acp', 'demo-auth'))}"
    before = run("exec", target, "hello", cwd=home)
    assert before.code == 1
    assert f"log in with: trunkline login {shlex.quote(target)}" in before.err
    with Pty("login", target, "demo-terminal", cwd=home) as terminal:
        terminal.expect("acp demo-auth --login demo-terminal")
        terminal.expect("Your name")
        terminal.type("Ada")
        assert terminal.wait() == 0
    assert run("exec", target, "hello", cwd=home).out == "hello\n"


def test_an_agent_that_is_not_there_cannot_log_in(home: Path) -> None:
    result = run("login", "acp:no-such-agent", cwd=home)
    assert result.code == 2
    assert "Agent command not found: no-such-agent" in result.err


def test_an_editor_is_told_the_command_that_logs_in(home: Path) -> None:
    target = acp_target("--login")
    lines: list[dict[str, Any]] = [
        {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": 1}},
        {"jsonrpc": "2.0", "id": 1, "method": "session/new", "params": {"cwd": str(home), "mcpServers": []}},
    ]
    said = run(
        "acp", "--no-splice", target, stdin="".join(json.dumps(line) + "\n" for line in lines), cwd=home
    )
    error = next(message["error"] for message in said.lines if message.get("id") == 1)
    assert error["code"] == -32000
    assert f"log in with: trunkline login {shlex.quote(target)}" in json.dumps(error, ensure_ascii=False)
