"""`trunkline new`: what it makes runs at once, and nothing that is there is touched."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.cli.child_programs import SECONDS, run
from tests.cli.test_serve import serving
from tests.process_state import eventually
from trunkline.cli.new.command import command
from trunkline.cli.new.project import KINDS, project_files

pytestmark = pytest.mark.slow


def made(folder: Path, kind: str) -> Path:
    """A project of a kind."""
    done = run("new", "word-counter", "--kind", kind, cwd=folder)
    assert done.code == 0
    assert "trunkline init agent.py" in done.err
    return folder / "word-counter"


def run_in(project: Path, *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a module of Python in a project; the imports of a framework take their time on a busy machine."""
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith(("PYTEST", "COV"))
    }
    return subprocess.run(
        [sys.executable, "-m", *words],
        cwd=project,
        env={**environment, "OPENAI_API_KEY": "", **variables},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
    )


@pytest.mark.parametrize("kind", KINDS)
def test_the_tests_that_are_made_pass(kind: str, tmp_path: Path) -> None:
    done = run_in(made(tmp_path, kind), "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:asyncio")
    assert done.returncode == 0, done.stdout
    assert "4 passed" in done.stdout


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_made_answers_at_once_and_goes_on(kind: str, tmp_path: Path) -> None:
    project = made(tmp_path, kind)
    options = ["--session", "mine", *(["--approve", "all"] if kind == "function" else [])]
    journal = f"sqlite:{tmp_path / 'journal.db'}"
    for prompt, words in (("one", "1 words"), ("one two", "2 words")):
        said = run_in(project, "trunkline", "exec", "agent.py", prompt, *options, TRUNKLINE_JOURNAL=journal)
        assert said.returncode == 0, said.stderr
        assert words in said.stdout


def test_what_is_made_writes_its_file_when_it_is_served_as_it_says(tmp_path: Path) -> None:
    project = made(tmp_path, "function")
    line = re.search(r"trunkline serve (.*?) +--open", (project / "README.md").read_text("utf-8"))
    assert line is not None
    with serving(*line[1].split(), cwd=project) as child, child.client() as client:
        session = f"/sessions/{client.post('/sessions', json={}).json()['session_id']}"
        prompt = {"type": "prompt", "content": [{"type": "text", "text": "one two"}]}
        client.post(f"{session}/commands", json=prompt).raise_for_status()
        asked = re.compile(r'"question_id": ?"([^"]+)"')
        question, *_ = eventually(lambda: asked.findall(client.get(session).text), SECONDS)
        answer = {"type": "answer", "question_id": question, "option_id": "allow_once"}
        client.post(f"{session}/commands", json=answer).raise_for_status()
        eventually((project / "notes.txt").exists, SECONDS)


@pytest.mark.parametrize(("there", "told"), [(False, True), (True, False)])
def test_tests_that_cannot_run_here_say_what_they_need(
    there: bool, told: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def find(name: str) -> object:
        return object() if there else None

    monkeypatch.setattr("trunkline.cli.new.command.find_spec", find)
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(command, ["mine"])
    assert done.exit_code == 0
    assert ("pip install pytest" in done.output) is told


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    project = tmp_path / "mine"
    project.mkdir()
    (project / "agent.py").write_text("# mine\n")
    refused = run("new", "mine", cwd=tmp_path)
    assert refused.code == 2
    assert "has agent.py already" in refused.err
    assert [one.name for one in project.iterdir()] == ["agent.py"]
    assert (project / "agent.py").read_text() == "# mine\n"


def test_the_current_folder_gives_its_name(tmp_path: Path) -> None:
    project = tmp_path / "here"
    project.mkdir()
    assert run("new", ".", cwd=project).code == 0
    assert 'name="here", title="Here"' in (project / "agent.py").read_text()


@pytest.mark.parametrize("name", ["3d", "a b", 'x"y', "/"])
def test_a_name_that_cannot_be_one_is_refused(name: str, tmp_path: Path) -> None:
    refused = run("new", name, cwd=tmp_path)
    assert refused.code == 2
    assert "cannot be the name" in refused.err
    assert list(tmp_path.iterdir()) == []


def test_a_place_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    refused = run("new", "file/agent", cwd=tmp_path)
    assert refused.code == 2
    assert "cannot be written" in refused.err


@pytest.mark.parametrize("kind", KINDS)
def test_a_readme_says_what_to_install(kind: str) -> None:
    readme = project_files("my-agent", kind)["README.md"]  # pyright: ignore[reportArgumentType]
    assert readme.startswith("# My Agent\n")
    extras = "server" if kind == "function" else f"server,{kind}"
    assert f"pip install 'trunkline[{extras}]' pytest" in readme  # It tells to run trunkline serve, too.
