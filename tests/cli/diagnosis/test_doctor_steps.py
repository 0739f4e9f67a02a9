"""Each step says what to do about it."""

import socket
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from trunkline.cli.diagnosis.doctor_steps import Step, examine


def steps_of(target: str, folder: Path, port: int = 0, patience: float = 10.0) -> dict[str, Step]:
    return {step.name: step for step in examine(target, f"sqlite:{folder}/journal.db", port, patience)}


@pytest.mark.parametrize(
    ("text", "name", "fix"),
    [
        (None, "file", "write its path"),
        ("def broken(:\n", "file", "correct"),
        ("import langgraph_that_is_not_there\n", "agent", "-m pip install langgraph-that-is-not-there"),
        ("raise RuntimeError('set OPENAI_API_KEY')\n", "agent", "export OPENAI_API_KEY="),
        ("other = 1\n", "agent", "another attribute"),
        ("agents = 1\n", "agent", "mine.py:agents"),
        ("class agent: pass\n", "agent", "another attribute"),
        ("import yaml_that_is_not_there, yaml\n", "agent", "pip install yaml-that"),
        ("raise SystemExit(2)\n", "agent", "__main__"),
        ("1 / 0\n", "agent", "the lines above"),
        ("from . import other\n", "agent", "package.module:NAME"),
        ("import time\ntime.sleep(60)\n", "agent", "waits or runs while it is imported"),
        ("\0", "file", "correct"),
    ],
)
def test_a_file_that_gives_no_agent(text: str | None, name: str, fix: str, tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    if text is not None:
        file.write_text(text)
    patience = 0.5 if text and "sleep" in text else 10.0
    step = steps_of(f"{file}:agent", tmp_path, patience=patience)[name]
    assert step.outcome == "fail"
    assert "None" not in step.text
    assert fix in step.fix


def test_what_a_file_prints_is_no_part_of_the_report(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "mine.py"
    file.write_text("print('welcome')\n")
    assert steps_of(f"{file}:agent", tmp_path)["agent"].outcome == "fail"
    assert capsys.readouterr().out == ""


def test_a_model_that_is_named_by_its_provider_needs_that_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    file = tmp_path / "mine.py"
    file.write_text("model = 'anthropic:claude-opus-4-8'\n")
    assert steps_of(f"{file}:agent", tmp_path)["key"].text == "ANTHROPIC_API_KEY is not set"


def test_a_module_of_an_extra_is_installed_by_the_extra(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text("raise ModuleNotFoundError(\"No module named 'langgraph'\", name='langgraph')\n")
    assert "pip install 'trunkline[langchain]'" in steps_of(f"{file}:agent", tmp_path)["agent"].fix


def test_a_library_that_names_the_package_it_wants_is_believed(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    words = "ChatOpenAI needs the langchain-openai package. Please use `pip install langchain-openai`"
    file.write_text(f'raise ImportError("{words}")\n')
    assert steps_of(f"{file}:agent", tmp_path)["agent"].fix.endswith(" -m pip install langchain-openai")


@pytest.mark.parametrize(
    ("target", "name", "fix"),
    [
        ("acp:'", "command", "close the quotes"),
        ("acp:", "command", "acp:COMMAND"),
        ("acp:there-is-no-such-program", "command", "install there-is-no-such-program"),
        ("registry:there-is-no-such-agent", "registry", "trunkline agents"),
        ("agui:nowhere", "address", "agui:http://"),
        ("agui:http://127.0.0.1:9/", "address", "start the server"),
    ],
)
def test_an_agent_elsewhere_that_cannot_be_reached(target: str, name: str, fix: str, tmp_path: Path) -> None:
    step = steps_of(target, tmp_path)[name]
    assert step.outcome == "fail"
    assert fix in step.fix


def test_a_program_that_ends_at_once_tells_its_last_words(tmp_path: Path) -> None:
    script = tmp_path / "ends.py"
    script.write_text("raise SystemExit('GEMINI_API_KEY is missing')\n")
    step = steps_of(f"acp:{sys.executable} -S {script}", tmp_path)["handshake"]
    assert step.outcome == "fail"
    assert "GEMINI_API_KEY is missing" in step.text
    assert step.fix.startswith("export GEMINI_API_KEY=")


def test_a_program_that_does_not_know_acp_is_told_by_its_refusal(tmp_path: Path) -> None:
    script = tmp_path / "refuses.py"
    script.write_text(
        "import json, sys\n"
        "for line in sys.stdin:\n"
        "    error = {'code': -32601, 'message': 'no'}\n"
        "    reply = {'jsonrpc': '2.0', 'id': json.loads(line)['id'], 'error': error}\n"
        "    print(json.dumps(reply), flush=True)\n"
    )
    step = steps_of(f"acp:{sys.executable} -S {script}", tmp_path)["handshake"]
    assert "initialize was refused" in step.text


def test_a_server_that_is_not_installed_is_named_with_its_extra(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    port = steps_of("demo", tmp_path)["port"]
    assert (port.outcome, port.fix) == ("note", "pip install 'trunkline[server]'")
    assert "uvicorn is missing" in port.text


def test_a_journal_that_cannot_be_written_and_a_port_that_is_taken(tmp_path: Path) -> None:
    (tmp_path / "journal.db").mkdir()
    with socket.create_server(("127.0.0.1", 0)) as taken:
        steps = steps_of("agui:nowhere", tmp_path, taken.getsockname()[1])
    assert steps["journal"].outcome == "fail"
    assert "--journal" in steps["journal"].fix
    assert steps["port"].outcome == "note"
    assert "--port 0" in steps["port"].fix


class _Endpoint(BaseHTTPRequestHandler):
    """Answers with the status that the path names."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        self.send_response(int(self.path[1:]))
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), _Endpoint) as httpd:
        thread = threading.Thread(target=httpd.serve_forever)
        thread.start()
        yield f"agui:http://127.0.0.1:{httpd.server_port}"
        httpd.shutdown()
        thread.join()


@pytest.mark.parametrize(
    ("status", "outcome", "fix"),
    [
        (422, "ok", ""),
        (404, "fail", "/agui"),
        (401, "fail", "export TRUNKLINE_AGUI_TOKEN="),
        (500, "fail", "path"),
    ],
)
def test_a_server_is_asked_whether_it_takes_runs(
    server: str, status: int, outcome: str, fix: str, tmp_path: Path
) -> None:
    step = steps_of(f"{server}/{status}", tmp_path)["address"]
    assert step.outcome == outcome
    assert fix in step.fix


def test_a_server_is_no_agent_without_the_package_that_speaks_to_it(
    server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "httpx", None)
    steps = steps_of(f"{server}/422", tmp_path)
    assert steps["package"].outcome == "fail"
    assert steps["package"].fix == "pip install 'trunkline[agui]'"
    assert steps["address"].outcome == "ok"


_ANSWERS = (
    "import json, sys\n"
    "for line in sys.stdin:\n"
    "    asked = json.loads(line)\n"
    "    result = RESULT if asked['method'] == 'initialize' else {'sessionId': 's'}\n"
    "    print(json.dumps({'jsonrpc': '2.0', 'id': asked['id'], 'result': result}), flush=True)\n"
)


@pytest.mark.parametrize(
    ("script", "name", "text"),
    [
        (_ANSWERS.replace("RESULT", "{'protocolVersion': 2}"), "handshake", "version 2"),
        (_ANSWERS.replace("RESULT", "[1]"), "handshake", "without a protocolVersion"),
        (
            "print('Welcome', flush=True)\n" + _ANSWERS.replace("RESULT", "{'protocolVersion': 1}"),
            "stdout",
            "Welcome",
        ),
        ("import sys\nfor line in sys.stdin: print(line, flush=True)\n", "handshake", "it repeats"),
        ("import time\nprint('Listening', flush=True)\ntime.sleep(60)\n", "handshake", "Listening"),
        ("raise SystemExit(\"npm warn EBADENGINE required: { node: '>=22' }\")\n", "handshake", "EBADENGINE"),
    ],
)
def test_a_program_that_speaks_otherwise(script: str, name: str, text: str, tmp_path: Path) -> None:
    (tmp_path / "other.py").write_text(script)
    patience = 1.0 if "Listening" in script else 10.0
    steps = steps_of(f"acp:{sys.executable} -S {tmp_path}/other.py", tmp_path, patience=patience)
    assert text in steps[name].text
    assert steps[name].outcome == ("note" if name == "stdout" else "fail")
    if "EBADENGINE" in text:
        assert steps[name].fix.startswith("install Node.js 22")


def test_a_program_that_may_not_be_executed(tmp_path: Path) -> None:
    (tmp_path / "mine.sh").write_text("#!/bin/sh\n")
    assert steps_of(f"acp:{tmp_path}/mine.sh", tmp_path)["command"].fix == f"chmod +x {tmp_path}/mine.sh"


@pytest.mark.parametrize(
    ("target", "fix"),
    [
        ("http://127.0.0.1:9/x", "write agui:http://127.0.0.1:9/x"),
        ("mine", "write mine.py"),
        ("mine.hello", "write mine:hello"),
        ("cat --acp", 'write "acp:cat --acp"'),
    ],
)
def test_what_was_meant_by_a_word_is_guessed(
    target: str, fix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mine.py").write_text("hello = 1\n")
    assert steps_of(target, tmp_path)["agent"].fix.startswith(fix)
