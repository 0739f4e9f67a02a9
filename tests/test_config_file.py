"""trunkline.toml: where it is found, what may stand in it, and how its faults are told."""

import shlex
import subprocess
from pathlib import Path

import pytest

from tests.cli.child_programs import command
from trunkline.config_file import MAX_BYTES, check_keys, find_config, read_config
from trunkline.errors import ConfigurationError

WHOLE = """
journal = "sqlite:data/sessions.db"
policy = "rules/policy.toml"
env_file = ".env"

[agents]
shop = "shop.py:agent"
alone = "other/alone.py"
coder = "acp:npx -y coder --file a.py:x"
module = "pkg.shop:agent"

[serve]
port = 9000
allow_origin = ["http://localhost:5173"]
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A configuration file that says everything."""
    path = tmp_path / "trunkline.toml"
    path.write_text(WHOLE)
    return path


def test_paths_are_meant_from_the_folder_of_the_file(file: Path) -> None:
    config, folder = read_config(file), file.parent

    assert config.journal == f"sqlite:{folder}/data/sessions.db"
    assert (config.policy, config.env_file) == (f"{folder}/rules/policy.toml", f"{folder}/.env")
    assert config.agents == {
        "shop": f"{folder}/shop.py:agent",
        "alone": f"{folder}/other/alone.py",
        "coder": "acp:npx -y coder --file a.py:x",
        "module": "pkg.shop:agent",
    }
    assert config.serve == {"port": 9000, "allow_origin": ["http://localhost:5173"]}
    assert config.folder == str(folder)


def test_the_name_of_a_policy_is_no_file(file: Path) -> None:
    file.write_text('policy = "allow-reads"\njournal = "memory:"\n')
    config = read_config(file)
    assert (config.policy, config.journal) == ("allow-reads", "memory:")


def test_the_nearest_file_above_a_folder_is_found(file: Path) -> None:
    below = file.parent / "a" / "b"
    below.mkdir(parents=True)
    assert find_config(str(below)) == file
    (below.parent / "trunkline.toml").write_text("")
    assert find_config(str(below)) == below.parent / "trunkline.toml"


def test_another_text_is_another_file(file: Path) -> None:
    before = read_config(file).digest
    file.write_text(WHOLE + "\n")
    assert read_config(file).digest != before


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("jurnal = 'memory:'", "there is no 'jurnal'; did you mean journal"),
        ("zzz = 1", "there is no 'zzz'; known: agents, env_file, journal, policy, serve"),
        ("journal = 3", "journal must be a text in quotes"),
        ("policy = ''", "policy must be a text in quotes, and not an empty one"),
        ("serve = 3", r"serve must be a table: write \[serve\]"),
        ("agents = 'demo'", r"agents must be a table: write \[agents\]"),
        ("[agents]\n'a b' = 'demo'", "'a b' cannot be the name of an agent"),
        ("[agents]\na = 3", "the agent 'a' needs a TARGET"),
        ("journal = ", "is not TOML"),
        ("#" + "x" * MAX_BYTES, "is larger than"),
    ],
)
def test_a_fault_is_told_with_what_would_be_right(file: Path, text: str, said: str) -> None:
    file.write_text(text)
    with pytest.raises(ConfigurationError, match=said):
        read_config(file)


def test_a_file_that_is_no_text_or_not_there_is_told(file: Path) -> None:
    file.write_bytes(b"\xff")
    with pytest.raises(ConfigurationError, match="is not TOML"):
        read_config(file)
    with pytest.raises(ConfigurationError, match="cannot be read: No such file"):
        read_config(file.parent / "other.toml")


def test_options_of_serve_that_do_not_exist_are_refused(file: Path) -> None:
    config = read_config(file)
    check_keys(config, ["port", "allow_origin"])
    with pytest.raises(ConfigurationError, match=r"there is no 'allow_origin' in \[serve\]; known: port"):
        check_keys(config, ["port"])


def test_a_file_that_is_nested_without_end_is_no_toml(tmp_path: Path) -> None:
    path = tmp_path / "trunkline.toml"
    path.write_text("agents = " + "[" * 20_000)
    with pytest.raises(ConfigurationError, match="is not TOML"):
        read_config(path)


@pytest.mark.parametrize("words", [("config",), ("acp", "demo"), ("exec", "demo", "hi")])
def test_a_current_folder_that_was_removed_is_told(words: tuple[str, ...], tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    line = f"cd {gone} && rmdir {gone} && exec {shlex.join(command(*words))}"
    done = subprocess.run(
        ["sh", "-c", line], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stderr) == (2, "error: the current folder was removed: go to another one\n")
