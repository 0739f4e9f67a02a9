"""A server that is started again when a file changes: one port, one token, no request refused."""

import os
import re
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from tests.cli.child_programs import SECONDS, command, kept
from tests.process_state import wait_until_gone

from trunkline.cli.reloading import watched_folders
from trunkline.transports.process.reloader import changed_file, snapshot_of

AGENT = "async def says(prompt):\n    yield 'version {}'\n"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A folder with an agent."""
    (tmp_path / "agent.py").write_text(AGENT.format(1))
    return tmp_path


class Served:
    """A server that reloads, as a person sees it."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self.url = self.token = ""
        self.browser = httpx.Client(timeout=SECONDS)

    def read_until(self, text: str) -> str:
        """Read what it says up to a line with this text."""
        assert self.process.stderr is not None
        shown = ""
        while text not in shown:
            line = self.process.stderr.readline()
            assert line, f"it ended and had said {shown!r}"
            shown += line
        return shown

    def begin(self) -> None:
        """Wait for the first start."""
        shown = self.read_until("Ctrl-C stops")
        self.url = re.findall(r"AG-UI +(http://\S+)/agui", shown)[0]
        self.token = re.findall(r"token +(\S+)\n", shown)[0]
        code = re.findall(r"#code=(\S+)", shown)[0]
        origin = {"origin": self.url, "sec-fetch-site": "same-origin"}
        self.browser.headers.update(origin)
        assert self.browser.post(f"{self.url}/login", json={"code": code}).status_code == 204

    def ask(self, thread: str) -> str:
        """Give what the agent says in a thread."""
        body = {"threadId": thread, "runId": "r", "messages": [{"id": "1", "role": "user", "content": "hi"}]}
        headers = {"authorization": f"Bearer {self.token}"}
        return httpx.post(f"{self.url}/agui", json=body, headers=headers, timeout=SECONDS).text


@pytest.fixture
def served(project: Path) -> Iterator[Served]:
    """The server of the agent."""
    journal = f"sqlite:{project / 'journal.db'}"
    words = command("serve", "agent.py", "--port", "0", "--reload", "--journal", journal)
    with subprocess.Popen(words, cwd=project, stderr=subprocess.PIPE, text=True) as process:
        server = Served(process)
        try:
            yield server
        finally:
            server.browser.close()
            process.terminate()
            process.wait(SECONDS)


@pytest.mark.slow
def test_a_change_is_served_on_the_same_port_with_the_same_token(project: Path, served: Served) -> None:
    served.begin()
    assert "version 1" in served.ask("one")

    # Python takes a file of the same second and size for the one that it has compiled.
    first = (project / "agent.py").stat().st_mtime_ns
    (project / "agent.py").write_text(AGENT.format(2))
    os.utime(project / "agent.py", ns=(first + 1, first + 1))
    assert "agent.py changed: starting again" in served.read_until("again\n")
    # Not refused while nobody serves: the socket is the parent's.
    assert "version 2" in served.ask("two")
    assert {info.session_id for info in kept(project / "journal.db")} == {"one", "two"}
    # The page is still logged in.
    assert served.browser.get(f"{served.url}/sessions").status_code == 200

    (project / "agent.py").write_text("this is no Python\n")
    served.read_until("it starts again when a file changes")
    (project / "agent.py").write_text(AGENT.format(3))
    served.read_until("Trunkline serves")
    assert "version 3" in served.ask("three")


@pytest.mark.slow
def test_the_server_ends_with_its_parent(served: Served) -> None:
    served.begin()
    children = Path(f"/proc/{served.process.pid}/task/{served.process.pid}/children").read_text().split()
    assert len(children) == 1
    os.kill(served.process.pid, signal.SIGKILL)
    wait_until_gone(int(children[0]))


def test_python_files_are_seen_and_those_of_others_are_not(tmp_path: Path) -> None:
    for name in ("a.py", "inner/b.py", ".venv/c.py", "node_modules/d.py", "inner/__pycache__/e.py", "f.txt"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("")
    extra = tmp_path / ".env"
    before = snapshot_of([tmp_path], [extra])
    assert {os.path.relpath(path, tmp_path) for path in before} == {"a.py", "inner/b.py"}
    assert changed_file(before, snapshot_of([tmp_path], [extra])) is None

    extra.write_text("A=1")
    assert changed_file(before, snapshot_of([tmp_path], [extra])) == str(extra)
    (tmp_path / "a.py").unlink()
    assert changed_file(before, snapshot_of([tmp_path])) == str(tmp_path / "a.py")


def test_the_folders_of_files_and_modules_are_watched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert watched_folders(["inner/agent.py:x", "inner/deep/other.py"]) == [tmp_path / "inner"]
    assert watched_folders(["package.module:agent", "demo"]) == [tmp_path]
    assert watched_folders(["acp:npx agent.js", "agui:http://a/b", "demo"]) == []
