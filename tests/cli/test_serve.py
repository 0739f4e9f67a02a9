"""``trunkline serve``: a real child on a real port, its tokens, and how it goes down."""

import contextlib
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import pytest

from tests.cli.child_programs import SECONDS, command, kept, run
from tests.process_state import eventually
from trunkline.cli.serve import command as serve
from trunkline.cli.units import parse_wait
from trunkline.session.settings import Settings

AGENTS = """
import asyncio, trunkline

@trunkline.agent
async def ticks(prompt, ctx):
    while True:
        yield "tick "
        await asyncio.sleep(0.01)

@trunkline.agent
async def short(prompt, ctx):
    for number in range(30):
        yield f"{number} "
        await asyncio.sleep(0.02)

@trunkline.agent(name="two words")
async def spaced(prompt, ctx):
    yield "here"
"""
SECRET = "a-secret-of-my-own"


class Child(NamedTuple):
    """A server that runs, and what it said when it was ready."""

    process: subprocess.Popen[str]
    greeting: str

    @property
    def url(self) -> str:
        found = re.search(r"AG-UI +(http://\S+)/agui", self.greeting)
        assert found is not None, self.greeting
        return found[1]

    @property
    def token(self) -> str:
        found = re.search(r"token +(\S+)\n", self.greeting)
        return found[1] if found else SECRET

    @property
    def link(self) -> str:
        found = re.match(r"Open  (http://\S+)\n", self.greeting)
        assert found is not None, self.greeting
        return found[1]

    def client(self) -> httpx.Client:
        return httpx.Client(
            base_url=self.url, headers={"authorization": f"Bearer {self.token}"}, timeout=SECONDS
        )

    def end(self, name: signal.Signals = signal.SIGTERM) -> tuple[int, str]:
        """Stop it; gives its exit code and what it said since it was ready."""
        self.process.send_signal(name)
        _, rest = self.process.communicate(timeout=SECONDS)
        return self.process.returncode, rest


@contextmanager
def serving(*arguments: str, cwd: Path, port: str = "0", **env: str) -> Generator[Child]:
    """Serve in a child process."""
    environment = {**os.environ, "PYTHONWARNINGS": "error", **env}
    with subprocess.Popen(
        command("serve", *arguments, "--port", port, "--journal", f"sqlite:{cwd / 'journal.db'}"),
        cwd=cwd,
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            assert process.stderr is not None
            lines: list[str] = []
            while not lines or "Ctrl-C" not in lines[-1]:
                lines.append(process.stderr.readline())
                assert lines[-1], f"it ended: {''.join(lines)}"
            yield Child(process, "".join(lines))
        finally:
            process.kill()


def run_input(text: str = "hello", thread: str = "t1") -> dict[str, Any]:
    return {"threadId": thread, "runId": "r1", "messages": [{"id": "1", "role": "user", "content": text}]}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "agents.py").write_text(AGENTS)
    return tmp_path


def test_a_made_token_is_printed_once_on_a_line_of_its_own_and_opens_the_server(folder: Path) -> None:
    with serving("demo", cwd=folder) as child:
        assert (
            child.greeting.count(f"\n  token       {child.token}\n") == child.greeting.count(child.token) == 1
        )
        assert len(child.token) >= 43, "256 bits"
        assert httpx.post(f"{child.url}/agui", json=run_input()).status_code == 401
        with child.client() as client:
            answer = client.post("/agui", json=run_input("/text"))
            assert "RUN_FINISHED" in answer.text
            assert "server" not in answer.headers
        code, rest = child.end()
    assert code == 0
    assert rest.startswith("warning: a request of 127.0.0.1 with no token was refused: send the header ")
    assert rest.count("\n") == 1
    assert [info.session_id for info in kept(folder / "journal.db")] == ["t1"]


def test_the_first_line_is_a_link_that_logs_one_browser_in(folder: Path) -> None:
    with serving("demo", cwd=folder) as child:
        assert child.link.startswith(f"{child.url}/#code=")
        page = httpx.get(child.url)
        assert page.headers["content-type"] == "text/html; charset=utf-8"
        with httpx.Client(base_url=child.url, headers={"origin": child.url}) as browser:
            body = {"code": child.link.partition("#code=")[2]}
            assert browser.post("/login", json=body).status_code == 204
            assert browser.get("/page").json()["principal"] == "local"
            assert browser.post("/login", json=body).status_code == 401
            assert browser.post("/sessions", json={"agent": "demo"}).status_code == 201
            assert browser.post("/logout").status_code == 204
            assert browser.get("/page").status_code == 401


def test_a_server_that_others_can_reach_prints_no_link_that_logs_in(folder: Path) -> None:
    with serving("demo", "--host", "0.0.0.0", cwd=folder, TRUNKLINE_TOKEN=SECRET) as child:
        assert child.link == f"{child.url}/"
        assert "code=" not in child.greeting


def test_open_leads_the_browser_to_the_link_by_a_file_of_ones_own(folder: Path) -> None:
    browser = folder / "browser.py"
    browser.write_text(
        "import os, pathlib, stat, sys, urllib.parse\n"
        "path = pathlib.Path(urllib.parse.urlparse(sys.argv[1]).path)\n"
        "mode = stat.S_IMODE(path.stat().st_mode)\n"
        "pathlib.Path('part').write_text(f'{mode:o} {path} {path.read_text()}')\n"
        "os.rename('part', 'opened.txt')\n"
    )
    opened = folder / "opened.txt"
    env = {"BROWSER": f"{sys.executable} {browser} %s", "XDG_STATE_HOME": str(folder / "state")}
    with serving("demo", "--open", cwd=folder, **env) as child:
        eventually(opened.exists)
        mode, path, content = opened.read_text().split(" ", 2)
        assert mode == "600"
        assert f"url={child.link}" in content
        assert child.end() == (0, "")
        assert not Path(path).exists()


def test_each_request_is_printed_where_that_is_wanted(folder: Path) -> None:
    with serving("demo", "--access-log", cwd=folder) as child, child.client() as client:
        client.get("/sessions", params={"query": "private"})
        code, rest = child.end()
    assert code == 0
    assert re.fullmatch(r"\d\d:\d\d:\d\d 127\.0\.0\.1 GET /sessions 200 \d+ ms\n", rest)


@pytest.mark.parametrize("target", ["acp:no-such-agent", "acp:/tmp", "pty:no-such-program"])
def test_the_command_of_an_agent_that_is_not_there_is_told_before_anything_is_served(
    folder: Path, target: str
) -> None:
    result = run("serve", target, "--port", "0", cwd=folder)
    assert (result.code, result.out) == (2, "")
    assert f"Agent command not found: {target.partition(':')[2]}" in result.err


def test_the_command_of_an_agent_in_a_file_is_looked_for_too(folder: Path) -> None:
    (folder / "agents.py").write_text(
        "from trunkline.agents.acp import AcpAgent\nagent = AcpAgent('no-such-agent')\n"
    )
    result = run("serve", "agents.py:agent", "--port", "0", cwd=folder)
    assert (result.code, result.out) == (2, "")
    assert "Agent command not found: no-such-agent; looked in PATH=" in result.err


def test_a_token_that_was_given_is_not_printed(folder: Path) -> None:
    with serving("demo", cwd=folder, TRUNKLINE_TOKEN=SECRET) as child:
        assert SECRET not in child.greeting
        with child.client() as client:
            assert client.get("/sessions").status_code == 200


def test_a_file_of_tokens_says_whose_each_is_and_what_it_may_do(folder: Path) -> None:
    (folder / "tokens").write_text(f"# ours\n{SECRET}\nalice:follow=alice-alice-alice-1\n\n")
    (folder / "tokens").chmod(0o600)
    with serving("demo", "--token-file", "tokens", cwd=folder) as child, child.client() as client:
        alice = {"authorization": "Bearer alice-alice-alice-1"}
        assert client.post("/agui", json=run_input("/text")).status_code == 200
        assert client.get("/sessions", headers=alice).json() == {"sessions": []}
        assert client.post("/agui", json=run_input(), headers=alice).status_code == 403


def test_several_agents_have_their_names_and_keep_their_threads(folder: Path) -> None:
    targets = ("agents.py:spaced", "talk=demo")
    with serving(*targets, "--token", SECRET, cwd=folder) as child, child.client() as client:
        assert "two-words, talk" in child.greeting
        assert "here" in client.post("/agui", json=run_input(thread="a")).text
        assert "here" in client.post("/agui/two-words", json=run_input(thread="b")).text
        assert "TOOL_CALL_START" in client.post("/agui/talk", json=run_input("/tools", "c")).text
        foreign = client.post("/agui/talk", json=run_input(thread="a"))
    assert foreign.status_code == 409
    assert "two-words" in foreign.json()["error"]["message"]


def test_a_server_that_is_told_to_stop_lets_a_short_run_finish(folder: Path) -> None:
    with serving("agents.py:short", cwd=folder) as child, child.client() as client:
        with client.stream("POST", "/agui", json=run_input()) as response:
            pieces = response.iter_text()
            text = next(pieces)
            child.process.send_signal(signal.SIGTERM)
            text += "".join(pieces)
        assert '"29 "' in text
        assert '"outcome":{"type":"success"}' in text.replace(" ", "") or "RUN_FINISHED" in text
        _, rest = child.process.communicate(timeout=SECONDS)
    assert (child.process.returncode, rest) == (0, "")


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_second_signal_means_at_once(number: signal.Signals, code: int, folder: Path) -> None:
    with (
        serving("agents.py:ticks", cwd=folder) as child,
        child.client() as client,
        client.stream("POST", "/agui", json=run_input()) as response,
    ):
        next(response.iter_text())
        assert client.get("/readyz").status_code == 200
        child.process.send_signal(number)
        # The first one was heard when a connection that stands is told so, or no new one is taken.
        with contextlib.suppress(httpx.ConnectError):
            while client.get("/readyz").status_code == 200:
                pass
        child.process.send_signal(number)
        _, rest = child.process.communicate(timeout=SECONDS)
    assert (child.process.returncode, rest) == (code, "")


def test_no_token_is_needed_when_that_is_wanted_and_pages_are_still_refused(folder: Path) -> None:
    with serving("demo", "--insecure-no-auth", cwd=folder) as child:
        assert "There is no token" in child.greeting
        assert httpx.get(f"{child.url}/sessions").status_code == 200
        foreign = httpx.get(f"{child.url}/sessions", headers={"origin": "https://evil.example"})
        assert foreign.status_code == 403


def test_old_sessions_are_forgotten_where_that_is_wanted(folder: Path) -> None:
    with serving("demo", cwd=folder) as child, child.client() as client:
        assert "RUN_FINISHED" in client.post("/agui", json=run_input("/text")).text
        child.end()
    with (
        serving("demo", "--retain-age", "0s", "--retain-bytes", "1G", cwd=folder) as child,
        child.client() as client,
    ):
        eventually(lambda: not client.get("/sessions").json()["sessions"])
        child.end()
    assert kept(folder / "journal.db") == []


def test_requests_are_as_large_as_is_wanted(folder: Path) -> None:
    with (
        serving("demo", "--max-body", "2K", "--max-history", "4K", cwd=folder) as child,
        child.client() as client,
    ):
        codes = [
            client.post("/agui", json=run_input("x" * size, f"t{size}")).status_code
            for size in (1_000, 3_000, 5_000)
        ]
        child.end()
    assert codes == [200, 413, 413]


def test_a_run_goes_on_and_a_question_waits_as_long_as_is_wanted(folder: Path) -> None:
    with (
        serving("agents.py:short", "demo", "--grace", "never", "--question-ttl", "90s", cwd=folder) as child,
        child.client() as client,
    ):
        with client.stream("POST", "/agui", json=run_input(thread="left")) as response:
            next(response.iter_text())  # The page is gone in the middle of the answer.
        asked = client.post("/agui/demo", json=run_input("/permission", thread="asks")).text
        (expires,) = re.findall(r'"expiresAt":"([^"]+)"', asked)
        left = datetime.fromisoformat(expires).timestamp() - time.time()
        eventually(lambda: "29 " in client.get("/sessions/left").text)
        child.end()
    assert 60 < left <= 90


def test_the_waits_that_it_shows_are_those_of_sessions() -> None:
    shown = {option.name: option.default for option in serve.params}
    assert parse_wait(str(shown["question_ttl"])) == Settings().question_ttl
    assert parse_wait(str(shown["abandon_after"])) == Settings().abandon_after


def test_a_history_is_as_long_as_is_wanted_and_connections_are_as_many(folder: Path) -> None:
    with (
        serving("demo", "--max-messages", "1", "--max-connections", "8", cwd=folder) as child,
        child.client() as client,
    ):
        body = run_input()
        body["messages"] *= 2
        refused = client.post("/agui", json=body)
        child.end()
    assert (refused.status_code, "1 are the most" in refused.text) == (422, True)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("--grace", "long"), "write a number with s, min, h or d"),
        (("--grace", "2d"), "disconnect_grace is 172800.0: give seconds, from 0 to a day"),
        (("--question-ttl", "0s"), "--question-ttl must be more than 0s"),
        (("--interrupts", "loud"), "is not one of"),
        (("--retain-age", "a month"), "write a number with s, min, h or d"),
        (("--max-body", "much"), "is no size"),
        (("--max-body", "8M", "--max-history", "4M"), "--max-history no less than --max-body"),
        (("--host", "0.0.0.0"), "0.0.0.0 can be reached from other machines: give a token"),
        (("--host", "::"), ":: can be reached from other machines"),
        (("--host", "0.0.0.0", "--insecure-no-auth"), "--insecure-no-auth is for this machine alone"),
        (("--insecure-no-auth", "--token", SECRET), "--insecure-no-auth is for this machine alone"),
        (("--token", "short"), "a token has 16 to 512"),
        (("--token", f"bob:fly={SECRET}"), "there is no scope fly"),
        (("--allow-origin", "*"), "there is no wildcard"),
        (("--allow-host", "https://x"), "is no host"),
        (("--host", "192.0.2.1", "--token", SECRET), "is no address of this machine"),
        (("--journal", "sqlite:/dev/null/journal.db"), "journal"),
        (("demo",), "two agents are called 'demo': choose with NAME=TARGET"),
        (("nonsense",), "unknown target"),
    ],
)
def test_what_cannot_be_served_is_said_in_a_sentence(arguments: tuple[str, ...], expected: str) -> None:
    result = run("serve", "demo", "--port", "0", *arguments)
    assert result.code in (1, 2)
    assert expected in result.err
    assert "Traceback" not in result.err


def test_an_empty_file_of_tokens_opens_nothing(tmp_path: Path) -> None:
    (tmp_path / "tokens").write_text("\n# none\n")
    (tmp_path / "tokens").chmod(0o600)
    result = run("serve", "demo", "--token-file", str(tmp_path / "tokens"))
    assert result.code == 2
    assert "has no token in it" in result.err


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o602])
def test_a_file_of_tokens_that_others_may_open_is_refused_with_the_way_out(mode: int, tmp_path: Path) -> None:
    path = tmp_path / "my tokens"
    path.write_text(f"{SECRET}\n")
    path.chmod(mode)
    result = run("serve", "demo", "--token-file", str(path), "--journal", "memory:")
    assert result.code == 2
    assert f"(mode {mode:04o})" in result.err
    assert f"chmod 600 '{path}'" in result.err
    assert SECRET not in result.err


@pytest.mark.parametrize("more", [(), ("--reload",)], ids=["once", "reloading"])
def test_no_token_stands_where_the_system_shows_it(folder: Path, more: tuple[str, ...]) -> None:
    other = "another-token-of-ours-1"
    arguments = ("--token", SECRET, f"--token=bob={other}", *more)
    with serving("demo", *arguments, cwd=folder, TRUNKLINE_TOKEN="a-third-token-of-ours") as child:
        shown = Path(f"/proc/{child.process.pid}/cmdline").read_bytes()
        environment = Path(f"/proc/{child.process.pid}/environ").read_bytes()
        with child.client() as client:
            assert client.get("/sessions").status_code == 200
            bob = {"authorization": f"Bearer {other}"}
            assert client.get("/sessions", headers=bob).status_code == 200
    assert b"serve\0demo" in shown
    assert SECRET.encode() not in shown
    assert other.encode() not in shown
    assert b"PATH=" in environment
    assert b"a-third-token-of-ours" not in environment


def test_a_port_that_is_taken_is_said_with_the_way_out() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        result = run("serve", "demo", "--port", str(port), "--journal", "memory:")
    assert result.code == 2
    assert result.err == (
        f"error: port {port} is taken: choose another with --port, or --port 0 for any free one\n"
    )


@pytest.mark.slow
def test_without_the_packages_of_the_server_it_says_what_to_install(tmp_path: Path) -> None:
    (tmp_path / "starlette.py").write_text("raise ModuleNotFoundError('no', name='starlette')")
    result = run("serve", "demo", PYTHONPATH=str(tmp_path))
    assert result.code == 2
    assert "pip install 'trunkline[server]'" in result.err
