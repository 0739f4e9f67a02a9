"""File names for completion: inside the folders, near ones first, and no link is followed."""

import os
from pathlib import Path

import pytest

from trunkline.workspace import file_completion
from trunkline.workspace.file_completion import find_file_names


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "root"
    for name in ("src/app/main.py", "src/util.py", "README.md", ".env", "node_modules/x/main.py", "a b.txt"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("x")
    return root


def test_names_that_have_what_was_typed_come_near_ones_first(folder: Path) -> None:
    assert find_file_names([str(folder)], "") == [
        "README.md", "a b.txt", "src/", "src/app/", "src/util.py", "src/app/main.py"
    ]  # fmt: skip
    assert find_file_names([str(folder)], "MAIN") == ["src/app/main.py"]
    assert find_file_names([str(folder)], "src/u") == ["src/util.py"]
    assert find_file_names([str(folder)], "none") == []


def test_hidden_names_come_when_a_dot_is_typed(folder: Path) -> None:
    assert find_file_names([str(folder)], ".env") == [".env"]


def test_names_of_other_folders_are_absolute(folder: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "main.py").write_text("x")
    assert find_file_names([str(folder), str(other)], "main") == ["src/app/main.py", f"{other}/main.py"]


def test_links_are_neither_named_nor_followed(folder: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.mkdir()
    (secret / "key.txt").write_text("x")
    (folder / "link").symlink_to(secret)
    (folder / "file-link").symlink_to(secret / "key.txt")
    assert not [name for name in find_file_names([str(folder)], "") if "link" in name or "key" in name]
    assert find_file_names([str(folder)], "../secret/key") == []


def test_a_folder_that_becomes_a_link_meanwhile_is_not_followed(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = tmp_path / "secret"
    (secret / "app").mkdir(parents=True)
    (secret / "key.txt").write_text("x")
    entries = file_completion._entries  # pyright: ignore[reportPrivateUsage]

    def swapping(roots: object, place: object) -> object:
        found = entries(roots, place)  # pyright: ignore[reportArgumentType]
        if ("src", True) in found:
            os.rename(folder / "src", folder / "moved")
            (folder / "src").symlink_to(secret)
        return found

    monkeypatch.setattr(file_completion, "_entries", swapping)
    assert not [name for name in find_file_names([str(folder)], "") if "key" in name]


def test_a_large_folder_is_searched_up_to_a_limit(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_completion, "_MOST_ENTRIES", 10)
    many = folder / "many"
    many.mkdir()
    for number in range(40):
        (many / f"{number}.txt").write_text("x")
    assert len(find_file_names([str(folder)], "")) <= 10
    assert len(find_file_names([str(folder)], "", limit=2)) == 2


def test_what_cannot_be_read_has_no_names(folder: Path, tmp_path: Path) -> None:
    assert find_file_names([], "") == []
    assert find_file_names([str(tmp_path / "missing")], "") == []
    deep = folder / "/".join(["d"] * 20)
    deep.mkdir(parents=True)
    assert max(name.count("/") for name in find_file_names([str(folder)], "d/")) <= 9
