"""A command that names a file of ours is found by its path, its folder or its bare name."""

from pathlib import Path

import pytest

from trunkline.own_files import protect_own_file
from trunkline.workspace.own_files_in_commands import own_file_in


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "proj").mkdir()
    (tmp_path / "etc").mkdir()
    (tmp_path / "proj" / "link").symlink_to(tmp_path / "etc" / "far.toml")
    protect_own_file(tmp_path / "proj" / "near.toml", "the policy")
    protect_own_file(tmp_path / "etc" / "far.toml", "the far policy")
    return tmp_path / "proj"


@pytest.mark.parametrize(
    "command",
    [
        "rm near.toml",
        "echo x > near.toml",
        "cat a && sed -i s/a/b/ ./near.toml",
        ("cp", "evil.toml", "near.toml"),
        ("bash", "-c", "echo 'base = 1' >> near.toml"),
        "cd sub && rm ../near.toml",
        "rm near.toml-wal",
        "rm NEAR.TOML",
        "rm *.toml",
        "tee {folder}/near.toml",
        "dd of=near.toml if=x",
        "git checkout HEAD -- near.toml",
        "rm {folder}/../etc/far.toml",
        "rm link",
        "cd ../etc && rm far.toml",
        "rm -r {folder}/../etc",
        "vi trunkline.toml",
        "cat .trunkline/settings",
        'echo "open > near.toml',
    ],
)
def test_a_file_of_ours_is_found(folder: Path, command: str | tuple[str, ...]) -> None:
    place = str(folder)
    given = (
        command.replace("{folder}", place)
        if isinstance(command, str)
        else tuple(word.replace("{folder}", place) for word in command)
    )
    assert own_file_in(given, place) is not None


@pytest.mark.parametrize(
    "command",
    ["ls", "ls .", "rm far.toml", "cat other.toml", "make near", "rm *", ("echo", ""), "a\0b", ("near",)],
)
def test_another_command_names_none(folder: Path, command: str | tuple[str, ...]) -> None:
    assert own_file_in(command, str(folder)) is None


def test_without_a_folder_only_whole_paths_count(folder: Path) -> None:
    assert own_file_in(f"rm {folder}/near.toml", None) is not None
    assert own_file_in("rm near.toml", None) is None
