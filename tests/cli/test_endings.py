"""The end of a command: it does not wait for threads that an agent left behind, and closes what it opened."""

import json
import os
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from tests.cli.child_programs import command, run, start

LEAVES_THREADS = """
import aiosqlite

saver = None

async def make(session):
    global saver
    saver = saver or await aiosqlite.connect("async.db")

    async def answer(prompt):
        yield "answered"

    return answer
"""
CLOSES = """
from contextlib import asynccontextmanager
import aiosqlite

async def per_session(session):
    async with aiosqlite.connect("async.db") as database:
        async def answer(prompt):
            yield "answered"

        yield answer
    open("closed", "w").write("yes")

@asynccontextmanager
async def once():
    async with aiosqlite.connect("async.db") as database:
        async def answer(prompt):
            yield "answered"

        yield answer
    open("closed", "w").write("yes")
"""
STUCK = """
import asyncio, threading

async def stuck(prompt):
    await asyncio.to_thread(threading.Event().wait)
    yield "never"
"""
PROMPT = 5.0
"""Seconds in which a command must have ended; the threads would wait for ever."""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with agents that leave threads behind, and some that close what they open."""
    (tmp_path / "leaves.py").write_text(LEAVES_THREADS)
    (tmp_path / "closes.py").write_text(CLOSES)
    (tmp_path / "stuck.py").write_text(STUCK)
    monkeypatch.setenv("TRUNKLINE_JOURNAL", f"sqlite:{tmp_path / 'journal.db'}")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.usefixtures("folder")
def test_exec_ends_though_the_obvious_factory_leaves_a_thread() -> None:
    result = run("exec", "leaves.py:make", "hi")
    assert (result.code, result.out) == (0, "answered\n")
    assert "threads of the agent still run" in result.err
    assert "docs/agents.md" in result.err


@pytest.mark.parametrize("name", ["per_session", "once"])
def test_what_a_factory_opens_is_closed_at_the_end(folder: Path, name: str) -> None:
    result = run("exec", f"closes.py:{name}", "hi")
    assert (result.code, result.out) == (0, "answered\n")
    assert "threads" not in result.err
    assert (folder / "closed").read_text() == "yes"


@pytest.mark.usefixtures("folder")
def test_exec_ends_though_a_job_of_the_agent_never_returns() -> None:
    result = run("exec", "stuck.py:stuck", "hi", "--timeout", "1")
    assert result.code == 3
    assert "--timeout 1 was over" in result.err


def ask(editor: subprocess.Popen[bytes], method: str, **params: Any) -> dict[str, Any]:
    """Send a request as an editor does, and wait for its answer."""
    assert editor.stdin is not None
    assert editor.stdout is not None
    line = {"jsonrpc": "2.0", "id": method, "method": method, "params": params}
    editor.stdin.write(json.dumps(line).encode() + b"\n")
    editor.stdin.flush()
    while (answer := json.loads(editor.stdout.readline())).get("id") != method:
        pass
    return answer["result"]


@pytest.mark.usefixtures("folder")
def test_acp_ends_with_its_input_though_a_thread_is_left() -> None:
    with start("acp", "leaves.py:make") as editor:
        assert editor.stdin is not None
        ask(editor, "initialize", protocolVersion=1)
        session = ask(editor, "session/new", cwd=os.getcwd(), mcpServers=[])["sessionId"]
        said = ask(editor, "session/prompt", sessionId=session, prompt=[{"type": "text", "text": "hi"}])
        assert said["stopReason"] == "end_turn"
        began = time.monotonic()
        editor.stdin.close()
        assert editor.wait(30) == 0
        assert time.monotonic() - began < 3 * PROMPT


@pytest.mark.usefixtures("folder")
def test_serve_ends_by_a_signal_though_a_thread_is_left() -> None:
    import httpx

    words = command("serve", "leaves.py:make", "--port", "0", "--insecure-no-auth")
    with subprocess.Popen(words, stderr=subprocess.PIPE, text=True) as server:
        assert server.stderr is not None
        url = ""
        while "Ctrl-C stops" not in (line := server.stderr.readline()):
            assert line, "it ended"
            if "AG-UI" in line:
                url = line.split()[1]
        body = {"threadId": "t", "runId": "r", "messages": [{"id": "1", "role": "user", "content": "hi"}]}
        assert "answered" in httpx.post(url, json=body, timeout=30).text
        began = time.monotonic()
        server.send_signal(signal.SIGTERM)
        server.wait(30)
        assert time.monotonic() - began < 3 * PROMPT
