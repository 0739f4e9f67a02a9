"""`trunkline init` itself: its words, what it finds, and what it refuses."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.child_programs import Pty
from tests.cli.init.conftest import Run
from trunkline.cli import main


def zed(home: Path) -> Path:
    """Make the folder by which Zed is found."""
    path = home / ".config/zed/settings.json"
    path.parent.mkdir(parents=True)
    return path


def agents(path: Path, key: str = "agent_servers") -> dict[str, dict[str, object]]:
    """The agents of a settings file."""
    return json.loads(path.read_bytes())[key]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "which agent?"),
        (["zed"], "As in: trunkline init zed agent.py:hello"),
        (["zde", "agent.py"], "did you mean zed?"),
        (["notepad", "agent.py"], "it is one of zed, jetbrains"),
        (["zed", "agent.py", "more"], "in this order"),
        (["--undo"], "--undo needs the editor"),
        (["nano", "--undo"], "there is no editor 'nano'"),
        (["zed", "agent.py", "--undo"], "takes the editor alone"),
        (["zed", "--undo", "--policy", "ask"], "takes no settings of the agent"),
        (["neovim", "--undo"], "remove what you pasted yourself"),
        (["zed", "agent.py", "--yes", "--dry-run"], "nothing to say --yes to"),
        (["zed", "agent.py", "--project", "--yes"], "no project settings"),
        (["jupyter", "agent.py", "--project", "--yes"], "reads the folder that it is started in"),
        (["zed", "agent.py:nobody", "--yes"], "has no 'nobody'"),
        (["zed", "agent.py", "--env", "1A=2"], "not the name of a variable"),
        (["zed", "agent.py", "--env", "NOT_SET_HERE"], "is not set here"),
        (["acpx", "agent.py", "--env", "A=1"], "no place for variables"),
        (["acpx", "agent:hello"], "name the file"),
        (["zed", "acp:no-such-program-here", "--yes"], "there is no program 'no-such-program-here'"),
        (["zed", "agent.py", "--name", "a\nb"], "cannot be the name"),
        (["zed", "agent.py", "--policy", "no-such-policy"], "no-such-policy"),
    ],
)
def test_what_cannot_be_done_is_refused_with_the_next_step(
    arguments: list[str], said: str, home: Path, init: Run
) -> None:
    refused = init(*arguments)
    assert refused.code == 2
    assert said in refused.err
    assert list(home.iterdir()) == []


def test_the_editors_that_are_there_are_found(home: Path, init: Run, program: Callable[[str], Path]) -> None:
    path = zed(home)
    program("acpx")
    program("nvim")
    said = init("agent.py", "--yes")
    assert said.code == 0
    assert "found: Zed, Neovim, acpx" in said.err
    assert "Neovim: run trunkline init neovim agent.py" in said.err
    assert list(agents(path)) == ["Hello"]
    assert list(agents(home / ".acpx/config.json", "agents")) == ["hello"]


def test_one_editor_that_refuses_does_not_keep_the_others(home: Path, init: Run) -> None:
    path = zed(home)
    (home / ".acpx").mkdir()
    said = init("agent.py", "--yes", "--env", "A=1")
    assert said.code == 1
    assert "acpx: error: acpx has no place for variables" in said.err
    assert agents(path)["Hello"]["env"] == {"A": "1"}


def test_without_any_editor_their_names_are_told(home: Path, init: Run) -> None:
    said = init("agent.py", "--yes")
    assert said.code == 1
    assert "name one: zed, jetbrains" in said.err


def test_project_settings_are_those_of_this_folder(home: Path, init: Run) -> None:
    zed(home)
    (home / ".acpx").mkdir()
    said = init("agent.py", "--project", "--yes")
    assert "Zed: it has no project settings" in said.err
    assert list(agents(Path(".acpxrc.json"), "agents")) == ["hello"]
    warned = init("vscode", "agent.py", "--project", "--yes", "--env", "MY_KEY=secret")
    assert "often committed" in warned.err
    assert agents(Path(".vscode/settings.json"), "acp.agents")["Hello"]["env"] == {"MY_KEY": "secret"}


def test_a_key_of_a_provider_is_named_and_not_copied_unasked(
    home: Path, init: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = zed(home)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-0123456789abcdef")
    said = init("zed", "agent.py", "--yes")
    assert "--env OPENAI_API_KEY copies it" in said.err
    assert agents(path)["Hello"]["env"] == {}
    assert "OPENAI_API_KEY" not in init("zed", "demo", "--yes").err


def test_a_file_of_variables_stays_out_of_the_settings(home: Path, init: Run) -> None:
    path = zed(home)
    Path(".env").write_text("OPENAI_API_KEY=sk-secret\n")
    assert init("zed", "agent.py", "--env-file", ".env", "--journal", "sqlite:j.db", "--yes").code == 0
    args = agents(path)["Hello"]["args"]
    assert isinstance(args, list)
    here = Path.cwd()
    assert args[-5:] == [
        f"{here}/agent.py:hello",
        "--env-file",
        f"{here}/.env",
        "--journal",
        f"sqlite:{here}/j.db",
    ]
    assert "sk-secret" not in path.read_text()


def test_a_policy_file_is_named_by_its_whole_path(home: Path, init: Run) -> None:
    path = zed(home)
    Path("mine.toml").write_text('base = "ask"\n')
    assert init("zed", "agent.py", "--policy", "mine.toml", "--yes").code == 0
    args = agents(path)["Hello"]["args"]
    assert isinstance(args, list)
    assert args[-2:] == ["--policy", f"{Path.cwd()}/mine.toml"]


def test_a_name_of_the_configuration_file_stays_one(home: Path, init: Run) -> None:
    path = zed(home)
    Path("trunkline.toml").write_text('policy = "ask"\n[agents]\nshop = "agent.py:hello"\n')
    assert init("zed", "shop", "--config", "trunkline.toml", "--yes").code == 0
    args = agents(path)["Hello"]["args"]
    assert isinstance(args, list)
    assert args[-4:] == ["acp", "shop", "--config", f"{Path.cwd()}/trunkline.toml"]


def test_an_agent_without_a_title_has_its_name_of_the_configuration_file(
    home: Path, init: Run, program: Callable[[str], Path]
) -> None:
    path = zed(home)
    program("gemini")
    Path("shop.py").write_text("async def agent(prompt, ctx):\n    yield 'open'\n")
    Path("trunkline.toml").write_text('[agents]\nshop = "shop.py:agent"\ncoder = "acp:gemini --acp"\n')
    for name in ("shop", "coder"):
        assert init("zed", name, "--config", "trunkline.toml", "--yes").code == 0
    assert list(agents(path)) == ["shop", "coder"]


def test_a_program_that_speaks_acp_gets_its_whole_path_and_this_path(
    home: Path, init: Run, program: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = zed(home)
    found = program("gemini")
    assert init("zed", "acp:gemini --acp", "--yes").code == 0
    entry = agents(path)["gemini"]
    assert isinstance(entry["args"], list)
    assert entry["args"][-1] == f"acp:{found} --acp"
    assert entry["env"] == {"PATH": str(found.parent)}
    # acpx is started in a terminal, whose PATH it hands on.
    assert init("acpx", "acp:gemini --acp", "--yes").code == 0


def test_what_is_pasted_goes_to_stdout_alone(home: Path, init: Run) -> None:
    for editor, word in (
        ("neovim", "acp_providers"),
        ("emacs", "(defun hello-agent"),
        ("marimo", "--port 3017"),
    ):
        printed = (
            init(editor, "agent.py", "--env", "K=secret") if editor != "marimo" else init(editor, "agent.py")
        )
        assert printed.code == 0
        assert word in printed.out
        assert f"{Path.cwd()}/agent.py:hello" in printed.out
        assert "Next: " in printed.err
        assert "secret" not in printed.out + printed.err


def test_the_words_are_completed() -> None:
    command = main.get_command(main.make_context("trunkline", [], resilient_parsing=True), "init")
    assert command is not None
    context = command.make_context("init", ["z"], resilient_parsing=True)
    context.params["words"] = ()
    words = next(one for one in command.params if one.name == "words")
    assert [item.value for item in words.shell_complete(context, "ze")] == ["zed"]


@pytest.mark.slow
def test_a_person_is_asked_for_each_key_and_for_the_file(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = zed(home)
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-0123456789abcdef")
    monkeypatch.setenv("GROQ_API_KEY", "gsk-0123456789abcdef")
    with Pty("init", "zed", "agent.py") as terminal:
        terminal.expect("GROQ_API_KEY is set here")
        terminal.type("n")
        terminal.expect("OPENAI_API_KEY is set here")
        terminal.type("y")
        shown = terminal.expect("Write it into")
        terminal.type("y")
        assert terminal.wait() == 0
    assert "0123456789" not in shown
    assert agents(path)["Hello"]["env"] == {"OPENAI_API_KEY": "sk-0123456789abcdef"}
    with Pty("init", "zed", "--undo") as terminal:
        terminal.expect("Take 'Hello' out")
        terminal.type("n")
        terminal.expect("nothing was written")
        assert terminal.wait() == 1
    assert path.exists()
