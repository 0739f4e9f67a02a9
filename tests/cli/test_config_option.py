"""trunkline.toml on the command line: names, precedence, and the approval of a file that was only found."""

import os
from pathlib import Path

import pytest

from tests.cli.child_programs import Pty, Result, kept, run

AGENT = """
import os
async def says(prompt, ctx):
    yield f"{os.environ.get('SHOP_KEY')} {ctx.session.cwd}"
"""
CONFIG = """
journal = "sqlite:own.db"
env_file = "keys.env"

[agents]
shop = "shop.py:says"

[serve]
port = 0
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with an agent and a configuration that nobody has approved yet."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.delenv("TRUNKLINE_JOURNAL", raising=False)
    monkeypatch.delenv("TRUNKLINE_CONFIG", raising=False)
    folder = tmp_path / "project"
    (folder / "below").mkdir(parents=True)
    (folder / "shop.py").write_text(AGENT)
    (folder / "keys.env").write_text("SHOP_KEY=from-the-file\n")
    (folder / "trunkline.toml").write_text(CONFIG)
    return folder


def test_a_file_that_was_named_gives_agents_journal_and_variables(project: Path) -> None:
    below = project / "below"
    result = run("exec", "shop", "hi", "--config", "../trunkline.toml", cwd=below)

    assert (result.code, result.out) == (0, f"from-the-file {below}\n")
    assert [info.target for info in kept(project / "own.db")] == [f"{project}/shop.py:says"]
    assert "from-the-file" not in result.err


def test_a_slip_in_the_name_of_an_agent_is_told_the_name(project: Path) -> None:
    refused = run("exec", "shpo", "hi", "--config", "trunkline.toml", cwd=project)
    assert refused.code == 2
    assert "trunkline.toml names no agent 'shpo'; did you mean shop?" in refused.err


def test_a_file_that_was_only_found_is_not_used_before_a_person_approved_its_text(project: Path) -> None:
    below = project / "below"

    def talk(*more: str) -> Result:
        return run("exec", "shop", "hi", *more, cwd=below)

    refused = talk()
    assert refused.code == 2
    assert f"{project / 'trunkline.toml'} was found, and nobody has approved it" in refused.err
    assert "--config none" in refused.err
    assert not (project / "own.db").exists()
    # Without the file its names mean nothing.
    assert "unknown target 'shop'" in talk("--config", "none").err

    shown = run("config", cwd=below)
    assert "not approved: trunkline config approve" in shown.out
    assert f"  agent shop: {project}/shop.py:says" in shown.out
    assert run("config", "approve", cwd=below).code == 0
    assert talk().code == 0

    (project / "trunkline.toml").write_text('policy = "allow-all"\n' + CONFIG)
    assert "nobody has approved it as it is now" in talk().err


def test_a_policy_file_that_changes_is_approved_anew(project: Path) -> None:
    (project / "trunkline.toml").write_text('policy = "rules.toml"\n' + CONFIG)
    (project / "rules.toml").write_text('base = "ask"\n')
    assert run("config", "approve", cwd=project).code == 0
    assert "(approved)" in run("config", cwd=project).out
    (project / "rules.toml").write_text('base = "allow-all"\n')
    assert "nobody has approved it as it is now" in run("exec", "shop", "hi", cwd=project).err


def test_a_person_at_a_terminal_is_shown_what_a_found_file_sets(project: Path) -> None:
    with Pty("exec", "shop", "hi", cwd=project) as terminal:
        assert "agent shop: " in terminal.expect("Use it, now and later?")
        terminal.type("n")
        terminal.expect("the file was not used")
        assert terminal.wait() == 1
    with Pty("exec", "shop", "hi", cwd=project) as terminal:
        terminal.expect("Use it, now and later?")
        terminal.type("y")
        terminal.expect("from-the-file")
        assert terminal.wait() == 0
    assert run("exec", "shop", "hi", cwd=project).code == 0


def test_an_option_beats_the_environment_and_that_beats_the_file(project: Path) -> None:
    config = ("--config", "trunkline.toml")
    other = f"sqlite:{project / 'other.db'}"
    assert run("exec", "shop", "hi", *config, cwd=project, TRUNKLINE_JOURNAL=other).code == 0
    assert not (project / "own.db").exists()
    third = f"sqlite:{project / 'third.db'}"
    assert (
        run("exec", "shop", "hi", *config, "--journal", third, cwd=project, TRUNKLINE_JOURNAL=other).code == 0
    )
    assert len(kept(project / "other.db")) == len(kept(project / "third.db")) == 1

    given = run("exec", "shop", "hi", *config, cwd=project, SHOP_KEY="from-outside")
    assert given.out.startswith("from-outside ")
    (project / "more.env").write_text("SHOP_KEY=from-the-option\n")
    option = run("exec", "shop", "hi", *config, "--env-file", "more.env", cwd=project)
    assert option.out.startswith("from-the-option ")


def test_a_module_of_its_folder_is_found_by_what_a_command_starts_elsewhere(
    project: Path, tmp_path: Path
) -> None:
    (project / "shop_module.py").write_text(
        "import trunkline\n\n\n@trunkline.agent\ndef shop(prompt, ctx):\n    return 'open'\n"
    )
    (project / "trunkline.toml").write_text('[agents]\nother = "shop_module:shop"\n')
    (elsewhere := tmp_path / "elsewhere").mkdir()
    words = ("other", "--config", str(project / "trunkline.toml"))
    assert run("exec", *words, "hi", cwd=elsewhere).out == "open\n"
    found = run("doctor", *words, cwd=elsewhere)
    assert (found.code, "fail" in found.out) == (0, False)


def test_the_file_may_be_named_by_a_variable(project: Path) -> None:
    result = run("exec", "shop", "hi", cwd=project, TRUNKLINE_CONFIG=str(project / "trunkline.toml"))
    assert result.code == 0
    missing = run("exec", "shop", "hi", cwd=project, TRUNKLINE_CONFIG="nothing.toml")
    assert "there is no file 'nothing.toml'" in missing.err


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("prot = 1", "there is no 'prot' in [serve]; did you mean port?"),
        ("insecure_no_auth = true", "there is no 'insecure_no_auth' in [serve]"),
        ("port = 99999", "port in [serve]: 99999 is not in the range"),
        ("allow_origin = 'http://a'", "allow_origin in [serve]: it must be a list"),
        ("host = ['a']", "host in [serve]: it must be one value"),
    ],
)
def test_a_wrong_option_of_serve_is_told_by_every_command(project: Path, line: str, said: str) -> None:
    (project / "trunkline.toml").write_text(f"[serve]\n{line}\n")
    result = run("sessions", "list", "--config", "trunkline.toml", cwd=project)
    assert result.code == 2
    assert said in result.err


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("journal = 'own.db'", "journal: unknown journal 'own.db'"),
        ("policy = 'alow-reads'", "policy: there is no policy and no file 'alow-reads'"),
        ("env_file = 'none.env'", "env_file: File '{project}/none.env' does not exist."),
    ],
)
def test_a_value_that_cannot_be_used_is_told_with_the_file_that_has_it(
    project: Path, line: str, said: str
) -> None:
    (project / "trunkline.toml").write_text(f"{line}\n")
    result = run("exec", "demo", "hi", "--config", "trunkline.toml", cwd=project)
    assert result.code == 2
    assert result.err.startswith(f"error: {project}/trunkline.toml: {said.format(project=project)}")
    option = f"--{line.split(' ')[0].replace('_', '-')}"
    typed = run("exec", "demo", "hi", "--config", "trunkline.toml", option, "nothing.x", cwd=project)
    assert typed.code == 2
    assert "nothing.x" in typed.err
    assert "trunkline.toml" not in typed.err


def test_no_agent_can_change_the_file(project: Path) -> None:
    (project / "shop.py").write_text(
        "async def says(prompt, ctx):\n"
        "    await ctx.files.write('trunkline.toml', 'policy = \"allow-all\"')\n"
        "    yield 'written'\n"
    )
    result = run("exec", "shop", "hi", "--config", "trunkline.toml", "--approve", "all", cwd=project)
    assert result.code == 1
    assert (project / "trunkline.toml").read_text() == CONFIG


def test_a_folder_without_a_file_is_told_how_to_write_one(tmp_path: Path) -> None:
    result = run("config", cwd=tmp_path, XDG_STATE_HOME=os.devnull)
    assert result.code == 2
    assert "there is no trunkline.toml in this folder or above it" in result.err


def test_all_that_a_file_sets_is_shown_and_nothing_of_it_is_hidden(project: Path) -> None:
    (project / "trunkline.toml").write_text(
        f'[agents]\nlong = "acp:true {"x" * 300} && rm -r ."\n'
        'wide = "acp:true' + " " * 200 + 'evil"\nodd = "acp:a\\u200bb\\n  journal: sqlite:mine.db"\n'
    )
    shown = run("config", cwd=project).out
    assert "&& rm -r .\n" in shown
    assert "acp:true⟨200 blanks⟩evil\n" in shown
    assert "acp:a\\u200bb\\n  journal: sqlite:mine.db\n" in shown
    assert len(shown.splitlines()) == 4


def test_a_file_cannot_put_another_agent_behind_a_name_of_ours(project: Path) -> None:
    (project / "trunkline.toml").write_text('[agents]\ndemo = "shop.py:says"\n')
    for words in (("config", "approve"), ("exec", "demo", "hi", "--config", "trunkline.toml")):
        refused = run(*words, cwd=project)
        assert refused.code == 2
        assert "'demo' is an agent of trunkline itself: choose another name" in refused.err
    (project / "trunkline.toml").write_text('[agents]\ndemo = "demo"\n')
    assert run("exec", "demo", "hi", "--config", "trunkline.toml", cwd=project).code == 0
