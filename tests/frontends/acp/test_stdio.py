"""Serving an agent from Python, and a TARGET with a journal of its own, to the process that started us."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from trunkline.conformance.acp.stdio_client import StdioClient, text

PROGRAM = """
import trunkline

async def hello(prompt, ctx):
    '''Greets.'''
    print("a print")
    yield f"hello {prompt.text}"

if __name__ == "__main__":
    trunkline.serve_acp(hello, name="greeter", journal="sqlite:served.db")
    print("after the editor left")
"""


@pytest.fixture
def talk(tmp_path: Path) -> Iterator[StdioClient]:
    (tmp_path / "program.py").write_text(PROGRAM, encoding="utf-8")
    with StdioClient([sys.executable, "program.py"], cwd=tmp_path) as talk:
        yield talk
        assert talk.faults() == []


def test_a_program_serves_its_own_function_and_goes_on_afterwards(talk: StdioClient, tmp_path: Path) -> None:
    assert talk.initialize()["agentInfo"]["name"] == "greeter"
    session_id = talk.open()
    talk.prompt(session_id, "you")
    assert talk.message_text(session_id) == "hello you"
    assert talk.finish() == 0
    assert talk.stderr == "a print\nafter the editor left\n"
    assert (tmp_path / "served.db").exists()


def test_a_byte_order_mark_before_the_first_line_and_a_folder_that_is_gone_are_kept_apart(
    talk: StdioClient, tmp_path: Path
) -> None:
    talk.stdin.write(b"\xef\xbb\xbf")
    talk.initialize()
    gone: dict[str, Any] = {"cwd": str(tmp_path / "gone"), "mcpServers": []}
    error = talk.error("session/new", gone)
    assert error["code"] == -32602
    assert "does not exist" in error["message"]
    session_id = talk.open()
    talk.prompt(session_id, "you")
    for method in ("session/load", "session/resume", "session/fork"):
        assert talk.error(method, {"sessionId": session_id, **gone})["code"] == -32602
    assert (
        talk.result("session/load", {"sessionId": session_id, "cwd": str(tmp_path), "mcpServers": []}) == {}
    )


def test_the_same_program_finds_its_sessions_again(talk: StdioClient, tmp_path: Path) -> None:
    talk.initialize()
    session_id = talk.open()
    talk.prompt(session_id, "you")
    assert talk.finish() == 0
    with StdioClient([sys.executable, "program.py"], cwd=tmp_path) as again:
        again.initialize()
        assert [s["sessionId"] for s in again.result("session/list", {})["sessions"]] == [session_id]
        again.result("session/load", {"sessionId": session_id, "cwd": "/", "mcpServers": []})
        assert again.message_text(session_id) == "hello you"


def test_a_journal_can_be_named_on_the_command_line(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "trunkline", "acp", "program.py:hello", "--journal", "sqlite:named.db"]
    (tmp_path / "program.py").write_text(PROGRAM, encoding="utf-8")
    env = {"XDG_CACHE_HOME": str(tmp_path), "TRUNKLINE_JOURNAL": f"sqlite:{tmp_path}/other.db"}
    with StdioClient(command, cwd=tmp_path, env=env) as talk:
        assert talk.initialize()["agentInfo"]["name"] == "hello"
        talk.open()
        assert talk.finish() == 0
    assert (tmp_path / "named.db").exists()
    assert not (tmp_path / "other.db").exists()


FAILING = """
async def hello(prompt, ctx):
    raise ValueError("odd")
    yield
"""


@pytest.mark.parametrize("options", [(), ("--journal", "memory:")])
def test_what_an_agent_raised_is_a_line_in_the_log_of_the_editor(
    options: tuple[str, ...], tmp_path: Path
) -> None:
    (tmp_path / "program.py").write_text(FAILING, encoding="utf-8")
    env = {"XDG_CACHE_HOME": str(tmp_path), "TRUNKLINE_JOURNAL": "memory:"}
    command = [sys.executable, "-m", "trunkline", "acp", "program.py:hello", *options]
    with StdioClient(command, cwd=tmp_path, env=env) as talk:
        talk.initialize()
        talk.error("session/prompt", {"sessionId": talk.open(), "prompt": text("x")})
        assert talk.finish() == 0
        output = talk.stderr
    assert output.startswith("error: hello failed in turn turn_")
    assert "TRUNKLINE_TRACEBACK=1" in output
    assert output.count("\n") == 1


def test_a_target_that_cannot_be_loaded_is_one_line_in_the_log_of_the_editor_at_once(tmp_path: Path) -> None:
    env = {"XDG_CACHE_HOME": str(tmp_path), "TRUNKLINE_JOURNAL": "memory:"}
    with StdioClient(
        [sys.executable, "-m", "trunkline", "acp", "gone.py:hello"], cwd=tmp_path, env=env
    ) as talk:
        talk.initialize()
        assert talk.stderr == f"error: there is no file 'gone.py' (looked from {tmp_path})\n"
        refused = talk.error("session/new", {"cwd": str(tmp_path), "mcpServers": []})
        assert "there is no file 'gone.py'" in refused["message"]
        assert talk.finish() == 0
        assert talk.stderr.count("\n") == 1
