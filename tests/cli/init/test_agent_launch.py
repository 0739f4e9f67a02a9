"""How an agent is started from anywhere."""

import os
import sys
from pathlib import Path

import pytest

from trunkline.cli.init import agent_launch
from trunkline.cli.init.agent_launch import absolute_target, default_name, needed_variables, own_command
from trunkline.errors import ConfigurationError


def test_our_own_command_is_the_script_of_this_environment() -> None:
    [script] = own_command()
    assert script == os.path.join(os.path.dirname(sys.executable), "trunkline")


def test_without_a_script_the_interpreter_runs_us(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    python = str(tmp_path / "python")
    monkeypatch.setattr(sys, "executable", python)
    monkeypatch.setattr("sysconfig.get_path", lambda name: str(tmp_path / name))  # pyright: ignore[reportUnknownLambdaType, reportUnknownArgumentType]
    assert own_command() == [python, "-m", "trunkline"]


def test_files_get_their_whole_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", "/home/ann")
    assert absolute_target("a.py:agent") == f"{tmp_path}/a.py:agent"
    assert absolute_target("a.py") == f"{tmp_path}/a.py"
    assert absolute_target("~/a.py:agent") == "/home/ann/a.py:agent"
    for unchanged in (
        "demo",
        "finance:openai",
        "package.module:agent",
        "agui:http://x/y.py",
        "registry:goose",
    ):
        assert absolute_target(unchanged) == unchanged


def test_programs_and_the_files_among_their_words_get_their_whole_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my agent.py").touch()
    python = os.path.abspath(sys.executable)
    assert absolute_target(f"acp:{python} 'my agent.py' -v") == f"acp:{python} '{tmp_path}/my agent.py' -v"
    with pytest.raises(ConfigurationError, match="cannot be read"):
        absolute_target("acp:python 'open")
    with pytest.raises(ConfigurationError, match="there is no program"):
        absolute_target("pty:")


def test_a_module_of_this_folder_needs_pythonpath(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own_module_of_mine.py").touch()
    assert needed_variables("own_module_of_mine:agent", {}) == {"PYTHONPATH": str(tmp_path)}
    assert needed_variables("own_module_of_mine:agent", {"PYTHONPATH": "/x"}) == {
        "PYTHONPATH": f"{tmp_path}{os.pathsep}/x"
    }
    assert needed_variables("trunkline.demos.scripted:ScriptedAgent", {}) == {}
    (tmp_path / "trunkline").mkdir()
    assert needed_variables("trunkline.demos.scripted:ScriptedAgent", {}) == {}
    assert needed_variables("demo", {"PATH": "/bin"}) == {}
    assert needed_variables("acp:x", {"PATH": "/bin"}) == {"PATH": "/bin"}
    assert needed_variables("registry:x", {}) == {}


def test_a_module_of_this_folder_that_is_loaded_already_needs_pythonpath_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "loaded_module_of_mine.py").touch()
    monkeypatch.setattr("sys.path", [str(tmp_path), *sys.path])
    __import__("loaded_module_of_mine")
    assert agent_launch.needed_variables("loaded_module_of_mine:agent", {}) == {"PYTHONPATH": str(tmp_path)}


@pytest.mark.parametrize(
    ("target", "name"),
    [
        ("acp:npx -y @agentclientprotocol/claude-agent-acp@0.99.1", "claude-agent-acp"),
        ("acp:/opt/bin/gemini --acp", "gemini"),
        ("acp:python my/echo_agent.py", "echo_agent"),
        ("acp:npx", "acp"),
        ("pty:bash", "bash"),
        ("registry:goose@1.2.3", "goose"),
        ("agui:https://agents.example.org/run", "agents.example.org"),
        ("package.module:shop", "shop"),
        ("demo", "demo"),
    ],
)
def test_an_agent_that_has_no_title_is_called_after_its_target(target: str, name: str) -> None:
    assert default_name(target) == name
